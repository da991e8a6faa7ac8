"""The two gates of a what-if, preflight and memory flush: what they judge, and whether they fire.

The gates are those of the engine; they are asked only where a bound says that they may fire.
"""

from __future__ import annotations

from dataclasses import dataclass

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.decision import Decision
from compaction_app.engine.flush_plan import FlushPlan
from compaction_app.engine.flush_run import READ_BUFFER_TOKENS, FlushSituation, decide_flush
from compaction_app.engine.last_usage import LastUsage, TranscriptEstimate
from compaction_app.engine.lines import Line, Lines
from compaction_app.engine.preflight import (
    PreflightRules,
    PreflightSituation,
    decide_preflight,
    transcript_needs,
)
from compaction_app.engine.replay_context import Context
from compaction_app.engine.replay_rows import ReplayRows
from compaction_app.engine.run_conditions import is_cli_provider
from sessions_app.transcripts.usage import Usage


@dataclass(frozen=True, slots=True)
class Judged:
    """A gate that fires, the tokens that it judged, and the total that is stored then."""

    tokens: int
    decision: Decision
    total: int | None


class TokenGates:
    """Both gates of one policy. ``estimate`` are the tokens of the turn's prompt, none once it is answered."""

    def __init__(
        self, rows: ReplayRows, lines: Lines, around: Circumstances, *, is_billed: bool
    ) -> None:
        self._rows, self._lines, self._rules = rows, lines, around.rules
        self.preflight_line, self.flush_line = lines.named("preflight"), lines.named("flush")
        self._weighs_file = not is_billed and _can_weigh_file(self.preflight_line, around)

    def preflight(self, context: Context, estimate: int | None, end: int) -> Judged | None:
        """A preflight compaction that is due for the rows before ``end``."""
        line, rules, total = self.preflight_line, self._rules.preflight, context.stored_total
        if total is None and rules is not None and self._weighs_file:
            return self._unbilled_preflight(rules, context, estimate, end)
        if not line.active or rules is None or total is None:
            return None
        margin = 0 if rules.read_buffer is None else rules.read_buffer
        coming = 0 if rules.read_buffer is None else estimate or 0
        if total + coming < line.tokens - margin:
            return None
        situation = self._situation(context, estimate)
        read = None
        if transcript_needs(rules, situation).estimate:
            read = self._transcript(context, end)
        judged = decide_preflight(rules, situation, read, None, self._rules.id)
        if not judged.decision.fired:
            return None
        return Judged(int(judged.current_tokens or total), judged.decision, total)

    def _situation(self, context: Context, estimate: int | None) -> PreflightSituation:
        return PreflightSituation(
            entry=context.entry(self._rules.session_index),
            window=self._lines.flush_window.tokens or 0,
            reserve_floor=self._lines.floor,
            soft_threshold=self._lines.soft,
            prompt_estimate=estimate,
        )

    def _unbilled_preflight(
        self, rules: PreflightRules, context: Context, estimate: int | None, end: int
    ) -> Judged | None:
        """Where no provider reports usage there is no total: the messages in the file are weighed, those
        that were summarised, too."""
        first = self._rows.recent(end) if rules.reads_end_only else 0
        weight = self._rows.estimate(first, end)
        if weight + (estimate or 0) < self.preflight_line.tokens:
            return None
        read, situation = TranscriptEstimate(weight or None), self._situation(context, estimate)
        judged = decide_preflight(rules, situation, read, None, self._rules.id)
        if not judged.decision.fired:
            return None
        return Judged(int(judged.current_tokens or weight), judged.decision, None)

    def _transcript(self, context: Context, end: int) -> TranscriptEstimate:
        """The last bill; behind a compaction there is none, and all messages are weighed instead."""
        if context.has_bill and context.last_prompt is not None:
            return TranscriptEstimate(context.last_prompt, context.last_output or None)
        return TranscriptEstimate(self._rows.estimate(0, end) or None)

    def flush(self, context: Context, estimate: int | None, end: int) -> Judged | None:
        """A memory flush that is due, once a cycle: by tokens, or by the size that the transcript has with
        the rows before ``end``."""
        line, plan, total = self.flush_line, self._lines.flush_plan, context.stored_total
        if not line.active or plan is None or context.flushed_count == context.compactions:
            return None
        size = self._rows.bytes_to(end) + context.own_bytes
        forced, last = 0 < plan.force_bytes <= size, context.last_prompt
        if (total is None or last is None) and not forced:
            return None
        coming, known = estimate or 0, total or 0
        reads = estimate is not None and known + coming >= line.tokens - READ_BUFFER_TOKENS
        if reads and not context.has_bill and self._ends_at_compaction:
            reads = False
        snapshot = max(known, last or 0) if reads else known
        projected = snapshot + (context.last_output if reads else 0) + coming
        if projected < line.tokens and not forced:
            return None
        situation = FlushSituation(
            plan=FlushPlan(plan, "", "", ""),
            entry=context.entry(self._rules.session_index),
            window=self._lines.flush_window.tokens or 0,
            prompt_estimate=estimate or None,
            index=self._rules.session_index,
        )
        usage = Usage(input=last, output=context.last_output) if reads and last else None
        read = LastUsage(0, usage, 0) if usage else None
        decision = decide_flush(situation, read, size, self._rules.id).decision
        return Judged(projected, decision, snapshot or None) if decision.fired else None

    @property
    def _ends_at_compaction(self) -> bool:
        rules = self._rules.preflight
        return rules is not None and rules.usage_ends_at_compaction


def _can_weigh_file(line: Line, around: Circumstances) -> bool:
    """Whether the gate runs where no total is known: also in a version to which a known one is enough."""
    if line.reason != "total_is_known":
        return line.active
    cli = is_cli_provider(around.config, around.provider)
    return around.path == "chat" and not cli and line.tokens > 0
