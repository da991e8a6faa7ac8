"""A compaction made again beside its record: cut, portions, quality check, summary, what was lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.decision_replay import made_under
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.compaction.drive import Means
from compaction_app.engine.compaction.record import record_of as engine_record
from compaction_app.engine.policy import Policy
from compaction_app.engine.retention.anchors import TITLES
from compaction_app.engine.retention.fates import Counts, Fate
from compaction_app.engine.retention.retention import Retention, retention
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.forms import read_query
from compaction_app.live_replay import CompactionAgain, at_that_time, compaction_again, setup_of
from compaction_app.models import CompactionRecord, Decision, LiveStep
from compaction_app.runs import Situation, situation_of
from compaction_app.side_by_side import figure, side_by_side
from sessions_app.models import Entry, Job
from sessions_app.payload import record_of
from sessions_app.rows import storable_json
from sessions_app.transcripts.measures import context_message

LISTED: Final = 100
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Remade:
    """A compaction that was made again, as plain values: the engine's record, the summary.

    ``is_exact``: every answer was a kept one, and each was asked for; else ``new`` answers were made.
    """

    whole: Json
    summary: str
    is_exact: bool
    new: int

    def as_json(self) -> dict[str, Any]:
        """For the result of a job."""
        return {
            "whole": storable_json(dict(self.whole)),
            "summary": storable_json(self.summary),
            "isExact": self.is_exact,
            "new": self.new,
        }

    @classmethod
    def from_json(cls, value: Json) -> Remade:
        return cls(value["whole"], value["summary"], value["isExact"], value["new"])


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a summary; ``kind`` names the anchor that stands there, "" for none."""

    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """A summary with what of the removed part survived: counts, the summary in pieces, what was lost."""

    counts: Counts
    pieces: tuple[Piece, ...]
    lost: tuple[Fate, ...]


def decided_under(record: CompactionRecord) -> Situation | None:
    """The settings that a compaction was made under; none where what it was made on was not kept."""
    step = record.step
    if step is None:
        return None
    row = Decision.objects.filter(session=record.session_id, pk__range=(step.first, step.last))
    found = row.order_by("-pk").first()
    return made_under(found, situation_of(record.session)) if found is not None else None


def remade(
    record: CompactionRecord,
    step: LiveStep,
    policy: Policy,
    around: Circumstances,
    means: Means | None = None,
) -> Remade:
    """Make it again. ``means``: anew, by these; else with the kept answers as far as they fit."""
    kept = () if means is not None else record.answers or ()
    made = compaction_again(step, setup_of(step, policy, around), kept, means)
    if not isinstance(made, CompactionAgain):
        return Remade({"outcome": "not due"}, "", True, 0)
    request, entry = made.asked.request, made.run.entry or {}
    if request is None:
        said = {"outcome": made.run.outcome, "reason": made.run.decision.reason}
        return Remade(said, "", True, 0)
    whole = engine_record(request.path, request.order, made.run).as_json()
    summary = str(entry.get("summary") or "")
    return Remade(whole, summary, made.answers.is_exact, made.answers.new)


def stored_summary(record: CompactionRecord) -> str:
    """The summary as it stands in the transcript, "" where nothing was written."""
    rows = Entry.objects.filter(window=record.window_id, entry_id=record.entry_id or None)
    payload = rows.order_by("-seq").values_list("payload", flat=True).first()
    return "" if payload is None else str(record_of(payload).get("summary") or "")


def compared(record: CompactionRecord, step: LiveStep, again: Remade) -> dict[str, Any]:
    """Both beside each other, for the page."""
    stored = stored_summary(record)
    situation = decided_under(record)
    path: Sequence[Json] = ()
    if situation is not None:
        setup = setup_of(step, situation.policy, situation.around)
        path = at_that_time(step, setup)[0].state.branch
    left = dict(told(record.record, stored))
    right = dict(told(storable_json(dict(again.whole)), again.summary))
    return {
        "lines": side_by_side(left, right),
        "is_same_summary": stored == again.summary,
        "columns": [
            ("as recorded", kept_of(path, record.record, stored)),
            ("made again", kept_of(path, again.whole, again.summary)),
        ],
    }


