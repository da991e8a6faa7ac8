"""Cache-TTL pruning of a call's context, on sums (the counterpart of ``pruning.cache_ttl``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compaction_app.engine.pruning.cache_ttl import CHARS_PER_TOKEN, why_wait
from compaction_app.engine.pruning.cache_ttl_decision import (
    PassFigures,
    idle_decision,
    pass_decision,
)
from compaction_app.engine.pruning.cache_ttl_settings import CacheTtlSettings
from compaction_app.engine.pruning.cache_ttl_trim import soft_trimmed, with_one_text
from compaction_app.engine.pruning.tool_patterns import prunable_tools
from compaction_app.engine.tape.row import MALFORMED, Row
from compaction_app.engine.tape.tape import COUNT, PRUNER
from compaction_app.engine.tape.view import Spot, View

if TYPE_CHECKING:
    from compaction_app.engine.tape.calling import CallStages


def prune(call: CallStages) -> None:
    setup, rules = call.record.setup, call.record.rules
    settings, now = setup.pruning, call.record.session.clock_ms
    waiting = why_wait(settings, now, call.touched_ms, setup.pruning_eligible)
    inputs = {"lastCacheTouchAt": call.touched_ms, "now": now}
    if settings is None or waiting is not None:
        call.record.note("cache_ttl_pruning", idle_decision(waiting or "off", rules.id, inputs))
        return
    window = setup.lines.window
    if window <= 0:
        call.record.note("cache_ttl_pruning", idle_decision("no_window", rules.id, {}))
        return
    cutoff = _cutoff(call.view, settings.keep_last_assistants)
    if cutoff is None:
        keep = {"keepLastAssistants": settings.keep_last_assistants}
        call.record.note("cache_ttl_pruning", idle_decision("too_few_answers", rules.id, keep))
        return
    total = call.view.totals()[PRUNER]
    if total >= MALFORMED:
        call.record.note("cache_ttl_pruning", idle_decision("malformed_message", rules.id, inputs))
        return
    pruning = _Pruning(call, settings, window * CHARS_PER_TOKEN, total)
    reason = pruning.run(cutoff)
    figures = PassFigures(
        window_chars=pruning.window_chars,
        chars=total,
        chars_after=pruning.total,
        prunable_chars=pruning.prunable,
        protected_from=_index(call.view, cutoff),
        trimmed=pruning.trimmed,
        cleared=pruning.cleared,
    )
    call.record.note("cache_ttl_pruning", pass_decision(figures, settings, reason, rules.id))
    call.pruned = bool(pruning.trimmed or pruning.cleared)
    if call.pruned:
        call.touched_ms = now


def _cutoff(view: View, keep: float) -> int | None:
    """The place at which the protected tail begins."""
    if keep <= 0:
        return len(view.tape)
    left = keep
    for place in view.answers():
        left -= 1
        if left == 0:
            return place
    return None


def _index(view: View, cutoff: int) -> int:
    tape = view.tape
    if cutoff == len(tape):
        return view.totals()[COUNT]
    return view.index_of(cutoff)


@dataclass(slots=True)
class _Pruning:
    call: CallStages
    settings: CacheTtlSettings
    window_chars: float
    total: int
    prunable: int = 0
    trimmed: int = 0
    cleared: int = 0

    @property
    def ratio(self) -> float:
        return self.total / self.window_chars

    def run(self, cutoff: int) -> str:
        settings = self.settings
        if self.ratio < settings.soft_trim_ratio:
            return "below_soft_trim_ratio"
        eligible = self._soft_trim(cutoff)
        if not settings.hard_clear.enabled:
            return "hard_clear_off"
        if self.ratio < settings.hard_clear_ratio:
            return "below_hard_clear_ratio"
        self.prunable = sum(row.pruner for _, row in eligible)
        if self.prunable < settings.min_prunable_tool_chars:
            return "too_little_to_clear"
        return self._hard_clear(eligible)

    def _soft_trim(self, cutoff: int) -> list[tuple[Spot, Row]]:
        chars = self.call.record.rules.pruning.cache_ttl.chars
        is_prunable = prunable_tools(self.settings.tools)
        trim = self.settings.soft_trim
        first, eligible = self.call.view.first_user, []
        for spot, row in list(self.call.view.results()):
            if not first < spot[0] < cutoff or not is_prunable((row.message or {}).get("toolName")):
                continue
            new = self.call.form(spot, row, trim, lambda m: soft_trimmed(m, trim, chars))
            if new is not row:
                self.trimmed += 1
                self.total += new.pruner - row.pruner
            eligible.append((spot, new))
        return eligible

    def _hard_clear(self, eligible: list[tuple[Spot, Row]]) -> str:
        placeholder = self.settings.hard_clear.placeholder
        for spot, row in eligible:
            if self.ratio < self.settings.hard_clear_ratio:
                return "cleared_enough"
            new = self.call.record.session.maker.form(
                row, ("clear", placeholder), lambda m: with_one_text(m, placeholder)
            )
            self.call.view.change(spot, row, new)
            self.cleared += 1
            self.total += new.pruner - row.pruner
        return "cleared_all"
