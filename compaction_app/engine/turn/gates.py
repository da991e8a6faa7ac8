"""The stages once a turn, before its run: preflight compaction, then memory flush (spec budgets 5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from compaction_app.engine.flush import Line, flush_line
from compaction_app.engine.flush_plan import FlushPlan, flush_plan
from compaction_app.engine.flush_run import (
    FlushSituation,
    decide_flush,
    prompt_estimate,
)
from compaction_app.engine.flush_run import transcript_needs as flush_needs
from compaction_app.engine.flush_turn import flush_turn
from compaction_app.engine.last_usage import (
    RECENT_BYTES,
    LastUsage,
    read_last_usage,
    recent_messages,
)
from compaction_app.engine.preflight import (
    PreflightDecision,
    PreflightRules,
    PreflightSituation,
    decide_preflight,
    max_active_bytes,
)
from compaction_app.engine.preflight import transcript_needs as preflight_needs
from compaction_app.engine.preflight_failures import failure_of
from compaction_app.engine.run_conditions import can_write_workspace, is_cli_provider
from compaction_app.engine.server_threshold import server_threshold
from compaction_app.engine.turn.closing import count_compactions
from compaction_app.engine.turn.compacting import CompactionAsk, compact
from compaction_app.engine.turn.requests import Moment, Steps
from compaction_app.engine.turn.run import ModelRun, carry_out
from compaction_app.engine.turn.runtime_event import judged_text
from compaction_app.engine.turn.state import file_reader, line_bytes
from compaction_app.engine.turn.work import TurnWork
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.session_index import compaction_count, record_flush
from sessions_app.transcripts.usage import has_nonzero_usage, normalize_usage

GATE_TEXT_BREAK = "\n\n"


def preflight(work: TurnWork) -> Steps[str | None]:
    """Compact before the turn where the judged total has reached its line; the error of a failure."""
    rules = work.rules.preflight
    if rules is None:
        return None
    judged, line = _judge_preflight(work, rules)
    if judged.decision.fired and work.rules.turn.flush_before_preflight and not work.has_replied:
        yield from flush(work)
        judged, line = _judge_preflight(work, rules)
    if not judged.decision.fired:
        return None
    run = yield from compact(work, CompactionAsk("budget", judged.current_tokens))
    work.fired(
        "preflight_compaction", judged.current_tokens, line.tokens, outcome_reason(run.outcome, run.message),
        judged.decision,
    )  # fmt: skip
    if run.outcome == "compacted":
        yield from count_compactions(work, 1, run.tokens_after)
        return None
    ok = run.decision.reason == "no_real_conversation"
    return failure_of(rules, ok=ok, compacted=False, reason=run.message)


def _judge_preflight(work: TurnWork, rules: PreflightRules) -> tuple[PreflightDecision, Line]:
    setup, around = work.setup, work.setup.around
    situation = PreflightSituation(
        entry=work.state.index,
        window=setup.lines.flush_window.tokens or 0,
        reserve_floor=setup.lines.floor,
        soft_threshold=setup.lines.soft,
        prompt_estimate=_prompt_tokens(work),
        server_threshold=server_threshold(
            setup.config,
            around.provider,
            around.model,
            work.rules.server_threshold,
            setup.lines.flush_window.tokens,
        ),
        max_active_bytes=max_active_bytes(setup.config, rules),
        is_cli_provider=is_cli_provider(setup.config, around.provider),
    )
    needs = preflight_needs(rules, situation)
    estimate = None
    if needs.estimate:
        last = _last_usage(work)
        messages = _stored_messages(work, recent_only=rules.reads_end_only)
        estimate = rules.estimate(last, messages, work.rules.message_tokens)
    byte_size = work.state.byte_size if needs.size else None
    judged = decide_preflight(rules, situation, estimate, byte_size, work.rules.id)
    work.note("preflight", judged.decision)
    return judged, rules.line(situation)


def flush(work: TurnWork) -> Steps[str | None]:
    """Let the model save its memories where the projected prompt has reached the line.

    The answer is the text that ends the turn: that of a flush whose own prompt could not be sent.
    """
    setup = work.setup
    now = yield Moment("entry")
    plan = flush_plan(setup.config, now, work.rules.flush_plan, setup.lines.flush_window.tokens)
    situation = FlushSituation(
        plan=plan,
        entry=work.state.index,
        window=setup.lines.flush_window.tokens or 0,
        prompt_estimate=_prompt_tokens(work),
        is_cli_provider=is_cli_provider(setup.config, setup.around.provider),
        can_write_workspace=can_write_workspace(setup.config),
        index=work.rules.session_index,
    )
    needs = flush_needs(situation)
    size = work.state.byte_size
    last = None
    if needs.usage:
        last = _last_usage(work)
    judged = decide_flush(situation, last, size if needs.size else None, work.rules.id)
    work.note("flush", judged.decision)
    if judged.entry_changed and judged.entry is not None:
        work.state = work.state.with_index(judged.entry)
    if plan is None or not judged.decision.fired:
        return None
    projected = next((s.value for s in judged.decision.steps if s.name == "projected"), None)
    total = projected if js.is_number(projected) else judged.decision.inputs.get("totalTokens")
    line = flush_line(situation.window, plan.settings.reserve_floor, plan.settings.soft_threshold)
    before = total if js.is_number(total) else None
    work.fired("flush", before, line.tokens, judged.decision.reason, judged.decision)
    return (yield from run_flush(work, plan))


def run_flush(work: TurnWork, plan: FlushPlan) -> Steps[str | None]:
    """The flush turn itself, and what the store remembers of it."""
    texts = flush_turn(plan, work.rules.flush_plan)
    added = [text for text in (texts.extra_system, texts.system_end) if text]
    system = work.setup.system
    chars = system.chars - system.left_out_by_flush if system.chars else 0
    chars += sum(js.utf16_len(GATE_TEXT_BREAK + text) for text in added)
    count = compaction_count(work.state.index)
    now = yield Moment("entry")
    content = [{"type": "text", "text": texts.user_text}]
    message = {"role": "user", "content": content, "timestamp": now}
    run = ModelRun(work, "flush", message, texts.user_text, chars)
    before, stored = work.state, work.rules.turn.flush_stored
    if not stored and not work.has_replied:
        yield from work.append_prompt()
    end = yield from carry_out(run)
    if not stored:
        work.state = before
    now = yield Moment("entry")
    if end == "answered" or work.rules.turn.blocked_flush_ends_turn:
        work.state = work.state.with_index(
            record_flush(work.state.index, now, count, work.rules.session_index)
        )
    if run.inner_compactions:
        yield from count_compactions(work, run.inner_compactions, None)
    blocked = end == "blocked" and work.rules.turn.blocked_flush_ends_turn
    return run.reply if blocked else None


def _prompt_tokens(work: TurnWork) -> int | None:
    """The estimate of the turn's prompt; once it is answered there is none to come."""
    if work.has_replied:
        return None
    queued = work.queued if work.rules.turn.events.are_judged else ()
    return prompt_estimate(judged_text(queued, work.prompt.judged), work.rules.message_tokens)


