"""The list of sessions: what a search finds, and one row from the session alone, without entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Prefetch, Q, QuerySet

from sessions_app.drawing.reduce import path
from sessions_app.drawing.scale import SIZE, Scale
from sessions_app.models import Session

MOST_WORDS = 200
"""Characters of a search."""


def search_words(text: str) -> str:
    """What somebody looks for, as a database can be asked for it."""
    return text.replace("\x00", "").strip()[:MOST_WORDS]


def searched(sessions: QuerySet[Session], words: str) -> QuerySet[Session]:
    """Those whose title, model or key holds the words; all without any."""
    if not words:
        return sessions
    named = Q(title__icontains=words) | Q(model__icontains=words) | Q(key__icontains=words)
    return sessions.filter(named)


def with_copies(sessions: QuerySet[Session], words: str) -> QuerySet[Session]:
    """Copies stand with the recording they were made of; what somebody looks for stands alone."""
    if words:
        return sessions.select_related("copied_from")
    named = Session.objects.only("uuid", "title", "copied_from").order_by("-pk")
    return sessions.filter(copied_from=None).prefetch_related(Prefetch("copies", named))


def copies_of(session: Session) -> list[tuple[Session, str]]:
    """The copies of a recording, newest first, each with what its title says beyond the recording's."""
    own = session.title
    return [
        (copy, copy.title.removeprefix(own).lstrip(" ·") or copy.title)
        for copy in session.copies.all()
    ]


@dataclass(frozen=True, slots=True)
class SparkLine:
    name: str
    at: str


@dataclass(frozen=True, slots=True)
class Spark:
    title: str
    path: str
    lines: tuple[SparkLine, ...]


@dataclass(frozen=True, slots=True)
class Fill:
    """How full the window was at the last call; ``width`` in per cent of the gauge."""

    last: int
    window: int
    width: str
    level: str
    title: str


@dataclass(frozen=True, slots=True)
class Row:
    session: Session
    spark: Spark | None
    fill: Fill | None
    verdict: list[dict[str, str]]
    copies: Sequence[tuple[Session, str]] = ()


def row_of(session: Session, copies: Sequence[tuple[Session, str]] = ()) -> Row:
    """What the list shows of a session. Lines and verdict come from the summary kept with it."""
    summary: dict[str, Any] = session.summary
    verdict = list(summary.get("verdict", []))
    if problems := session.facts.get("problems"):
        text = f"{problems} problem{'' if problems == 1 else 's'} in the file"
        verdict.append({"severity": "warn", "text": text, "help": "Damage found while importing."})
    if why := session.facts.get("putAside"):
        text = "The runtime put this transcript aside and does not go on with it."
        verdict.append({"severity": "info", "text": why, "help": text})
    if session.facts.get("calls") and not session.facts.get("billedCalls"):
        text = "estimates only"
        verdict.append(
            {"severity": "info", "text": text, "help": "The provider reported no usage."}
        )
    return Row(session, _spark(session, summary), _fill(session, summary), verdict, copies)


def _spark(session: Session, summary: dict[str, Any]) -> Spark | None:
    values = np.array(session.spark, np.int64)
    if not len(values):
        return None
    lines = {name: value for name, value in summary.get("lines", {}).items() if value}
    top = max([int(values.max()), *(v for v in lines.values() if v <= values.max() * 3), 1])
    y = Scale(0, top * 1.05, flip=True)
    xs = np.arange(len(values)) / max(len(values) - 1, 1) * SIZE
    ys = SIZE - values / y.high * SIZE
    title = f"{session.facts.get('calls', 0):,} calls, peak {session.peak_tokens:,} tokens"
    drawn = tuple(SparkLine(n, f"{y.at(v):.0f}") for n, v in lines.items() if v <= y.high)
    return Spark(title, path(xs, ys), drawn)


def _fill(session: Session, summary: dict[str, Any]) -> Fill | None:
    last, window = session.facts.get("last"), summary.get("window")
    if last is None or not window:
        return None
    share = last / window
    level = "danger" if share > 0.9 else "warn" if share > 0.7 else "calm"
    title = f"{last:,} of {window:,} tokens at the last call ({share:.0%})"
    return Fill(last, window, f"{min(share, 1) * 100:.1f}", level, title)
