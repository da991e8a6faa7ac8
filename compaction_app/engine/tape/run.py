"""One run on a tape: attempts, and what follows an overflow (the counterpart of ``turn.run``)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compaction_app.engine.compaction.run import NO_CONVERSATION
from compaction_app.engine.overflow import OverflowVerdict, classify_overflow
from compaction_app.engine.recovery_limits import (
    OverflowSituation,
    RecoveryCounters,
    overflow_token_count,
    recover_from_overflow,
)
from compaction_app.engine.tape.attempt import ReplayAttempt
from compaction_app.engine.tape.compacting import compact, truncate_session
from compaction_app.engine.tape.copying import reducible_chars
from compaction_app.engine.tape.row import Row
from compaction_app.engine.tape.view import View
from compaction_app.engine.tape.work import TurnRecord
from compaction_app.engine.turn.attempt_stages import AttemptEnd
from compaction_app.engine.turn.compacting import CompactionAsk
from compaction_app.engine.turn.record import Number
from compaction_app.engine.turn.requests import RunKind
from compaction_app.engine.turn.run import RunEnd, overflow_reply
from sessions_app.transcripts.usage import Usage


class ReplayRun:
    """A run and what it has spent; as ``turn.run.ModelRun``."""

    def __init__(
        self,
        record: TurnRecord,
        kind: RunKind,
        sent_row: Row,
        sent_text: str,
        system_chars: int,
    ) -> None:
        self.record, self.kind = record, kind
        self.sent_row, self.sent_text, self.system_chars = sent_row, sent_text, system_chars
        self.counters = RecoveryCounters()
        self.usages: list[Usage] = []
        self.inner_compactions = self.outer_compactions = 0
        self.tokens_after: Number | None = None
        self.incomplete = self.prompt_stored = self.results_cut = False
        self.reply: str | None = None

    @property
    def compactions(self) -> int:
        return self.inner_compactions + self.outer_compactions

    def store_prompt(self) -> None:
        """Append the prompt, once a run."""
        if self.prompt_stored:
            return
        self.prompt_stored = True
        if self.kind == "turn":
            self.record.append_prompt()
        else:
            message = self.sent_row.message
            self.record.session.append_entry({"type": "message", "message": message})


def carry_out(run: ReplayRun) -> RunEnd:
    """Attempt after attempt; the tape and the counters of ``run`` tell what happened."""
    record = run.record
    before, record.run = record.run, run.kind
    end: RunEnd = "blocked"
    for number in range(1, record.session.most_attempts + 1):
        record.attempt = number
        over = ReplayAttempt(run).carry_out()
        if over.kind in ("answered", "unanswered"):
            end = "answered" if over.kind == "answered" else "unanswered"
            break
        if over.kind == "handled":
            continue
        if not _Recovery(run, over).carry_out():
            break
    record.run, record.attempt = before, 0
    return end


@dataclass(slots=True)
class _Recovery:
    """What follows an overflow: a compaction, cut tool results, or the end (spec budgets 6.4)."""

    run: ReplayRun
    over: AttemptEnd

    def carry_out(self) -> bool:
        """Whether the prompt is tried again."""
        run, record = self.run, self.run.record
        verdict = classify_overflow(record.rules.overflow, record.rules.id, self.over.error)
        record.note("overflow_classification", verdict.decision)
        situation = OverflowSituation(
            compaction_failed=verdict.compaction_failure,
            attempt_compacted=self.over.compacted,
            results_over_limits=self._over_limits(),
        )
        decision = recover_from_overflow(record.rules.id, run.counters, situation)
        record.note("overflow_recovery", decision)
        if decision.outcome == "compact":
            done, reason = self._compact(verdict)
            if done:
                return True
            no_talk = reason == NO_CONVERSATION and self.over.checked
            situation = replace(situation, compaction_tried=True, no_real_conversation=no_talk)
            decision = recover_from_overflow(record.rules.id, run.counters, situation)
            record.note("overflow_recovery", decision)
        if decision.outcome == "retry":
            self._spend_compaction()
            return True
        if decision.outcome == "truncate":
            counters = run.counters
            run.counters = replace(counters, truncations=counters.truncations + 1)
            if truncate_session(record):
                run.results_cut = True
                return True
        record.fired("guard", record.total_before, None, decision.reason, decision)
        run.reply = overflow_reply(run.kind, record.setup.lines.window)
        return False

    def _compact(self, verdict: OverflowVerdict) -> tuple[bool, str | None]:
        """Compact by force; whether it did, and why not."""
        run, record = self.run, self.run.record
        window = record.setup.lines.window
        record.fired("guard", record.total_before, window, "overflow_detected", verdict.decision)
        self._spend_compaction()
        observed = overflow_token_count(verdict.observed_tokens, window)
        made = compact(record, CompactionAsk("overflow", observed))
        reason = made.outcome if made.message is None else f"{made.outcome}: {made.message}"
        record.fired("overflow_compaction", record.total_before, window, reason, made.decision)
        if made.outcome != "compacted":
            return False, made.message
        run.outer_compactions += 1
        run.tokens_after = made.tokens_after
        if self.over.route == "compact_then_truncate" and truncate_session(record):
            run.results_cut = True
            record.fired("truncate", record.total_before, None, "truncated_after_compaction")
        return True, None

    def _spend_compaction(self) -> None:
        spent = self.run.counters.overflow_compactions + 1
        self.run.counters = replace(self.run.counters, overflow_compactions=spent)

    def _over_limits(self) -> bool:
        tape = self.run.record.tape
        view = View(tape, tape.start, (), tape.start)
        return reducible_chars(self.run.record, view) > 0
