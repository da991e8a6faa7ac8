"""The stages before every model call, on sums (the counterpart of ``turn.calling``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.decision import Decision
from compaction_app.engine.pruning.compact_results import PLACEHOLDER, PLACEHOLDER_CHARS
from compaction_app.engine.pruning.guard import (
    OVERFLOW_TEXT,
    GuardLimits,
    guard_decision,
)
from compaction_app.engine.pruning.history_images import clean_message
from compaction_app.engine.pruning.soft_cut import cut_tool_result, with_text
from compaction_app.engine.routing import (
    MID_TURN_OVERFLOW_TEXT,
    TRANSCRIPT_SOURCE,
    PromptRoute,
    prompt_budget,
    route_estimate,
)
from compaction_app.engine.tape.cache_ttl import prune
from compaction_app.engine.tape.copying import reducible_chars, truncate_view
from compaction_app.engine.tape.row import Row
from compaction_app.engine.tape.tape import COUNT, LOOP, PRESSURE
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


def _guard(call: CallStages) -> None:
    setup, rules = call.record.setup, call.record.rules
    guard = rules.pruning.guard
    limits = call.record.session.guard_limits
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


_STAGES: Final[Mapping[str, Callable[[CallStages], None]]] = {
    "cache_ttl_pruning": prune,
    "soft_guard": _guard,
    "history_images": _images,
    "prompt_truncation": _truncate,
}
