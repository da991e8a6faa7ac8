"""One compaction from the branch's entries to the entry that is written (spec compaction 2, 3.8).

The one way in for jobs, replays and turns: it prepares, summarises in the mode that applies and
returns the boundary together with the whole record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from compaction_app.engine.budget import CompactionSettings
from compaction_app.engine.compaction.boundary import hardens_boundary, tokens_after
from compaction_app.engine.compaction.compact import DefaultCompaction, default_compaction
from compaction_app.engine.compaction.file_operations import FileLists
from compaction_app.engine.compaction.prepare import (
    Preparation,
    PreparedCompaction,
    prepare_compaction,
)
from compaction_app.engine.compaction.real_conversation import has_real_conversation
from compaction_app.engine.compaction.requests import Steps
from compaction_app.engine.compaction.safeguard import SafeguardRun, safeguard_compaction
from compaction_app.engine.compaction.safeguard_settings import SafeguardSettings
from compaction_app.engine.compaction.safeguard_source import SafeguardTask
from compaction_app.engine.compaction_mode import Mode
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.manual_compaction import NOTHING_TO_COMPACT, refusal
from sessions_app.tokens.message_tokens import message_tokens
from sessions_app.transcripts.session_context import context_of_path

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

Entry = Mapping[str, Any]
NO_CONVERSATION = "no real conversation messages"
CANCELLED = "Compaction cancelled"

RunOutcome = Literal["compacted", "skipped", "cancelled", "failed"]


@dataclass(frozen=True, slots=True)
class CompactionOrder:
    """What is to be compacted how; ids and times are those of the entry to be written.

    ``inside_run``: the agent's own compaction, which does not ask whether there is a conversation.
    ``configured_keep`` is the setting ``keepRecentTokens`` as the file has it, ``observed_tokens`` a
    measured size of the context, ``run_id`` the run that the entry names. ``estimate`` weighs a context;
    without one it is the sum of its messages.
    """

    mode: Mode
    settings: CompactionSettings
    entry_id: str
    timestamp: str
    now_ms: float
    manual: bool = False
    inside_run: bool = False
    instructions: str | None = None
    model: Mapping[str, Any] | None = None
    safeguard: SafeguardSettings = field(default_factory=SafeguardSettings)
    configured_keep: object = None
    observed_tokens: float | None = None
    run_id: str = ""
    estimate: Callable[[Sequence[Mapping[str, Any]]], int] | None = None


@dataclass(frozen=True, slots=True)
class CompactionRun:
    """The outcome with its record. ``message`` is what the runtime says where nothing was compacted.

    ``entry`` is to be appended to the branch. ``tokens_after`` is none where the estimate contradicts
    what was there before.
    """

    outcome: RunOutcome
    decision: Decision
    message: str | None = None
    entry: Entry | None = None
    tokens_before: float | None = None
    tokens_after: float | None = None
    prepared: PreparedCompaction | None = None
    default: DefaultCompaction | None = None
    safeguard: SafeguardRun | None = None
    boundary: Decision | None = None


@dataclass(frozen=True, slots=True)
class ReadyCompaction:
    """A compaction that only lacks its summary."""

    prepared: PreparedCompaction
    preparation: Preparation


def begin_compaction(
    path: Sequence[Entry], order: CompactionOrder, rules: RuleSet
) -> ReadyCompaction | CompactionRun:
    """A compaction that can go on, or the run of one that cannot."""
    messages = context_of_path(path).messages
    if not order.inside_run and not has_real_conversation(messages, rules.compaction.conversation):
        return _nothing("skipped", "no_real_conversation", NO_CONVERSATION, rules)
    prepared = prepare_compaction(path, order.settings.keep_recent_tokens, rules)
    preparation, reason = prepared.preparation, prepared.cut.decision.reason
    if preparation is not None:
        is_empty = not (preparation.messages or preparation.turn_prefix)
        if not (is_empty and rules.compaction.refuses_empty):
            return ReadyCompaction(prepared, preparation)
        outcome: RunOutcome = "failed" if order.manual else "skipped"
        return _nothing(outcome, reason, NOTHING_TO_COMPACT, rules, prepared)
    if prepared.error is not None:
        return _nothing("failed", reason, prepared.error, rules, prepared)
    message = refusal(path[-1] if path else None)
    return _nothing("failed" if order.manual else "skipped", reason, message, rules, prepared)


def run_compaction(
    path: Sequence[Entry], order: CompactionOrder, rules: RuleSet
) -> Steps[CompactionRun]:
    """Compact the branch's entries."""
    begun = begin_compaction(path, order, rules)
    if isinstance(begun, CompactionRun):
        return begun
    return (yield from finish_compaction(path, order, begun, rules))


def finish_compaction(
    path: Sequence[Entry], order: CompactionOrder, begun: ReadyCompaction, rules: RuleSet
) -> Steps[CompactionRun]:
    """Summarise a compaction whose cut is known, in the mode that applies."""
    prepared, preparation = begun.prepared, begun.preparation
    if order.mode == "safeguard":
        task = _safeguard_task(path, preparation, order)
        run = yield from safeguard_compaction(task, order.safeguard, rules, order.now_ms)
        return _with_safeguard(path, order, prepared, preparation, run, rules)
    made = yield from default_compaction(
        preparation,
        order.settings.reserve_tokens,
        order.instructions,
        rules.compaction,
    )
    if made.summary is None:
        reason = made.error or "failed"
        return _nothing("failed", reason, made.message, rules, prepared, default=made)
    entry = _entry(path, order, preparation, made.summary, made.files, from_hook=False)
    return _compacted(path, order, prepared, entry, rules, default=made)


