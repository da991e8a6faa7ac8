"""What a compaction starts from: the messages to summarise, the summary so far, the files (spec compaction 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compaction_app.engine.compaction.cut import CompactionCut, cut_for_compaction
from compaction_app.engine.compaction.file_operations import (
    FileOperations,
    collect_file_operations,
)
from sessions_app.tokens.message_tokens import (
    MessageTokenRules,
    context_tokens,
    message_tokens,
)
from sessions_app.transcripts.measures import context_message
from sessions_app.transcripts.session_context import context_of_path

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

INVALID_SESSION = "First kept entry has no UUID - session may need migration"

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Preparation:
    """A compaction that can begin.

    ``messages`` come before the cut (or before the turn it splits), ``turn_prefix`` from the
    beginning of the split turn to the cut. ``tokens_before`` is what the context measures now.
    """

    cut: CompactionCut
    first_kept_entry_id: str
    messages: Sequence[Mapping[str, Any]]
    turn_prefix: Sequence[Mapping[str, Any]]
    is_split_turn: bool
    tokens_before: float
    previous_summary: str | None
    file_operations: FileOperations


@dataclass(frozen=True, slots=True)
class PreparedCompaction:
    """The preparation, or none: the cut's decision says why. ``error`` for a session that is broken."""

    cut: CompactionCut
    preparation: Preparation | None
    error: str | None = None


def prepare_compaction(
    path: Sequence[Entry], keep_recent_tokens: float, rules: RuleSet
) -> PreparedCompaction:
    """Prepare a compaction of the branch's entries."""
    cut = cut_for_compaction(
        path,
        keep_recent_tokens,
        lambda i: entry_tokens(path[i], rules.message_tokens),
        rules.id,
        rules.compaction.cut,
    )
    if cut.cut is None:
        broken = cut.decision.reason == "invalid_session"
        return PreparedCompaction(cut, None, INVALID_SESSION if broken else None)
    messages = _messages(path, cut.history)
    turn_prefix = _messages(path, cut.turn_prefix)
    previous = None if cut.previous_index is None else path[cut.previous_index]
    context = context_of_path(path).messages
    preparation = Preparation(
        cut=cut,
        first_kept_entry_id=path[cut.kept.start]["id"],
        messages=messages,
        turn_prefix=turn_prefix,
        is_split_turn=cut.cut.is_split_turn,
        tokens_before=context_tokens(context, rules.message_tokens).tokens,
        previous_summary=None if previous is None else previous.get("summary"),
        file_operations=collect_file_operations((*messages, *turn_prefix), previous),
    )
    return PreparedCompaction(cut, preparation)


def entry_tokens(entry: Entry, rules: MessageTokenRules) -> int:
    """Estimated tokens of the message that an entry puts before the model."""
    return message_tokens(context_message(str(entry["type"]), entry), rules)


def _messages(path: Sequence[Entry], taken: range) -> tuple[Mapping[str, Any], ...]:
    """The messages of entries, which a compaction entry among them is not one of."""
    entries = [path[i] for i in taken if path[i].get("type") != "compaction"]
    return context_of_path(entries).messages
