"""A compaction that is made again where it was cut when it was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compaction_app.engine.compaction.cut import CompactionCut
from compaction_app.engine.compaction.file_operations import collect_file_operations
from compaction_app.engine.compaction.prepare import Preparation, PreparedCompaction
from compaction_app.engine.compaction.run import ReadyCompaction
from compaction_app.engine.decision import Decision
from sessions_app.transcripts.session_context import context_of_path

Entry = Mapping[str, Any]


def at_recorded_cut(path: Sequence[Entry], start: int, kept: int, rules: str) -> ReadyCompaction:
    """The compaction of the entries from ``start`` to ``kept`` of a branch that ends before its boundary.

    What lies before ``start`` an earlier compaction on the branch has summarised.
    """
    before = [n for n in range(len(path)) if path[n].get("type") == "compaction"]
    previous = path[before[-1]] if before else None
    taken = [path[n] for n in range(start, kept) if path[n].get("type") != "compaction"]
    messages = context_of_path(taken).messages
    cut = CompactionCut(
        decision=Decision("compaction_cut", True, "cut", "as_recorded", rules),
        previous_index=before[-1] if before else None,
        history=range(start, kept),
        turn_prefix=range(kept, kept),
        kept=range(kept, len(path)),
        cut=None,
    )
    first_kept = path[kept] if kept < len(path) else path[-1]
    preparation = Preparation(
        cut=cut,
        first_kept_entry_id=str(first_kept.get("id")),
        messages=messages,
        turn_prefix=(),
        is_split_turn=False,
        tokens_before=0,
        previous_summary=None if previous is None else previous.get("summary"),
        file_operations=collect_file_operations(messages, previous),
    )
    return ReadyCompaction(PreparedCompaction(cut, preparation), preparation)