def told(whole: Json, summary: str) -> Iterator[tuple[str, str]]:
    """A compaction as named lines: how it ended, where it was cut, its portions and attempts, its checks."""
    for name in ("ruleSet", "mode", "outcome", "reason", "message", "tokensBefore", "tokensAfter"):
        yield name, figure(whole.get(name))
    for name in ("summarised", "turnPrefix", "kept"):
        ids = whole.get(name) or ()
        yield name, f"{len(ids):,}: {ids[0]} to {ids[-1]}" if ids else "none"
    yield "firstKeptEntryId", figure(whole.get("firstKeptEntryId"))
    yield "modelCalls", figure(whole.get("modelCalls"))
    for number, one in enumerate(whole.get("summaries") or (), 1):
        name = f"summary {number}: {one['purpose']}, {one['part']}"
        yield name, f"{one['level']}, {one['stages']}, {one['chars']:,} characters"
        for table in one["passes"]:
            for place, chunk in enumerate(table["chunks"], 1):
                tries = ", ".join(one_try["outcome"] for one_try in chunk["attempts"])
                said = f"messages {chunk['start']} to {chunk['end']}, {chunk['tokens']:,} tokens: {tries}"
                yield f"{name}, chunk {place}", said
    for row in whole.get("quality") or ():
        missing = ", ".join(row["reasons"]) or "nothing missing"
        yield f"quality check {row['attempt']}", f"{row['outcome']}: {missing}"
    yield "summary", f"{len(summary):,} characters"


def kept_of(path: Sequence[Json], whole: Json, summary: str) -> Kept | None:
    """What of the removed part a summary kept; none where nothing was removed."""
    removed = {*(whole.get("summarised") or ()), *(whole.get("turnPrefix") or ())}
    staying = set(whole.get("kept") or ())
    messages = [
        (place, str(entry.get("id")), context_message(str(entry.get("type")), entry))
        for place, entry in enumerate(path)
    ]
    gone = [(place, message) for place, name, message in messages if message and name in removed]
    tail = [(place, message) for place, name, message in messages if message and name in staying]
    if not gone or not summary:
        return None
    found: Retention = retention(gone, summary, tail)
    return Kept(found.counts, tuple(marked(summary, found.fates)), found.lost[:LISTED])


def marked(summary: str, fates: Sequence[Fate]) -> Iterator[Piece]:
    """The summary in pieces, each anchor that stands in it as it stood one of its own."""
    places: list[tuple[int, int, str]] = []
    for fate in fates:
        text = fate.anchor.text.removesuffix("…")
        at = summary.find(text) if len(text) > 1 and fate.place in ("summary", "tail") else -1
        while at >= 0:
            places.append((at, at + len(text), TITLES[fate.anchor.kind]))
            at = summary.find(text, at + len(text))
    end = 0
    for start, stop, title in sorted(places, key=lambda place: (place[0], -place[1])):
        if start < end:
            continue
        if start > end:
            yield Piece(summary[end:start])
        yield Piece(summary[start:stop], title)
        end = stop
    if end < len(summary):
        yield Piece(summary[end:])


def compaction_context(
    record: CompactionRecord, values: Mapping[str, str], job: Job | None
) -> dict[str, Any]:
    """What the page of a replay shows: the settings asked for, and both columns.

    ``job`` is one that makes the summary anew; while it is open there is no second column yet.
    """
    under, step = decided_under(record), record.step
    if under is None or step is None:
        return {"is_replayable": False}
    asked = read_query(values, under)
    again = None
    if job is None:
        again = remade(record, step, asked.policy, asked.around)
    elif job.result.get("whole"):
        again = Remade.from_json(job.result)
    return {
        "is_replayable": True,
        "query": asked,
        "rule_sets": RULE_SETS,
        "is_same": asked.policy == under.policy and asked.around == under.around,
        "again": again,
        **(compared(record, step, again) if again is not None else {}),
    }
