"""Keep a what-if, list what is kept of a session, compare all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

from django.contrib.auth.models import User
from django.db import transaction

from compaction_app.comparison_query import MOST_POLICIES, joined_query
from compaction_app.doctor_json import totals_json
from compaction_app.forms import Query, query_of
from compaction_app.kept_models import KeptWhatIf
from compaction_app.runs import Situation, replay_for
from sessions_app.models import Session

MOST_KEPT: Final = 20
"""Of one session."""


class NotKept(ValueError):
    """Why a what-if is not kept, in a sentence."""


@dataclass(frozen=True, slots=True)
class KeptRow:
    """A kept what-if as its session's page lists it. ``is_older``: the session has grown since."""

    kept: KeptWhatIf
    is_older: bool

    @property
    def figures(self) -> tuple[int | None, ...]:
        return tuple(self.kept.totals.get(name) for name, _ in FIGURES)


FIGURES: Final = (
    ("flushes", "flushes"),
    ("compactions", "compactions"),
    ("blocked", "blocked"),
    ("tokensSent", "tokens sent"),
    ("tokensResent", "tokens re-sent"),
    ("peak", "peak"),
)
"""What is shown of its totals."""


def keep(situation: Situation, query: Query, name: str, user: User) -> KeptWhatIf:
    """Keep a what-if under a name that the session does not have yet.

    Raises:
        NotKept: for no name, one that is taken, a query that was refused, or too many.
    """
    name = " ".join(name.split())
    if not name or len(name) > 100 or "\0" in name:
        raise NotKept("Give the what-if a name of at most 100 characters.")
    if query.problems:
        raise NotKept(" ".join(query.problems.values()))
    done = replay_for(situation, query.policy, query.around, query.leaf, query.summary)
    with transaction.atomic():
        session = Session.objects.select_for_update().get(pk=situation.session.pk)
        kept = KeptWhatIf.objects.filter(session=session)
        if kept.filter(name=name).exists():
            raise NotKept(
                f"This session has a what-if named “{name}” already: choose another name."
            )
        if kept.count() >= MOST_KEPT:
            raise NotKept(f"A session keeps {MOST_KEPT} what-ifs: delete one that is not needed.")
        return KeptWhatIf.objects.create(
            session=session,
            name=name,
            address=query_of(query, situation, from_=None, to=None),
            rule_set=query.around.rules.id,
            totals=totals_json(done.totals),
            entries=situation.window.entry_count,
            author=user,
        )


def kept_context(situation: Situation) -> dict[str, Any]:
    """The list for the session's page; the comparison takes its own settings and the newest ones."""
    found = KeptWhatIf.objects.filter(session=situation.session).select_related("author")
    rows = list(found.order_by("-created_at", "-pk"))
    newest = [dict(parse_qsl(row.address)) for row in rows[: MOST_POLICIES - 1]]
    return {
        "kept": [KeptRow(row, row.entries != situation.window.entry_count) for row in rows],
        "kept_figures": [title for _, title in FIGURES],
        "kept_compare": joined_query([{}, *newest]) if rows else "",
    }