def compaction_with_summary(
    path: Sequence[Entry],
    order: CompactionOrder,
    rules: RuleSet,
    summary: str,
    details: Mapping[str, Any] | None = None,
    *,
    from_hook: bool = False,
) -> CompactionRun:
    """The compaction as it is stored with a summary that is already known, as in a replay.

    ``summary`` is the whole stored text, file lists and all; ``details`` what stands beside it.
    """
    begun = begin_compaction(path, order, rules)
    if isinstance(begun, CompactionRun):
        return begun
    entry = _entry(path, order, begun.preparation, summary, None, from_hook=from_hook)
    if details is not None:
        del entry["fromHook"]
        entry |= {"details": details, "fromHook": from_hook}
    return _compacted(path, order, begun.prepared, entry, rules)


def _safeguard_task(
    path: Sequence[Entry], preparation: Preparation, order: CompactionOrder
) -> SafeguardTask:
    return SafeguardTask(
        messages=preparation.messages,
        turn_prefix=preparation.turn_prefix,
        is_split_turn=preparation.is_split_turn,
        tokens_before=preparation.tokens_before,
        previous_summary=preparation.previous_summary,
        file_operations=preparation.file_operations,
        reserve_tokens=order.settings.reserve_tokens,
        branch=path,
        model=order.model,
        event_instructions=order.instructions,
    )


def _with_safeguard(
    path: Sequence[Entry],
    order: CompactionOrder,
    prepared: PreparedCompaction,
    preparation: Preparation,
    run: SafeguardRun,
    rules: RuleSet,
) -> CompactionRun:
    if run.summary is None:
        message = run.failure.message if run.failure else run.cancel_reason or CANCELLED
        outcome: RunOutcome = "failed" if run.failure else "cancelled"
        return _nothing(outcome, run.reason, message, rules, prepared, safeguard=run)
    entry = _entry(path, order, preparation, run.summary, run.files, from_hook=True)
    return _compacted(path, order, prepared, entry, rules, safeguard=run)


def _entry(
    path: Sequence[Entry],
    order: CompactionOrder,
    preparation: Preparation,
    summary: str,
    files: FileLists | None,
    *,
    from_hook: bool,
) -> dict[str, Any]:
    entry = {
        "type": "compaction",
        "id": order.entry_id,
        "parentId": path[-1].get("id"),
        "timestamp": order.timestamp,
        "summary": summary,
        "firstKeptEntryId": preparation.first_kept_entry_id,
        "tokensBefore": preparation.tokens_before,
    }
    details = {} if files is None else {"details": files.details}
    return {**entry, **details, "fromHook": from_hook}


def _compacted(
    path: Sequence[Entry],
    order: CompactionOrder,
    prepared: PreparedCompaction,
    entry: dict[str, Any],
    rules: RuleSet,
    default: DefaultCompaction | None = None,
    safeguard: SafeguardRun | None = None,
) -> CompactionRun:
    boundary = hardens_boundary(
        (*path, entry),
        order.entry_id,
        manual=order.manual,
        configured_keep=order.configured_keep,
        rule_set=rules.id,
    )
    if boundary.fired:
        entry = {**entry, "firstKeptEntryId": order.entry_id}
    before, estimated = (_estimate(held, order, rules) for held in (path, (*path, entry)))
    if rules.turn.long_ids:
        of_run = {"runId": order.run_id} if order.run_id else {}
        named = {**of_run, "itemId": order.entry_id}
        entry = {**entry, "tokensAfter": estimated, "__openclaw": named}
    after = tokens_after(estimated, order.observed_tokens, before)
    steps = (
        Step("tokensBefore", "usage + tokens after it", entry["tokensBefore"]),
        Step("estimateBefore", "Σ tokens of messages", before),
        Step("estimateAfter", "Σ tokens of messages with the summary", estimated),
        Step("tokensAfter", "estimateAfter unless it grew", after),
    )
    return CompactionRun(
        outcome="compacted",
        decision=_made(order, safeguard.reason if safeguard else "summarised", steps, rules),
        entry=entry,
        tokens_before=entry["tokensBefore"],
        tokens_after=after,
        prepared=prepared,
        default=default,
        safeguard=safeguard,
        boundary=boundary,
    )


def _made(order: CompactionOrder, reason: str, steps: tuple[Step, ...], rules: RuleSet) -> Decision:
    return Decision(
        rule="compaction",
        fired=True,
        outcome="compacted",
        reason=reason,
        rule_set=rules.id,
        inputs={"mode": order.mode, "manual": order.manual},
        steps=steps,
    )


def _estimate(path: Sequence[Entry], order: CompactionOrder, rules: RuleSet) -> int:
    messages = context_of_path(path).messages
    if order.estimate is not None:
        return order.estimate(messages)
    return sum(message_tokens(message, rules.message_tokens) for message in messages)


def _nothing(
    outcome: RunOutcome,
    reason: str,
    message: str | None,
    rules: RuleSet,
    prepared: PreparedCompaction | None = None,
    default: DefaultCompaction | None = None,
    safeguard: SafeguardRun | None = None,
) -> CompactionRun:
    decision = Decision("compaction", False, outcome, reason, rules.id)
    return CompactionRun(
        outcome, decision, message, prepared=prepared, default=default, safeguard=safeguard
    )
