"""Two summaries of one compaction: what each of them lets go."""

from __future__ import annotations

from dataclasses import dataclass

from compaction_app.engine.retention.anchors import KINDS, AnchorKind
from compaction_app.engine.retention.fates import Counts, Fate
from compaction_app.engine.retention.retention import Retention


@dataclass(frozen=True, slots=True)
class SideBySide:
    """What one loses and the other has, either way, and what both lose; the gravest first.

    What a cut leaves where it is, is not removed, and so not lost.
    """

    only_recorded: tuple[Fate, ...]
    only_again: tuple[Fate, ...]
    both: tuple[Fate, ...]
    kinds: tuple[tuple[AnchorKind, Counts, Counts], ...]


def side_by_side(recorded: Retention, again: Retention) -> SideBySide:
    """Compare what the recorded summary lost with what another one loses."""
    first = {(f.anchor.kind, f.anchor.key) for f in recorded.lost}
    second = {(f.anchor.kind, f.anchor.key) for f in again.lost}
    left, right = recorded.by_kind, again.by_kind
    return SideBySide(
        only_recorded=tuple(
            f for f in recorded.lost if (f.anchor.kind, f.anchor.key) not in second
        ),
        only_again=tuple(f for f in again.lost if (f.anchor.kind, f.anchor.key) not in first),
        both=tuple(f for f in recorded.lost if (f.anchor.kind, f.anchor.key) in second),
        kinds=tuple(
            (kind, left.get(kind, Counts()), right.get(kind, Counts()))
            for kind in KINDS
            if kind in left or kind in right
        ),
    )
