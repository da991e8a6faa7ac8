"""The stages before every model call, on sums (the counterpart of ``turn.calling``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.decision import Decision
from compaction_app.engine.pruning.cache_ttl import CHARS_PER_TOKEN, why_wait
from compaction_app.engine.pruning.cache_ttl_decision import (
    PassFigures,
    idle_decision,
    pass_decision,
)
from compaction_app.engine.pruning.cache_ttl_settings import CacheTtlSettings
from compaction_app.engine.pruning.cache_ttl_trim import soft_trimmed, with_one_text
from compaction_app.engine.pruning.compact_results import PLACEHOLDER, PLACEHOLDER_CHARS
from compaction_app.engine.pruning.guard import (
    OVERFLOW_TEXT,
    GuardLimits,
    guard_decision,
    guard_limits,
    guard_window,
)
from compaction_app.engine.pruning.history_images import clean_message
from compaction_app.engine.pruning.soft_cut import cut_tool_result, with_text
from compaction_app.engine.pruning.tool_patterns import prunable_tools
from compaction_app.engine.routing import (
    MID_TURN_OVERFLOW_TEXT,
    TRANSCRIPT_SOURCE,
    PromptRoute,
    prompt_budget,
    route_estimate,
)
from compaction_app.engine.tape.cutting import row_cuts
from compaction_app.engine.tape.row import MALFORMED, Row
from compaction_app.engine.tape.tape import COUNT, LOOP, PRESSURE, PRUNER, RESULT
from compaction_app.engine.tape.view import Spot, View
from compaction_app.engine.tape.work import TurnRecord
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import tokens_of_chars
from sessions_app.tokens.pressure import MESSAGE_OVERHEAD, SAFETY_MARGIN, text_tokens


@dataclass(slots=True)
class CallStages:
    """One call on its way through the stages; as ``turn.calling.CallPreparation``."""

    record: TurnRecord
    view: View
    system_chars: int
    touched_ms: float | None
    fence: int | None
    pruned: bool = False
    error: str | None = None
    mid_turn: PromptRoute | None = None
    guard: Decision | None = None

    def run(self) -> None:
        """The stages of the order until one of them stops the call."""
        for stage in self.record.setup.order.call:
            _STAGES[stage](self)
            if self.error is not None:
                return

    def form(self, spot: Spot, row: Row, how: Any, change: Callable[[Any], Any]) -> Row:
        """A row in the form that a stage gives it for this call."""
        new = self.record.session.maker.form(row, how, change)
        if new is not row:
            self.view.change(spot, row, new)
        return new


def _prune(call: CallStages) -> None:
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


def _guard(call: CallStages) -> None:
    setup, rules = call.record.setup, call.record.rules
    guard = rules.pruning.guard
    window = guard_window(setup.lines.window, setup.lines.window, setup.policy.max_tokens, guard)
    limits = guard_limits(window, guard)
    before = call.view.totals()[LOOP]
    cut, last = _cut_singles(call, limits)
    total = call.view.totals()[LOOP]
    if setup.policy.mid_turn_precheck and rules.routing is not None and guard.checks_mid_turn:
        call.mid_turn, call.fence = _checked_mid_turn(call)
    error = MID_TURN_OVERFLOW_TEXT if call.mid_turn else None
    if error is None and total > limits.total_chars:
        if guard.too_large == "overflow":
            error = OVERFLOW_TEXT
        else:
            more = _compact_oldest(call, total - limits.total_chars)
            cut, last = cut + more, "context_over_limit" if more else last
    decision = guard_decision(limits, before, total, (cut, last), error, rules.id)
    call.record.note("soft_guard", decision)
    call.guard, call.error = decision, error


def _checked_mid_turn(call: CallStages) -> tuple[PromptRoute | None, int]:
    """The route that stops the call, if any, and what the next check starts from."""
    view = call.view
    length = view.totals()[COUNT]
    fence = length if call.fence is None else max(0, min(call.fence, length))
    last = max((spot[0] for spot, _ in view.results()), default=-1)
    if last >= 0 and view.index_of(last) >= fence:
        route = judged_route(call.record, view, "", call.system_chars)
        if route.route != "fits":
            return route, fence
    return None, length


def judged_route(record: TurnRecord, view: View, sent: str, system_chars: int) -> PromptRoute:
    """The route of a prompt behind a context."""
    setup, rules = record.setup, record.rules
    assert rules.routing is not None
    total = view.totals()[PRESSURE]
    if rules.routing.weighs_shape:
        if system_chars:
            total += MESSAGE_OVERHEAD + tokens_of_chars(system_chars)
        total += MESSAGE_OVERHEAD + text_tokens(sent)
    else:
        total += tokens_of_chars(js.utf16_len(sent))
    return route_estimate(
        rules.routing,
        rules.id,
        int(js.ceil(total * SAFETY_MARGIN)),
        TRANSCRIPT_SOURCE,
        reducible_chars(record, view),
        prompt_budget(setup.lines.window, setup.lines.check_budget.reserve),
    )


def _cut_singles(call: CallStages, limits: GuardLimits) -> tuple[int, str]:
    """How many results over the limit were cut, and why."""
    guard, limit = call.record.rules.pruning.guard, limits.single_chars
    if call.record.session.widest_result <= limit:
        return 0, ""
    over = [(spot, row) for spot, row in call.view.results() if row.loop > limit]
    for spot, row in over:
        call.form(spot, row, ("guard", limit), lambda m: cut_tool_result(m, limit, guard.cut))
    return len(over), "single_result_over_limit" if over else ""


def _compact_oldest(call: CallStages, needed: float) -> int:
    gained, count = 0, 0
    for spot, row in list(call.view.results()):
        if gained >= needed:
            break
        if row.loop <= PLACEHOLDER_CHARS:
            continue
        new = call.record.session.maker.form(row, "compacted", lambda m: with_text(m, PLACEHOLDER))
        call.view.change(spot, row, new)
        count += 1
        gained += max(0, row.loop - new.loop)
    return count


def _images(call: CallStages) -> None:
    clean_view(call.record, call.view)


def clean_view(record: TurnRecord, view: View) -> None:
    """Take old images out of a context."""
    rules, tape = record.rules.pruning.history_images, view.tape
    places = [
        *(p for p in tape.media.between(tape.start, view.base_end) if not tape.rows[p].left_out),
        *tape.media.between(view.news, len(tape)),
    ]
    end = _history_end(view, rules.keeps_turns) if places else 0
    for place in (p for p in places if p < end):
        row = view.forms.get((place, 0), tape.rows[place])
        new = record.session.maker.form(row, "images", lambda m: clean_message(m, rules))
        if new is not row:
            view.change((place, 0), row, new)


def _history_end(view: View, keeps: int | None) -> int:
    """The place before which images are taken out."""
    if keeps is None:
        return next(view.answers(), 0)
    starts: list[int] = []
    opened, answered = None, False
    for place, role in _roles(view):
        if role == "user" or (role == "toolResult" and opened is None):
            if opened is not None and answered:
                starts.append(opened)
            opened, answered = place, False
        elif role == "assistant" and opened is not None:
            answered = True
    if opened is not None and answered:
        starts.append(opened)
    return starts[-keeps] if len(starts) > keeps else 0


def _roles(view: View) -> list[tuple[int, str]]:
    tape = view.tape
    base = [
        (p, tape.rows[p].role)
        for p in range(tape.start, view.base_end)
        if not tape.rows[p].left_out
        and tape.rows[p].message is not None
        and (tape.group[p] == p or tape.group[p] < tape.start)
    ]
    brought = [(view.news - 1, row.role) for row in view.fresh]
    return base + brought + [(p, tape.rows[p].role) for p in range(view.news, len(tape))]


def _truncate(call: CallStages) -> None:
    """The copy that is sent, cut to the run's cap."""
    truncate_view(call.record, call.view)


