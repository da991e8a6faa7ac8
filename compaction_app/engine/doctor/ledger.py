"""What the doctor keeps of many sessions: a row each, a tally of findings, and the few worst ones.

Only the few that are kept hold their recording, so that a folder of any size needs the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.diagnose import SEVERITIES, Finding, Subject
from compaction_app.engine.policy import Policy
from compaction_app.engine.replay import Replay

MOST_KEPT: Final = 5
MOST_EXAMPLES: Final = 5
_WEIGHTS: Final = {"grave": 100, "warn": 10, "info": 0}

Replayed = Callable[[Policy, Circumstances], Replay]


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session in a line; ``codes`` are those of its findings, the gravest first."""

    identity: str
    title: str
    model: str
    calls: int
    compactions: int
    peak: int
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """A finding as it was met first, in how many sessions it was met, and some of them."""

    finding: Finding
    sessions: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A session at hand: its subject, and how it is replayed under other settings."""

    identity: str
    title: str
    subject: Subject
    replayed: Replayed

    @property
    def entry(self) -> Mapping[str, Any]:
        return self.subject.entry or {}


@dataclass(slots=True)
class Ledger:
    """Filled session by session with ``add``."""

    rows: list[SessionRow] = field(default_factory=list)
    _tallies: dict[str, Tally] = field(default_factory=dict)
    _kept: list[tuple[int, int, Case]] = field(default_factory=list)

    def add(self, case: Case, found: Iterable[Finding]) -> None:
        """``found`` are all findings on the session, damage of its file included."""
        grown = case.subject.grown
        listed = list(found)
        codes = tuple(dict.fromkeys(finding.code for finding in listed))
        self.rows.append(
            SessionRow(
                case.identity,
                case.title,
                case.subject.around.model,
                grown.calls if grown else 0,
                len(grown.compactions.place) if grown else 0,
                grown.peak if grown else 0,
                codes,
            )
        )
        for code, finding in {f.code: f for f in reversed(listed)}.items():
            self._count(code, finding, case.identity)
        if grown is not None and grown.calls:
            self._keep(case, sum(_WEIGHTS[SEVERITIES.get(code, "warn")] for code in codes))

    @property
    def tallies(self) -> list[Tally]:
        """The gravest finding first."""
        order = list(SEVERITIES)
        known = {code: number for number, code in enumerate(order)}
        ranks = {"grave": 0, "warn": 1, "info": 2}
        return sorted(
            self._tallies.values(),
            key=lambda t: (ranks[t.finding.severity], known.get(t.finding.code, len(known))),
        )

    @property
    def cases(self) -> list[Case]:
        """The worst sessions, the worst first."""
        return [case for _, _, case in self._kept]

    def _count(self, code: str, finding: Finding, identity: str) -> None:
        old = self._tallies.get(code)
        if old is None:
            self._tallies[code] = Tally(finding, 1, (identity,))
        else:
            examples = (*old.examples, identity)[:MOST_EXAMPLES]
            self._tallies[code] = Tally(old.finding, old.sessions + 1, examples)

    def _keep(self, case: Case, weight: int) -> None:
        calls = case.subject.grown.calls if case.subject.grown else 0
        self._kept.append((weight, calls, case))
        self._kept.sort(key=lambda kept: (-kept[0], -kept[1], kept[2].identity))
        del self._kept[MOST_KEPT:]
