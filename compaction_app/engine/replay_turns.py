"""One turn of a what-if after the other: which gates run when, and what their decisions change.

The order is that of a chat turn (spec compaction 8): preflight compaction, memory flush, the
pre-prompt check, the calls, then the inner threshold. The gates themselves are those of the engine;
a gate is asked only when its numbers say that it may fire.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from compaction_app.engine.calibration import Calibration
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.flush_plan import FlushPlan
from compaction_app.engine.flush_run import READ_BUFFER_TOKENS, FlushSituation, decide_flush
from compaction_app.engine.last_usage import LastUsage
from compaction_app.engine.lines import Lines
from compaction_app.engine.policy import Policy
from compaction_app.engine.policy_config import result_limits
from compaction_app.engine.preflight import PreflightSituation, decide_preflight
from compaction_app.engine.pruning.caps import live_max_chars
from compaction_app.engine.replay_context import Context
from compaction_app.engine.replay_events import Event, EventKind
from compaction_app.engine.replay_pruned_calls import CallPruning
from compaction_app.engine.replay_rows import ReplayRows
from compaction_app.engine.routing import TRANSCRIPT_SOURCE, route_estimate
from compaction_app.engine.summary_sizes import SummarySizes
from sessions_app.tokens import javascript as js
from sessions_app.tokens.pressure import MESSAGE_OVERHEAD, SAFETY_MARGIN
from sessions_app.transcripts.columns import Ints
from sessions_app.transcripts.usage import Usage

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
        system_tokens: int,
        pruning: CallPruning,
        accepted: int = 0,
    ) -> None:
        self.events: list[Event] = []
        self.blocked = 0
        self._rows, self._lines, self._around, self._policy = rows, lines, around, policy
        self._calibration, self._summaries, self._system = calibration, summaries, system_tokens
        self._pruning = pruning
        # What the provider answered in the recording it does not refuse here.
        self._refused_over = max(lines.window, accepted)
        self._preflight_line, self._flush_line = lines.named("preflight"), lines.named("flush")
        self._check_line = lines.named("pre_prompt")
        self._inner_line = lines.named("inner_threshold")
        self._context = Context()
        self.cuts = self._context.cuts
        self._turn = self._call = self._end = self._attempts = 0
        self._blocked_turn = self._called_turn = 0
        self._cap = live_max_chars(
            lines.window, result_limits(policy), None, around.rules.pruning.caps
        )
        self._least_chars = js.utf16_len(around.rules.pruning.recovery.truncation.notice(1))

    def begin_turn(self, turn: int, start: int, call: int) -> None:
        """Everything before the first call; ``start`` is the row of the user's message."""
        self._turn, self._call, self._end, self._attempts = turn, call, start, 0
        estimate = int(self._rows.tokens[start]) if start < len(self._rows.tokens) else 0
        self._preflight(estimate)
        self._flush(estimate)
        self._check_prompt(start)
        self._pruning.begin_attempt()

    def send(self, places: Ints, call: int, outputs: Ints) -> Ints:
        """The model calls of the turn, ``call`` being the first: their prompt tokens."""
        whole = self._prompts(places)
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
        prompt = int(self._pruned(self._prompts(places), places, call)[0])
        if self._around.path != "cli":
            prompt = self._recover(prompt, places, call)
        whole = self._prompts(places)
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
        context = self._context
        context.last_prompt = context.stored_total = prompt
        context.last_output = max(output, 0) or int(self._rows.tokens[place])
        self._end = place + 1

    def _recover(self, prompt: int, places: Ints, call: int) -> int:
        """The provider refuses what is larger than the window: compact and send again."""
        limit = self._refused_over
        while prompt > limit:
            step = Step("prompt", "prompt tokens > contextWindow", prompt)
            decision = self._decision("provider_overflow", "compact", "prompt_exceeds_window", step)
            if not self._overflow_compaction(prompt, limit, "billed prompt tokens", decision):
                self._block(prompt)
                break
            prompt = int(self._pruned(self._prompts(places), places, call)[0])
        return prompt

    def end_turn(self) -> None:
        """The runtime's own threshold, judged on the last call's total with its answer."""
        line, context = self._inner_line, self._context
        if not line.active or context.last_prompt is None or self._called_turn != self._turn:
            return
        total = context.last_prompt + context.last_output
        if total > line.tokens:
            step = Step("total", "contextTokens > contextWindow - reserveTokens", total)
            decision = self._decision("inner_threshold", "compact", "above_threshold", step)
            self._compact("threshold_compaction", total, line.tokens, line.unit, decision)

    def _preflight(self, estimate: int) -> None:
        line, context = self._preflight_line, self._context
        total = context.stored_total
        rules = self._around.rules.preflight
        if not line.active or rules is None or total is None or total < line.tokens:
            return
        situation = PreflightSituation(
            entry=context.entry(),
            window=self._lines.flush_window.tokens or 0,
            reserve_floor=self._lines.floor,
            soft_threshold=self._lines.soft,
            prompt_estimate=estimate,
        )
        judged = decide_preflight(rules, situation, None, None, self._around.rules.id).decision
        if judged.fired:
            self._compact("preflight_compaction", total, line.tokens, line.unit, judged)

    def _flush(self, estimate: int) -> None:
        line, context, plan = self._flush_line, self._context, self._lines.flush_plan
        if not line.active or plan is None or context.flushed_count == context.compactions:
            return
        total = context.stored_total
        if total is None or context.last_prompt is None:
            return
        reads = total + estimate >= line.tokens - READ_BUFFER_TOKENS
        snapshot = max(total, context.last_prompt) if reads else total
        projected = snapshot + (context.last_output if reads else 0) + estimate
        if projected < line.tokens:
            return
        situation = FlushSituation(
            plan=FlushPlan(plan, "", "", ""),
            entry=context.entry(),
            window=self._lines.flush_window.tokens or 0,
            prompt_estimate=estimate or None,
        )
        usage = Usage(input=context.last_prompt, output=context.last_output) if reads else None
        last = LastUsage(0, usage, 0) if usage else None
        decision = decide_flush(situation, last, None, self._around.rules.id).decision
        if decision.fired:
            self._add("flush", projected, None, line.tokens, line.unit, decision)
            context.flushed_count = context.compactions
            context.stored_total = snapshot
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
        return self._compact("overflow_compaction", before, threshold, unit, decision)

    def _compact(
        self, kind: EventKind, before: int, threshold: int, unit: str, decision: Decision
    ) -> bool:
        """Compact the branch as it stands; false right behind a compaction ("Already compacted")."""
        context, rows = self._context, self._rows
        if context.compacted_at == self._end:
            return False
        context.compacted_at = self._end
        kept = rows.cut(context.start, self._end, self._lines.settings.keep_recent_tokens)
        flushed = context.flushed_count == context.compactions
        self._pruning.compacted()
        size = self._summaries.size(context.compactions)
        context.cut(kept, self._end, size, self._calibration.density)
        context.stored_total = context.summary_tokens + rows.estimate(kept, self._end)
        after = self._prompt(self._end)
        self._add(kind, before, after, threshold, unit, decision, flushed)
        return True

    def _prompt(self, place: int) -> int:
        return int(self._prompts(np.array([place]))[0])

    def _prompts(self, places: Ints) -> Ints:
        context = self._context
        weight = self._rows.weights_to(context.start, places)
        prompts = np.rint(self._calibration.overhead + context.summary_weight + weight)
        return np.asarray(prompts, np.int64)

    def _pressure(self, start: int) -> int:
        """The estimate of the check: history, the user's message at ``start``, the system prompt."""
        context, routing = self._context, self._around.rules.routing
        end = min(start + 1, len(self._rows.tokens))
        if routing is not None and not routing.weighs_shape:
            weight = context.summary_tokens + self._rows.estimate(context.start, end)
            return int(js.ceil(weight * SAFETY_MARGIN))
        summary = MESSAGE_OVERHEAD if context.compactions else 0
        system = MESSAGE_OVERHEAD + self._system if self._system else 0
        weight = self._rows.pressure(context.start, end) + summary + system
        return int(js.ceil(weight * SAFETY_MARGIN))

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