def _last_usage(work: TurnWork) -> LastUsage:
    """The last usage of the transcript; without figures where a compaction has ended it."""
    state = work.state
    last = read_last_usage(
        state.byte_size, file_reader(state), work.rules.usage, state.header_bytes
    )
    rules = work.rules.preflight
    if rules is None or not rules.usage_ends_at_compaction:
        return last
    for entry in reversed(work.state.entries):
        if entry["type"] == "compaction":
            return replace(last, usage=None, trailing_bytes=None)
        message = entry.get("message")
        usage = message.get("usage") if isinstance(message, Mapping) else None
        if has_nonzero_usage(normalize_usage(usage, work.rules.usage)):
            return last
    return last


def _stored_messages(work: TurnWork, *, recent_only: bool) -> list[Mapping[str, Any]]:
    """The messages of the file; or only the last ones, as far back as the runtime reads."""
    if not recent_only:
        return [e["message"] for e in work.state.entries if isinstance(e.get("message"), Mapping)]
    read: list[Mapping[str, Any]] = []
    left = RECENT_BYTES
    for entry in reversed(work.state.entries):
        left -= line_bytes(entry)
        if left < 0:
            break
        read.append(entry)
    return recent_messages(read[::-1])


def outcome_reason(outcome: str, message: str | None) -> str:
    """Why a compaction did nothing, in the words of its event."""
    return outcome if message is None else f"{outcome}: {message}"
