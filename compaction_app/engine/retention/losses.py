"""What a verdict needs to know of the compactions of a session: a few texts and counts of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from compaction_app.engine.retention.cycles import Cycle
from compaction_app.engine.retention.fates import Fate

NAMED: Final = 3
"""So many texts are kept of each kind; the counts are whole."""

TEXT_CHARS: Final = 200
LEAST_UNCOVERED: Final = 3
COVERED_SHARE: Final = 0.5

Code = Literal["CONSTRAINT_LOST", "IDENTIFIER_LOST", "FLUSH_DID_NOT_COVER"]
CODES: Final[tuple[Code, ...]] = ("CONSTRAINT_LOST", "IDENTIFIER_LOST", "FLUSH_DID_NOT_COVER")
"""What can be said of one compaction: the verdict, the page, the API and alerts say it by these codes."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One compaction, ``entry`` being its own.

    ``constraints`` are those of the user that stand nowhere any more, not even in other words;
    ``used_again`` identifiers that were lost and named again later, each with the entry that does.
    ``weighty`` counts the constraints, decisions, tasks and changes of files that left the context,
    ``saved`` those of them in a memory file; ``flushed`` says whether a flush of this cycle wrote one.
    """

    entry: int
    constraint_count: int
    constraints: tuple[str, ...]
    used_count: int
    used_again: tuple[tuple[str, int], ...]
    weighty: int
    saved: int
    flushed: bool

    @property
    def codes(self) -> tuple[Code, ...]:
        """What is true of this compaction, the gravest first."""
        uncovered = (
            self.flushed
            and self.weighty >= LEAST_UNCOVERED
            and self.saved < COVERED_SHARE * self.weighty
        )
        holds = (self.constraint_count > 0, self.used_count > 0, uncovered)
        return tuple(code for code, does in zip(CODES, holds, strict=True) if does)


def losses_of(cycles: Iterable[Cycle]) -> tuple[Loss, ...]:
    """One for every compaction that removed anything."""
    return tuple(loss_of(cycle) for cycle in cycles if cycle.removed is not None)


def loss_of(cycle: Cycle) -> Loss:
    """What a verdict says of one compaction."""
    lost = cycle.retention.lost
    constraints = [
        f.anchor.text
        for f in lost
        if f.anchor.kind == "constraint" and not (f.saved or f.resembled)
    ]
    weighty = [fate for fate in lost if _is_weighty(fate)]
    used = [
        (f.anchor.text, cycle.used_again[f.anchor.kind, f.anchor.key])
        for f in lost
        if (f.anchor.kind, f.anchor.key) in cycle.used_again
    ]
    return Loss(
        entry=cycle.entry,
        constraint_count=len(constraints),
        constraints=tuple(text[:TEXT_CHARS] for text in constraints[:NAMED]),
        used_count=len(used),
        used_again=tuple((text[:TEXT_CHARS], entry) for text, entry in used[:NAMED]),
        weighty=len(weighty),
        saved=sum(fate.saved for fate in weighty),
        flushed=bool(cycle.memory_files),
    )


def _is_weighty(fate: Fate) -> bool:
    anchor = fate.anchor
    is_change = anchor.kind == "file_action" and anchor.detail != "read"
    return is_change or (
        anchor.kind in ("constraint", "decision", "promise") and not fate.resembled
    )


def losses_to_json(losses: Sequence[Loss]) -> list[dict[str, Any]]:
    """As plain values that every database takes."""
    return [asdict(loss) for loss in losses]


def losses_from_json(value: Any) -> tuple[Loss, ...] | None:
    """What ``losses_to_json`` wrote; none for anything else."""
    if not isinstance(value, list):
        return None
    try:
        return tuple(Loss(**_tuples(item)) for item in value)
    except (TypeError, ValueError, KeyError):
        return None


def _tuples(item: Mapping[str, Any]) -> dict[str, Any]:
    used = tuple((str(text), int(entry)) for text, entry in item["used_again"])
    return {**item, "constraints": tuple(item["constraints"]), "used_again": used}
