"""One turn of a what-if after the other: which gates run when, and what their decisions change.

The order is that of the version's turn (spec compaction 8): the gates before the run, the pre-prompt
check, the calls, the inner threshold, and, where the version has them, the gates after the reply.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from compaction_app.engine.calibration import Calibration
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.lines import Lines
from compaction_app.engine.policy import Policy
from compaction_app.engine.policy_config import result_limits
from compaction_app.engine.pruning.caps import live_max_chars
from compaction_app.engine.replay_context import Context
from compaction_app.engine.replay_events import Event, EventKind
from compaction_app.engine.replay_flushes import FlushTurns
from compaction_app.engine.replay_gates import TokenGates
from compaction_app.engine.replay_pruned_calls import CallPruning
from compaction_app.engine.replay_rows import ReplayRows
from compaction_app.engine.replay_sizes import ContextSizes
from compaction_app.engine.routing import TRANSCRIPT_SOURCE, route_estimate
from compaction_app.engine.summary_sizes import SummarySizes
from compaction_app.engine.turn.order import TurnStage
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.columns import Ints

MAX_OVERFLOW_COMPACTIONS: Final = 3


class TurnRules:
    """Walks the turns of a recording; ``events``, ``cuts`` and ``blocked`` are what came of it."""

    def __init__(
        self,
        rows: ReplayRows,
        lines: Lines,
        around: Circumstances,
        policy: Policy,
        calibration: Calibration,
        summaries: SummarySizes,
        sizes: ContextSizes,
        pruning: CallPruning,
        flushes: FlushTurns,
        accepted: int = 0,
    ) -> None:
        self.events: list[Event] = []
        self.blocked = 0
        self._rows, self._lines, self._around, self._policy = rows, lines, around, policy
        self._calibration, self._summaries, self._pruning = calibration, summaries, pruning
        self._flushes, self._flushed = flushes, 0
        # What the provider answered in the recording it does not refuse here.
        self._refused_over = max(lines.window, accepted)
        self._order = around.rules.turn.orders[around.path]
        self._is_billed = calibration.calls > 0
        self._gates = TokenGates(rows, lines, around, is_billed=self._is_billed)
        self._sizes = sizes
        self._check_line = lines.named("pre_prompt")
        self._inner_line = lines.named("inner_threshold")
        self._context = Context()
        self.cuts = self._context.cuts
        self._turn = self._call = self._end = self._attempts = 0
        self._blocked_turn = self._called_turn = self._left = 0
        self._cap = live_max_chars(
            lines.window, result_limits(policy), None, around.rules.pruning.caps
        )
        self._least_chars = js.utf16_len(around.rules.pruning.recovery.truncation.notice(1))

    def begin_turn(self, turn: int, start: int, call: int) -> None:
        """Everything before the first call; ``start`` is the row of the user's message."""
        self._turn, self._call, self._end, self._attempts = turn, call, start, 0
        estimate = int(self._rows.tokens[start]) if start < len(self._rows.tokens) else 0
        for stage in self._order.turn:
            self._gate(stage, estimate)
        self._check_prompt(start)
        self._pruning.begin_attempt()

    def send(self, places: Ints, call: int, outputs: Ints) -> Ints:
        """The model calls of the turn, ``call`` being the first: their prompt tokens."""
        whole = self._sizes.prompts(self._context, places)
        prompts = self._pruned(whole, places, call)
        if len(prompts) and prompts.max() > self._refused_over:
            self._pruning.begin_attempt()
            numbers = range(call, call + len(places))
            calls = zip(places.tolist(), numbers, outputs.tolist(), strict=True)
            return np.array([self._send_one(*each) for each in calls], np.int64)
        if len(prompts):
            self._call = call + len(prompts) - 1
            self.events += self._pruning.events(whole, prompts, call - 1, self._turn)
            self._sent(int(places[-1]), int(prompts[-1]), int(outputs[-1]))
        return prompts

    def _send_one(self, place: int, call: int, output: int) -> int:
        """A call that may be too large for the window: then the run compacts and tries again."""
        self._call, self._end = call, place
        places = np.array([place])
        prompt = int(self._pruned(self._sizes.prompts(self._context, places), places, call)[0])
        if self._around.path != "cli":
            prompt = self._recover(prompt, places, call)
        whole = self._sizes.prompts(self._context, places)
        self.events += self._pruning.events(whole, np.array([prompt]), call - 1, self._turn)
        self._sent(place, prompt, output)
        return prompt

    def _pruned(self, whole: Ints, places: Ints, call: int) -> Ints:
        """The prompts without what cache-TTL pruning takes out of view."""
        context = self._context
        has_summary = context.compactions > 0
        return self._pruning.send(whole, context.start, has_summary, places, call - 1)

    def _sent(self, place: int, prompt: int, output: int) -> None:
        self._called_turn = self._turn
        self._end = place + 1
        if not self._is_billed:
            self._context.unbilled(self._left if self._attempts else None)
            return
        self._context.billed(prompt, max(output, 0) or int(self._rows.tokens[place]), self._end)

    def _recover(self, prompt: int, places: Ints, call: int) -> int:
        """The provider refuses what is larger than the window: compact and send again."""
        limit = self._refused_over
        while prompt > limit:
            step = Step("prompt", "prompt tokens > contextWindow", prompt)
            decision = self._decision("provider_overflow", "compact", "prompt_exceeds_window", step)
            if not self._overflow_compaction(prompt, limit, "billed prompt tokens", decision):
                self._block(prompt)
                break
            prompt = int(self._pruned(self._sizes.prompts(self._context, places), places, call)[0])
        return prompt

    def end_turn(self) -> None:
        """The runtime's own threshold, then the gates that the version asks after a reply."""
        if self._called_turn != self._turn:
            return
        compacted = self._own_threshold() or self._attempts > 0
        if compacted and self._around.rules.turn.usage_is_final:
            self._context.stored_total = self._context.last_prompt
            return
        for stage in self._order.replied:
            self._gate(stage, None)

    def _own_threshold(self) -> bool:
        """Judged on the last call's total with its answer; whether it compacted."""
        line, context = self._inner_line, self._context
        total = (context.last_prompt or 0) + context.last_output
        if not line.active or context.last_prompt is None or total <= line.tokens:
            return False
        step = Step("total", "contextTokens > contextWindow - reserveTokens", total)
        decision = self._decision("inner_threshold", "compact", "above_threshold", step)
        return self._compact(
            "threshold_compaction", total, line.tokens, line.unit, decision, is_live=True
        )

    def _gate(self, stage: TurnStage, estimate: int | None) -> None:
        if stage == "flush":
            self._flush(estimate)
        else:
            self._preflight(estimate)

    def _preflight(self, estimate: int | None) -> None:
        judged = self._gates.preflight(self._context, estimate, self._end)
        if judged is None:
            return
        if self._around.rules.turn.flush_before_preflight and estimate is not None:
            self._flush(estimate)
        line = self._gates.preflight_line
        is_live = estimate is None
        self._compact(
            "preflight_compaction", judged.tokens, line.tokens, line.unit, judged.decision, is_live
        )

    def _flush(self, estimate: int | None) -> None:
        context, line = self._context, self._gates.flush_line
        judged = self._gates.flush(context, estimate, self._end)
        if judged is not None:
            self._add("flush", judged.tokens, None, line.tokens, line.unit, judged.decision)
            context.flushed_count, context.stored_total = context.compactions, judged.total
            if self._around.rules.turn.flush_stored:
                context.flush(self._end, self._flushes.size(self._flushed))
                self._flushed += 1
                self._pruning.attempt_without_call(self._end)

    def _check_prompt(self, start: int) -> None:
        """The pre-prompt check with its routes; where nothing helps the turn is blocked."""
        rules, line = self._around.rules.routing, self._check_line
        if rules is None or not line.active:
            return
        truncated = False
        newest = self._around.rules.pruning.recovery.aggregate == "newest_first"
        while True:
            estimate = self._pressure(start)
            if estimate <= line.tokens:
                return
            base = self._context.start
            reducible = self._rows.reducible(base, start, self._cap, self._least_chars)
            budget = self._lines.check_budget
            rule_set = self._around.rules.id
            route = route_estimate(rules, rule_set, estimate, TRANSCRIPT_SOURCE, reducible, budget)
            self._add("guard", estimate, None, line.tokens, line.unit, route.decision)
            self._pruning.attempt_without_call(start)
            if route.route == "truncate_tool_results_only" and not truncated:
                truncated = True
                if self._rows.cut_results(base, start, self._cap, self._least_chars, newest):
                    after = self._pressure(start)
                    self._add("truncate", estimate, after, line.tokens, line.unit, route.decision)
                    continue
            decision = route.decision
            if not self._overflow_compaction(estimate, line.tokens, line.unit, decision):
                self._block(estimate)
                return
            if route.route == "compact_then_truncate":
                base, before = self._context.start, self._pressure(start)
                if self._rows.cut_results(base, start, self._cap, self._least_chars, newest):
                    after = self._pressure(start)
                    self._add("truncate", before, after, line.tokens, line.unit, decision)

    def _overflow_compaction(
        self, before: int, threshold: int, unit: str, decision: Decision
    ) -> bool:
        """A compaction after an overflow; three a turn."""
        if self._attempts >= MAX_OVERFLOW_COMPACTIONS:
            return False
        self._attempts += 1
        return self._compact("overflow_compaction", before, threshold, unit, decision, is_live=True)

    def _compact(
        self,
        kind: EventKind,
        before: int,
        threshold: int,
        unit: str,
        decision: Decision,
        is_live: bool,
    ) -> bool:
        """Compact the branch as it stands; false right behind a compaction ("Already compacted"), and
        where the version finds nothing to summarise."""
        context, rows = self._context, self._rows
        if context.compacted_at == self._end:
            return False
        kept = rows.cut(
            context.start, self._end, self._sizes.keep(context, self._end, is_live=is_live)
        )
        if kept == context.start and self._around.rules.compaction.refuses_empty:
            return False
        context.compacted_at = self._end
        flushed = context.flushed_count == context.compactions
        self._pruning.compacted()
        size = self._summaries.size(context.compactions)
        context.cut(kept, self._end, size, self._calibration.density)
        context.stored_total = self._left = self._sizes.left(context, self._end, is_live=is_live)
        after = self._sizes.prompt(self._context, self._end)
        self._add(kind, before, after, threshold, unit, decision, flushed)
        return True

    def _pressure(self, start: int) -> int:
        """The estimate of the check: history, the user's message at ``start``, the system prompt."""
        return self._sizes.pressure(self._context, min(start + 1, len(self._rows.tokens)))

    def _decision(self, rule: str, outcome: str, reason: str, step: Step) -> Decision:
        return Decision(rule, True, outcome, reason, self._around.rules.id, {}, (step,))

    def _block(self, tokens: int) -> None:
        if self._blocked_turn == self._turn:
            return
        self._blocked_turn = self._turn
        self.blocked += 1
        window = self._lines.window
        step = Step("prompt", "still too large after compaction", tokens)
        decision = self._decision("overflow", "blocked", "context_overflow", step)
        self._add("guard", tokens, None, window, "tokens", decision)

    def _add(
        self,
        kind: EventKind,
        before: int,
        after: int | None,
        threshold: int,
        unit: str,
        decision: Decision,
        flushed: bool | None = None,
    ) -> None:
        self.events.append(
            Event(
                kind, self._call, self._turn, before, after, threshold, unit, decision.reason,
                decision, flushed,
            )
        )  # fmt: skip
