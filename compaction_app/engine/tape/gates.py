"""The stages once a turn, before its run, on a tape (the counterpart of ``turn.gates``)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.flush import flush_line
from compaction_app.engine.flush_plan import FlushPlan, flush_plan
from compaction_app.engine.flush_run import FlushSituation, decide_flush, prompt_estimate
from compaction_app.engine.flush_run import transcript_needs as flush_needs
from compaction_app.engine.flush_turn import flush_turn
from compaction_app.engine.last_usage import LastUsage, TranscriptEstimate
from compaction_app.engine.preflight import PreflightSituation, decide_preflight
from compaction_app.engine.preflight import transcript_needs as preflight_needs
from compaction_app.engine.preflight_failures import failure_of
from compaction_app.engine.tape.compacting import compact
from compaction_app.engine.tape.file import last_usage, recent_tokens
from compaction_app.engine.tape.gate_constants import GateConstants
from compaction_app.engine.tape.run import ReplayRun, carry_out
from compaction_app.engine.tape.work import TurnRecord
from compaction_app.engine.turn.compacting import CompactionAsk
from compaction_app.engine.turn.gates import GATE_TEXT_BREAK, outcome_reason
from compaction_app.engine.turn.record import Number
from compaction_app.engine.turn.runtime_event import judged_text
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.index_updates import CompactionUpdate, increment_compaction_count
from sessions_app.transcripts.session_index import compaction_count, record_flush


def preflight(record: TurnRecord, constants: GateConstants) -> str | None:
    """Compact before the turn where the judged total has reached its line; the error of a failure."""
    rules, session, setup = record.rules.preflight, record.session, record.setup
    if rules is None:
        return None
    situation = PreflightSituation(
        entry=session.index,
        window=setup.lines.flush_window.tokens or 0,
        reserve_floor=setup.lines.floor,
        soft_threshold=setup.lines.soft,
        prompt_estimate=_prompt_tokens(record),
        server_threshold=constants.server_threshold,
        max_active_bytes=constants.max_active_bytes,
        is_cli_provider=constants.is_cli_provider,
    )
    needs = preflight_needs(rules, situation)
    estimate = _estimate(record) if needs.estimate else None
    byte_size = record.tape.byte_size if needs.size else None
    judged = decide_preflight(rules, situation, estimate, byte_size, record.rules.id)
    record.note("preflight", judged.decision)
    if not judged.decision.fired:
        return None
    line = rules.line(situation)
    made = compact(record, CompactionAsk("budget", judged.current_tokens))
    reason = outcome_reason(made.outcome, made.message)
    record.fired(
        "preflight_compaction", judged.current_tokens, line.tokens, reason, judged.decision
    )
    if made.outcome == "compacted":
        count_compactions(record, 1, made.tokens_after)
        return None
    ok = made.decision.reason == "no_real_conversation"
    return failure_of(rules, ok=ok, compacted=False, reason=made.message)


def _estimate(record: TurnRecord) -> TranscriptEstimate:
    rules, tape = record.rules.preflight, record.tape
    assert rules is not None
    last: LastUsage = last_usage(tape)
    tokens = recent_tokens(tape, recent_only=rules.reads_end_only)
    weight: list[dict[str, Any]] = [{"role": "user", "content": "x" * (4 * tokens)}]
    return rules.estimate(last, weight, record.rules.message_tokens)


def flush(record: TurnRecord, constants: GateConstants) -> str | None:
    """The memory flush where the projected prompt has reached the line; the text that ends the turn."""
    setup, session = record.setup, record.session
    window = setup.lines.flush_window.tokens
    plan = flush_plan(setup.config, session.clock_ms, record.rules.flush_plan, window)
    situation = FlushSituation(
        plan=plan,
        entry=session.index,
        window=setup.lines.flush_window.tokens or 0,
        prompt_estimate=_prompt_tokens(record),
        is_cli_provider=constants.is_cli_provider,
        can_write_workspace=constants.can_write_workspace,
    )
    needs = flush_needs(situation)
    last = last_usage(record.tape) if needs.usage else None
    size = record.tape.byte_size if needs.size else None
    judged = decide_flush(situation, last, size, record.rules.id)
    record.note("flush", judged.decision)
    if judged.entry_changed and judged.entry is not None:
        session.index = judged.entry
    if plan is None or not judged.decision.fired:
        return None
    projected = next((s.value for s in judged.decision.steps if s.name == "projected"), None)
    total = projected if js.is_number(projected) else judged.decision.inputs.get("totalTokens")
    line = flush_line(situation.window, plan.settings.reserve_floor, plan.settings.soft_threshold)
    before = total if js.is_number(total) else None
    record.fired("flush", before, line.tokens, judged.decision.reason, judged.decision)
    return _carry_out(record, plan)


def _carry_out(record: TurnRecord, plan: FlushPlan) -> str | None:
    """The flush turn itself, and what the store remembers of it."""
    session, rules = record.session, record.rules
    texts = flush_turn(plan, rules.flush_plan)
    added = [text for text in (texts.extra_system, texts.system_end) if text]
    system = record.setup.system
    chars = system.chars - system.left_out_by_flush if system.chars else 0
    chars += sum(js.utf16_len(GATE_TEXT_BREAK + text) for text in added)
    count = compaction_count(session.index)
    content = [{"type": "text", "text": texts.user_text}]
    message = {"role": "user", "content": content, "timestamp": session.clock_ms}
    sent = session.maker.message_row(message)
    run = ReplayRun(record, "flush", sent, texts.user_text, chars)
    end = carry_out(run)
    if end == "answered" or rules.turn.blocked_flush_ends_turn:
        session.index = record_flush(session.index, session.clock_ms, count)
    if run.inner_compactions:
        count_compactions(record, run.inner_compactions, None)
    blocked = end == "blocked" and rules.turn.blocked_flush_ends_turn
    return run.reply if blocked else None


def _prompt_tokens(record: TurnRecord) -> int | None:
    text = judged_text(record.queued, record.turn.prompt.judged)
    return prompt_estimate(text, record.rules.message_tokens)


def count_compactions(record: TurnRecord, amount: int, tokens_after: Number | None) -> None:
    """Write ``amount`` compactions into the index, and what the last of them left."""
    update = CompactionUpdate(amount=amount, tokens_after=tokens_after)
    session = record.session
    session.index = increment_compaction_count(
        session.index, update, session.clock_ms, record.rules.session_index
    )
