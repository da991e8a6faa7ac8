"""One attempt of a run on a tape (the counterpart of ``turn.attempt``)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compaction_app.engine.inner_trigger import (
    overflow_mark_after,
)
from compaction_app.engine.overflow import classify_overflow
from compaction_app.engine.pruning.persist import capped_for_storage
from compaction_app.engine.tape.attempt_stages import ANSWERED, BEFORE_PROMPT, ENDED
from compaction_app.engine.tape.calling import (
    CallStages,
)
from compaction_app.engine.tape.compacting import truncate_session
from compaction_app.engine.tape.recorded import CallRows
from compaction_app.engine.tape.row import Row
from compaction_app.engine.tape.tape import COUNT, SENT, WORDED
from compaction_app.engine.tape.view import Spot, View
from compaction_app.engine.tape.work import SentCall
from compaction_app.engine.turn.attempt_stages import AttemptEnd
from compaction_app.engine.turn.runtime_event import runtime_context
from sessions_app.transcripts.usage import Usage, prompt_tokens

if TYPE_CHECKING:
    from compaction_app.engine.tape.run import ReplayRun


class ReplayAttempt:
    """``base_end`` ends the history in memory, ``news`` begins what came since the prompt."""

    def __init__(self, run: ReplayRun) -> None:
        self.run, self.record, self.session = run, run.record, run.record.session
        self.tape, self.setup, self.rules = run.record.tape, run.record.setup, run.record.rules
        self.base_end = self.news = 0
        self.fresh: tuple[Row, ...] = ()
        self.base_forms: dict[Spot, tuple[Row, Row]] = {}
        self.compacted = self.overflow_attempted = False
        self.touched_ms: float | None = None
        self.fence: int | None = None

    def carry_out(self) -> AttemptEnd:
        """The whole attempt, its last stages included."""
        end = self._until_end()
        for stage in self.setup.order.ended:
            ENDED[stage](self)
        return replace(end, compacted=self.compacted)

    def _until_end(self) -> AttemptEnd:
        self.load()
        self.touched_ms = self.session.touched_ms
        self.fence = self.base_view().totals()[COUNT]
        for stage in self.setup.order.attempt:
            end = BEFORE_PROMPT[stage](self)
            if end is not None:
                return end
        self.run.store_prompt()
        self.fresh = (*self.told(), self.run.sent_row)
        self.news = len(self.tape)
        return self._talk()

    def load(self) -> None:
        """The history as the branch holds it, without an answer that failed last."""
        tape, end = self.tape, len(self.tape)
        at = end - 1
        while at >= tape.start and (tape.rows[at].failed or tape.rows[at].message is None):
            if tape.rows[at].failed:
                end = at
            at -= 1
        self.base_end, self.news, self.fresh = end, len(tape), ()
        self.base_forms = {}

    def base_view(self) -> View:
        """The history alone."""
        view = View(self.tape, self.base_end, (), len(self.tape))
        return view.preset(self.base_forms)

    def told(self) -> tuple[Row, ...]:
        """What the runtime tells the model beside the prompt; a flush turn is told nothing."""
        events = runtime_context(self.record.queued) if self.run.kind == "turn" else []
        return tuple(map(self.session.maker.message_row, events))

    def _talk(self) -> AttemptEnd:
        """Model calls until an answer without tool calls, or until something stops them."""
        while True:
            self._leap()
            call = self._prepare()
            if call.error is not None:
                route = call.mid_turn.route if call.mid_turn else None
                reason = route or "context_over_limit"
                self.record.fired("guard", None, None, reason, call.guard)
                if route == "truncate_tool_results_only":
                    truncated = truncate_session(self.record)
                    self.run.results_cut = truncated
                    return AttemptEnd("handled" if truncated else "overflow", call.error)
                return AttemptEnd("overflow", call.error, route)
            answered, goes_on = self._call(call)
            if answered is None:
                return AttemptEnd("unanswered")
            if goes_on:
                continue
            end = self._answered(answered)
            if end is not None:
                return end

    def _leap(self) -> None:
        """Take the calls at once that nothing happens to."""
        leaper = self.session.call_leaper
        if leaper is None or self.run.kind != "turn" or not self.session.calls:
            return
        leapt = leaper.leap(self, self.record.turn.turn.number - 1)
        if leapt is not None:
            self.overflow_attempted = False
            self.record.leapt(leapt)

    def view(self) -> View:
        """The context of the next call."""
        return View(self.tape, self.base_end, self.fresh, self.news).preset(self.base_forms)

    def _prepare(self) -> CallStages:
        if self.session.calls:  # also a flush turn's call looks at the time of the next one
            self.session.reach(self.session.calls[0].asked_ms)
        call = CallStages(
            self.record, self.view(), self.run.system_chars, self.touched_ms, self.fence
        )
        call.run()
        self.touched_ms, self.fence = call.touched_ms, call.fence
        return call

    def _call(self, call: CallStages) -> tuple[Row | None, bool]:
        """The answer's row, none when nobody can answer; and whether another call follows."""
        record, session = self.record, self.session
        totals = call.view.totals()
        tokens = totals[SENT]
        fingerprint = self.tape.fingerprint()
        recorded, goes_on = self._next(fingerprint)
        answer = None
        if recorded is not None:
            same = recorded.fingerprint == fingerprint
            keeps = same and (not call.view.changes or session.own_policy)
            answer = recorded.answer if keeps else self._billed(recorded, tokens)
        elif self.run.kind == "flush":
            answer = session.maker.message_row(
                {"role": "assistant", "content": [{"type": "text", "text": "NO_REPLY"}],
                 "stopReason": "stop", "timestamp": session.clock_ms}
            )  # fmt: skip
        sent = prompt_tokens(answer.usage) if answer else None
        if call.pruned:
            record.fired("prune", None, None, "cache_ttl_pruning", after=sent)
        if self.run.results_cut:
            self.run.results_cut = False
            record.fired("truncate", None, None, "stored_results_shorter", after=sent)
        number = record.next_call
        sizes = (tokens, totals[WORDED], call.view.changes)
        record.called(SentCall(self.run.kind, number, answer, *sizes, recorded))
        if answer is None:
            return None, False
        self.run.usages.append(answer.usage or Usage())
        self._store(answer, recorded.results if recorded else ())
        mark = overflow_mark_after(self.overflow_attempted, answer.message or {})
        self.overflow_attempted = mark
        return answer, goes_on or bool(recorded and recorded.results)

    def _next(self, fingerprint: tuple[int, int]) -> tuple[CallRows | None, bool]:
        """The recorded call that answers, and whether the recording goes on behind it."""
        if self.run.kind == "flush":
            return self.session.next_flush_call(), False
        calls = self.session.calls
        while calls:
            recorded = calls.pop(0)
            if recorded.failed and recorded.fingerprint != fingerprint and calls:
                continue
            self.session.reach(recorded.answered_ms)
            return recorded, bool(calls) and not recorded.failed
        return None, False

    def _billed(self, recorded: CallRows, tokens: int) -> Row:
        """The recorded answer with the bill of another context."""
        if recorded.billed is None:
            return recorded.answer
        difference = tokens - recorded.context_tokens
        prompt = max(0, round(recorded.billed + self.session.density * difference))
        row = recorded.answer
        return self.session.maker.billed(row, prompt)

    def _store(self, answer: Row, results: tuple[Row, ...]) -> None:
        session, cap = self.session, self.setup.stored_cap_chars
        if not answer.entry.get("id"):
            session.append_entry({"type": "message", "message": answer.message})
        else:
            session.append(answer)
        persist = self.rules.pruning.persist
        for row in results:
            if row.result > cap:
                row = session.maker.form(
                    row, ("stored", cap), lambda m: capped_for_storage(m, cap, persist)
                )
            session.append(row)

    def _answered(self, answer: Row) -> AttemptEnd | None:
        """The stages after the last answer; none when the runtime goes on after its own compaction."""
        for stage in self.setup.order.answered:
            if ANSWERED[stage](self, answer, skip_aborted=True):
                return None
        message = answer.message or {}
        error = message.get("errorMessage") if message.get("stopReason") == "error" else None
        if isinstance(error, str):
            verdict = classify_overflow(self.rules.overflow, self.rules.id, error)
            if verdict.likely:
                return AttemptEnd("overflow", error)
        return AttemptEnd("answered")