def truncate_view(record: TurnRecord, view: View) -> None:
    """Cut the results of a context as the copy for a prompt is cut."""
    recovery, cap = record.rules.pruning.recovery, record.setup.tool_cap_chars
    if recovery.prompt_aggregate_caps is None:
        return
    budget = recovery.prompt_aggregate_caps * cap
    if not may_be_over(record, view, cap, budget):
        return
    results = list(view.results())
    window, rows = record.setup.lines.window, [row for _, row in results]
    for number, new in row_cuts(record.session.maker, rows, window, cap, budget).forms().items():
        spot, row = results[number]
        view.change(spot, row, new)


def reducible_chars(record: TurnRecord, view: View) -> int:
    """What cutting the results of a context to the run's cap would save."""
    cap = record.setup.tool_cap_chars
    if not may_be_over(record, view, cap, cap):
        return 0
    rows = [row for _, row in view.results()]
    return row_cuts(record.session.maker, rows, record.setup.lines.window, cap, cap).saved


def may_be_over(record: TurnRecord, view: View, single: float, budget: float) -> bool:
    """Whether a result, or all of a context's together, can be longer than these limits."""
    least = record.rules.pruning.recovery.least_cap_chars
    longest = max((row.result for row in view.forms.values()), default=0)
    longest = max(longest, record.session.longest_result)
    return longest > js.maximum(least, single) or view.totals()[RESULT] > js.maximum(least, budget)


_STAGES: Final[Mapping[str, Callable[[CallStages], None]]] = {
    "cache_ttl_pruning": _prune,
    "soft_guard": _guard,
    "history_images": _images,
    "prompt_truncation": _truncate,
}
