"""How large a what-if's context is, in the units that the rules judge: billed, estimated, pressed."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from compaction_app.engine.calibration import Calibration
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.compaction.summary_cap import MAX_SUMMARY_CHARS
from compaction_app.engine.lines import Lines
from compaction_app.engine.replay_context import Context
from compaction_app.engine.replay_rows import ReplayRows
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import tokens_of_chars
from sessions_app.tokens.pressure import MESSAGE_OVERHEAD, SAFETY_MARGIN
from sessions_app.transcripts.columns import Ints

LARGEST_SUMMARY: Final = tokens_of_chars(MAX_SUMMARY_CHARS)


class ContextSizes:
    """Sizes of contexts over the rows of a branch. ``system_tokens`` is the estimate of the system prompt;
    ``keep_is_set``: somebody chose how much a compaction keeps."""

    def __init__(
        self,
        rows: ReplayRows,
        lines: Lines,
        around: Circumstances,
        calibration: Calibration,
        system_tokens: int,
        *,
        keep_is_set: bool,
    ) -> None:
        self._rows, self._lines, self._rules = rows, lines, around.rules
        self._calibration, self._system, self._keep_is_set = calibration, system_tokens, keep_is_set

    def prompts(self, context: Context, places: Ints) -> Ints:
        """Billed tokens of prompts with the rows before each place."""
        weight = self._rows.weights_to(context.start, places)
        beside = context.summary_weight + context.flush_tokens * self._calibration.density
        prompts = np.rint(self._calibration.overhead + beside + weight)
        return np.asarray(prompts, np.int64)

    def prompt(self, context: Context, place: int) -> int:
        return int(self.prompts(context, np.array([place]))[0])

    def pressure(self, context: Context, end: int) -> int:
        """The estimate of the pre-prompt check for a prompt that ends before the row ``end``."""
        routing = self._rules.routing
        if routing is not None and not routing.weighs_shape:
            return int(js.ceil(self._estimate(context, end) * SAFETY_MARGIN))
        summary = MESSAGE_OVERHEAD if context.compactions else 0
        if self._rules.pressure.renders:
            summary += context.summary_tokens
        beside = summary + context.flush_pressure + self._system_pressure()
        weight = self._rows.pressure(context.start, end) + beside
        return int(js.ceil(weight * SAFETY_MARGIN))

    def left(self, context: Context, end: int, *, is_live: bool) -> int:
        """What a compaction counts as left by it (``engine.turn.live_size`` while a run is alive)."""
        if is_live and self._rules.turn.weighs_live:
            return int(self.pressure(context, end) + js.ceil(MESSAGE_OVERHEAD * SAFETY_MARGIN))
        return self._estimate(context, end)

    def keep(self, context: Context, end: int, *, is_live: bool) -> float:
        """The tokens that a compaction of the rows up to ``end`` keeps, as cuts count them."""
        keep = self._lines.settings.keep_recent_tokens
        if self._keep_is_set or not self._rules.turn.weighs_keep:
            return keep
        estimated = self._estimate(context, end)
        counted = self._counted(context, end, estimated)
        if 0 < estimated < counted:
            keep = math.floor(keep * estimated / counted)
        return min(keep, self._fitting(context, end)) if is_live else keep

    def _estimate(self, context: Context, end: int) -> int:
        """The runtime's estimate of the messages of a context that ends before the row ``end``."""
        beside = context.summary_tokens + context.flush_tokens
        return beside + self._rows.estimate(context.start, end)

    def _counted(self, context: Context, end: int, estimated: int) -> int:
        """The last bill of the context, and the estimate of what came after it."""
        billed = context.billed_end
        if billed is None or context.last_prompt is None or billed <= context.start:
            return estimated
        after = self._rows.estimate(min(billed, end), end)
        return context.last_prompt + context.last_output + after

    def _fitting(self, context: Context, end: int) -> float:
        """Tokens of the longest tail that fits the prompt's budget beside the largest summary."""
        budget = self._lines.check_budget.prompt
        fixed = self._system_pressure() + 2 * MESSAGE_OVERHEAD + LARGEST_SUMMARY
        first = self._rows.first_within(context.start, end, budget / SAFETY_MARGIN - fixed)
        return math.inf if first <= context.start else max(self._rows.estimate(first, end), 1)

    def _system_pressure(self) -> int:
        return MESSAGE_OVERHEAD + self._system if self._system else 0
