"""One policy tried on many sessions, with the totals of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.comparison import FIELDS, ROWS, Field, label_of
from compaction_app.engine.presets import PRESETS
from compaction_app.engine.replay import Totals
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.forms import query_of, read_query
from compaction_app.runs import replay_for, situation_of
from sessions_app.models import Session

MOST_SESSIONS: Final = 50
MOST_ENTRIES: Final = 200_000
"""Of all sessions together; more would keep their reader waiting."""

SUMMED: Final = ROWS[:-1]
"""All but the peak, which has no sum."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A figure under the sessions' own settings and under the policy that is tried."""

    own: int
    tried: int

    @property
    def differs(self) -> bool:
        return self.own != self.tried


@dataclass(frozen=True, slots=True)
class Compared:
    """One session both ways; ``address`` is the query of its page with the policy."""

    session: Session
    figures: tuple[Pair, ...]
    address: str


def sessions_context(sessions: Sequence[Session], values: Mapping[str, str]) -> dict[str, Any]:
    """A policy, as changes to each session's own, on the sessions in their order."""
    given = {key: value for key, value in values.items() if value != ""}
    compared: list[Compared] = []
    problems: dict[str, str] = {}
    entries = 0
    for session in sessions[:MOST_SESSIONS]:
        if entries + session.entry_count > MOST_ENTRIES:
            continue
        entries += session.entry_count
        situation = situation_of(session)
        query = read_query(given, situation)
        problems.update(query.problems)
        own = replay_for(situation, situation.policy, situation.around, None, query.summary).totals
        tried = replay_for(situation, query.policy, query.around, None, query.summary).totals
        compared.append(Compared(session, _figures(own, tried), query_of(query, situation)))
    return {
        "compared": compared,
        "columns": SUMMED,
        "sums": [_sum(column) for column in zip(*(c.figures for c in compared), strict=True)],
        "left_out": len(sessions) - len(compared),
        "problems": list(problems.values()),
        "presets": PRESETS,
        "rule_sets": RULE_SETS,
        "given": given,
        "fields": [Field(label_of(key), key, given.get(key, "")) for key, _ in FIELDS],
    }


def _figures(own: Totals, tried: Totals) -> tuple[Pair, ...]:
    return tuple(
        Pair(int(getattr(own, name) or 0), int(getattr(tried, name) or 0))
        for _, name, _, _ in SUMMED
    )


def _sum(pairs: Sequence[Pair]) -> Pair:
    return Pair(sum(pair.own for pair in pairs), sum(pair.tried for pair in pairs))
