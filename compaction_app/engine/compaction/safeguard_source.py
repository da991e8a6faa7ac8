"""What a safeguard compaction summarises: which messages are real, and how much of them fits.

Spec compaction 3, steps 1 and 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from compaction_app.engine.compaction.chunks import SAFETY_MARGIN, chunk_tokens
from compaction_app.engine.compaction.file_operations import FileOperations
from compaction_app.engine.compaction.history_share import (
    DEFAULT_SHARE,
    PrunedHistory,
    prune_history,
)
from compaction_app.engine.compaction.message_text import Message
from compaction_app.engine.compaction.real_conversation import (
    ConversationRules,
    has_real_conversation,
)
from compaction_app.engine.compaction.requests import Steps
from compaction_app.engine.compaction.safeguard_settings import SafeguardSettings
from compaction_app.engine.compaction.summarise import StagesRun, SummaryTask, summarise_in_stages
from compaction_app.engine.decision import Decision, Step
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import is_runtime_context, messages_tokens
from sessions_app.transcripts.session_context import context_of_path

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

SourceOrigin = Literal["preparation", "branch", "nothing"]


@dataclass(frozen=True, slots=True)
class SafeguardTask:
    """A prepared compaction as the safeguard receives it.

    ``branch`` are the entries of the session branch; ``model`` is none when no model could be
    resolved; ``event_instructions`` is the text given with the command.
    """

    messages: Sequence[Message]
    turn_prefix: Sequence[Message] = ()
    is_split_turn: bool = False
    tokens_before: Any = None
    previous_summary: str | None = None
    file_operations: FileOperations = field(default_factory=FileOperations)
    reserve_tokens: float = 0
    branch: Sequence[Mapping[str, Any]] = ()
    model: Mapping[str, Any] | None = None
    event_instructions: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The messages to summarise, without runtime context, and where they came from."""

    messages: Sequence[Message]
    turn_prefix: Sequence[Message]
    origin: SourceOrigin


@dataclass(frozen=True, slots=True)
class FittedHistory:
    """The history that is summarised directly, after older parts were summarised first if need be.

    ``run`` is the summary of the dropped part, which replaces ``previous_summary``.
    """

    messages: Sequence[Message]
    previous_summary: str | None
    decision: Decision
    pruned: PrunedHistory | None = None
    run: StagesRun | None = None


def summary_source(task: SafeguardTask, rules: ConversationRules) -> Source:
    """The prepared messages when any is real, else those of the whole branch when one is there."""
    messages = _without_runtime_context(task.messages)
    prefix = _without_runtime_context(task.turn_prefix)
    if has_real_conversation(messages, rules) or has_real_conversation(prefix, rules):
        return Source(messages, prefix, "preparation")
    kinds = ("message", "custom_message", "branch_summary")
    entries = [entry for entry in task.branch if entry.get("type") in kinds]
    branch = _without_runtime_context(context_of_path(entries).messages)
    if has_real_conversation(branch, rules):
        return Source(branch, (), "branch")
    return Source(messages, prefix, "nothing")


def fit_history(
    source: Source,
    task: SafeguardTask,
    summary: SummaryTask,
    settings: SafeguardSettings,
    rules: RuleSet,
    now_ms: float,
) -> Steps[FittedHistory]:
    """Leave room for what is *not* being summarised: drop older messages and summarise them first.

    ``summary`` carries window, reserve and instructions of the summarising model.
    """
    share = DEFAULT_SHARE if settings.max_history_share is None else settings.max_history_share
    decision = share_decision(source, task, summary.context_window, share, rules)
    if not decision.fired:
        return FittedHistory(source.messages, task.previous_summary, decision)
    window = summary.context_window
    pruned = prune_history(source.messages, window, share, rules.compaction, now_ms)
    if not pruned.dropped_chunks:
        return FittedHistory(source.messages, task.previous_summary, decision, pruned)
    older = replace(
        summary,
        messages=with_previous_summary(pruned.dropped, task.previous_summary),
        max_chunk_tokens=chunk_tokens(pruned.dropped, window, rules.compaction.chunks),
    )
    run = yield from summarise_in_stages(older, rules.compaction)
    return FittedHistory(pruned.messages, run.summary, decision, pruned, run)


def with_previous_summary(
    messages: Sequence[Message], previous_summary: str | None
) -> Sequence[Message]:
    """The messages behind the summary so far, which is to be distilled anew together with them."""
    previous = js.trim(previous_summary or "")
    if not previous:
        return messages
    text = (
        "<previous-compaction-summary>\nPrevious compaction summary to re-distill with the current "
        "conversation. Prune stale, duplicate, or superseded details instead of preserving it "
        f"verbatim.\n\n{previous}\n</previous-compaction-summary>"
    )
    return [{"role": "user", "content": text, "timestamp": 0}, *messages]


def share_decision(
    source: Source, task: SafeguardTask, window: float, share: float, rules: RuleSet
) -> Decision:
    """Whether what is not summarised takes more than the history's share of the window."""
    tokens = rules.compaction.chunks.tokens
    summarizable = messages_tokens(source.messages, tokens) + messages_tokens(
        source.turn_prefix, tokens
    )
    before = task.tokens_before
    limit = js.floor(window * share * SAFETY_MARGIN)
    known = js.is_finite(before)
    new_content = max(0, js.floor(before - summarizable)) if js.is_finite(before) else None
    fired = new_content is not None and new_content > limit
    outcome, reason = ("prune", "new_content_over_share") if fired else ("keep", "within_share")
    return Decision(
        rule="history_share",
        fired=fired,
        outcome=outcome,
        reason=reason if known else "tokens_before_unknown",
        rule_set=rules.id,
        inputs={
            "tokensBefore": before if js.is_number(before) else None,
            "contextWindow": window,
            "maxHistoryShare": share,
        },
        steps=(
            Step("summarizable", "Σ tokens of the messages to summarise", summarizable),
            Step("newContent", "max(0, floor(tokensBefore - summarizable))", new_content),
            Step("limit", "floor(contextWindow * maxHistoryShare * 1.2)", limit),
        ),
    )


def _without_runtime_context(messages: Sequence[Message]) -> Sequence[Message]:
    return [message for message in messages if not is_runtime_context(message)]
