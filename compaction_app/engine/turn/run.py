"""One run: attempts until the model has answered or every recovery is spent (spec compaction 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from compaction_app.engine.compaction.run import NO_CONVERSATION
from compaction_app.engine.overflow import OverflowVerdict, classify_overflow
from compaction_app.engine.pruning.recovery import plan_reduction
from compaction_app.engine.recovery_limits import (
    OVERFLOW_TEXT,
    OverflowSituation,
    RecoveryCounters,
    max_iterations,
    overflow_token_count,
    recover_from_overflow,
)
from compaction_app.engine.reset_hint import suggested_reserve_floor
from compaction_app.engine.turn.attempt import Attempt
from compaction_app.engine.turn.attempt_stages import AttemptEnd
from compaction_app.engine.turn.compacting import CompactionAsk, compact, truncate_session
from compaction_app.engine.turn.record import Number
from compaction_app.engine.turn.requests import RunKind, Steps
from compaction_app.engine.turn.work import TurnWork
from sessions_app.transcripts.session_context import messages_of_path
from sessions_app.transcripts.usage import Usage

RunEnd = Literal["answered", "blocked", "unanswered"]


class ModelRun:
    """A run and what it has spent; ``reply`` is what the user sees where it was blocked."""

    def __init__(
        self,
        work: TurnWork,
        kind: RunKind,
        message: Mapping[str, Any],
        sent: str,
        system_chars: int,
    ) -> None:
        self.work, self.kind, self.message, self.sent = work, kind, message, sent
        self.system_chars = system_chars
        self.counters = RecoveryCounters()
        self.usages: list[Usage] = []
        self.inner_compactions = self.outer_compactions = 0
        self.tokens_after: Number | None = None
        self.incomplete = False
        self.prompt_stored = False
        self.results_cut = False
        self.reply: str | None = None

    @property
    def compactions(self) -> int:
        return self.inner_compactions + self.outer_compactions

    def store_prompt(self) -> Steps[None]:
        """Append the prompt to the session, once a run."""
        if self.prompt_stored:
            return
        self.prompt_stored = True
        if self.kind == "turn":
            yield from self.work.append_prompt()
        else:
            yield from self.work.append_message(self.message)


def carry_out(run: ModelRun, first: Attempt | None = None) -> Steps[RunEnd]:
    """Attempt after attempt; the session and the counters of ``run`` tell what happened.

    ``first`` is an attempt that has begun already.
    """
    work = run.work
    before, work.run = work.run, run.kind
    limit = int(max_iterations(work.rules.run_recovery, work.setup.config, 0))
    end: RunEnd = "blocked"
    for number in range(1, limit + 1):
        work.attempt = number
        attempt = first if first is not None and number == 1 else Attempt(run)
        over = yield from attempt.carry_out()
        if over.kind in ("answered", "unanswered"):
            end = "answered" if over.kind == "answered" else "unanswered"
            break
        if over.kind == "handled":
            continue
        goes_on = yield from _Recovery(run, over).carry_out()
        if not goes_on:
            break
    work.run, work.attempt = before, 0
    return end


@dataclass(slots=True)
class _Recovery:
    """What follows an overflow: a compaction, cut tool results, or the end (spec budgets 6.4)."""

    run: ModelRun
    over: AttemptEnd

    def carry_out(self) -> Steps[bool]:
        """Whether the prompt is tried again."""
        run, work = self.run, self.run.work
        verdict = classify_overflow(work.rules.overflow, work.rules.id, self.over.error)
        work.note("overflow_classification", verdict.decision)
        situation = OverflowSituation(
            compaction_failed=verdict.compaction_failure,
            attempt_compacted=self.over.compacted,
            results_over_limits=self._over_limits(),
        )
        decision = recover_from_overflow(work.rules.id, run.counters, situation)
        work.note("overflow_recovery", decision)
        if decision.outcome == "compact":
            done, reason = yield from self._compact(verdict)
            if done:
                return True
            no_talk = reason == NO_CONVERSATION and self.over.checked
            situation = replace(situation, compaction_tried=True, no_real_conversation=no_talk)
            decision = recover_from_overflow(work.rules.id, run.counters, situation)
            work.note("overflow_recovery", decision)
        if decision.outcome == "retry":
            self._spend_compaction()
            return True
        if decision.outcome == "truncate":
            counters = run.counters
            run.counters = replace(counters, truncations=counters.truncations + 1)
            rewritten = yield from truncate_session(work)
            if rewritten.truncated:
                run.results_cut = True
                return True
        work.fired("guard", work.total_before, None, decision.reason, decision)
        run.reply = overflow_reply(run.kind, work.setup.lines.window)
        return False

    def _compact(self, verdict: OverflowVerdict) -> Steps[tuple[bool, str | None]]:
        """Compact by force; whether it did, and why not."""
        run, work = self.run, self.run.work
        window = work.setup.lines.window
        work.fired("guard", work.total_before, window, "overflow_detected", verdict.decision)
        self._spend_compaction()
        observed = overflow_token_count(verdict.observed_tokens, window)
        made = yield from compact(work, CompactionAsk("overflow", observed))
        reason = made.outcome if made.message is None else f"{made.outcome}: {made.message}"
        work.fired("overflow_compaction", work.total_before, window, reason, made.decision)
        if made.outcome != "compacted":
            return False, made.message
        run.outer_compactions += 1
        if work.rules.turn.goes_on_with is not None and run.kind == "turn":
            run.sent = work.prompt.envelope + work.rules.turn.goes_on_with
        run.tokens_after = made.tokens_after
        if self.over.route == "compact_then_truncate":
            rewritten = yield from truncate_session(work)
            if rewritten.truncated:
                run.results_cut = True
                work.fired("truncate", work.total_before, None, "truncated_after_compaction")
        return True, None

    def _spend_compaction(self) -> None:
        counters = self.run.counters
        spent = counters.overflow_compactions + 1
        self.run.counters = replace(counters, overflow_compactions=spent)

    def _over_limits(self) -> bool:
        setup = self.run.work.setup
        plan = plan_reduction(
            messages_of_path(self.run.work.state.branch),
            setup.lines.window,
            setup.rules.pruning.recovery,
            single_cap_chars=setup.tool_cap_chars,
        )
        return plan.likely_oversized


def overflow_reply(kind: RunKind, window: float) -> str:
    """What the user reads: the bare overflow, or, once a compaction helped nothing, advice."""
    if kind == "flush":
        return OVERFLOW_TEXT
    floor = suggested_reserve_floor(window)
    return (
        "⚠️ Auto-compaction could not recover this turn. I kept this conversation mapped to the current "
        "session. Please try again, use /compact, or use /new to start a fresh session.\n\n"
        "To prevent this, increase your compaction buffer by setting "
        f"`agents.defaults.compaction.reserveTokensFloor` to {floor} or higher in your config."
    )
