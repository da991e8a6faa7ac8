"""The stages of an attempt but for its calls, on a tape (the counterpart of ``turn.attempt_stages``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from compaction_app.engine.inner_trigger import (
    RunState,
    check_inner_trigger,
)
from compaction_app.engine.pruning.cache_touch import CACHE_TTL_ENTRY, cache_touch_marker
from compaction_app.engine.routing import OVERFLOW_TEXT
from compaction_app.engine.tape.calling import (
    clean_view,
    judged_route,
)
from compaction_app.engine.tape.compacting import compact, truncate_session
from compaction_app.engine.tape.copying import truncate_view
from compaction_app.engine.tape.row import Row
from compaction_app.engine.tape.tape import CONTEXT
from compaction_app.engine.tape.view import View
from compaction_app.engine.turn.attempt_stages import AttemptEnd
from compaction_app.engine.turn.compacting import CompactionAsk
from compaction_app.engine.turn.record import EventKind

if TYPE_CHECKING:
    from compaction_app.engine.tape.attempt import ReplayAttempt


def check_prompt(attempt: ReplayAttempt) -> AttemptEnd | None:
    """The pre-prompt check, on an unpruned copy of the history (spec budgets 4.5)."""
    record = attempt.record
    if record.rules.routing is None:
        return None
    view = View(attempt.tape, attempt.base_end, attempt.told(), len(attempt.tape))
    view.preset(attempt.base_forms)
    truncate_view(record, view)
    route = judged_route(record, view, attempt.run.sent_text, attempt.run.system_chars)
    record.note("pre_prompt_check", route.decision)
    if route.route == "fits":
        return None
    estimate, budget = route.estimated_prompt_tokens, route.budget.prompt
    if route.route == "truncate_tool_results_only":
        record.fired("truncate", estimate, budget, route.route, route.decision)
        if truncate_session(record):
            attempt.run.results_cut = True
            return AttemptEnd("handled")
        return AttemptEnd("overflow", OVERFLOW_TEXT, "compact_only", checked=True)
    record.fired("guard", estimate, budget, route.route, route.decision)
    return AttemptEnd("overflow", OVERFLOW_TEXT, route.route, checked=True)


def trigger_before_prompt(attempt: ReplayAttempt) -> None:
    """The runtime's own trigger, on the last answer of the history."""
    tape = attempt.tape
    last = tape.answers.last_before(attempt.base_end)
    if last is not None and last >= tape.start:
        trigger(attempt, tape.row(last), skip_aborted=False)


def trigger(attempt: ReplayAttempt, answer: Row, *, skip_aborted: bool) -> bool:
    """Whether the runtime compacts by itself, and does it; true when the prompt is sent again."""
    setup, record = attempt.setup, attempt.record
    if attempt.run.kind == "flush" and setup.order.flush_first:
        return False
    line, around = setup.lines.named("inner_threshold"), setup.around
    boundary = attempt.tape.boundary
    message = answer.message or {}
    found = check_inner_trigger(
        setup.rules.inner_trigger,
        setup.rules.id,
        message,
        RunState(
            settings=replace(setup.lines.settings, enabled=line.active),
            model={"provider": around.provider, "id": around.model, "contextWindow": setup.lines.window},
            messages=_measured(attempt) if message.get("stopReason") == "error" else (message,),
            latest_compaction_ms=boundary.at_ms if boundary else None,
            overflow_attempted=attempt.overflow_attempted,
        ),
        skip_aborted=skip_aborted,
    )  # fmt: skip
    record.note("inner_trigger", found.decision)
    attempt.overflow_attempted = found.overflow_attempted
    if not found.compacts:
        return False
    kind: EventKind = "overflow_compaction" if found.retry else "threshold_compaction"
    made = compact(record, CompactionAsk("inner_overflow" if found.retry else "inner_threshold"))
    reason = made.outcome if made.message is None else made.message
    record.fired(kind, record.total_before, line.tokens, reason, found.decision)
    attempt.run.incomplete = made.decision.outcome == "incomplete"
    if made.outcome == "compacted":
        attempt.run.inner_compactions += 1
        attempt.compacted = True
        attempt.load()
    return found.retry and made.outcome == "compacted"


def _measured(attempt: ReplayAttempt) -> tuple[Mapping[str, Any], ...]:
    """Messages that weigh what those in memory do: the last one with a usage, and one for the rest."""
    tape = attempt.tape
    last = tape.billed.last_before(len(tape))
    news = tape.context[-1] - tape.context[attempt.news]
    brought = sum(row.context for row in attempt.fresh)
    if last is not None and last >= attempt.news:
        return (tape.row(last).message or {}, _filler(tape.context[-1] - tape.context[last + 1]))
    while last is not None and not _stands_alone(attempt, last):
        last = tape.billed.last_before(last)
    if last is None or last < tape.start:
        return (_filler(0),)
    between = tape.taken[CONTEXT][attempt.base_end] - tape.taken[CONTEXT][last + 1]
    between += sum(
        new.context - row.context
        for spot, (row, new) in attempt.base_forms.items()
        if spot[0] > last
    )
    return (tape.row(last).message or {}, _filler(between + brought + news))


def _stands_alone(attempt: ReplayAttempt, place: int) -> bool:
    """Whether the history shows this answer's own usage: of joined answers the last one's is shown."""
    tape = attempt.tape
    following = tape.answers.first_from(place + 1)
    joined = (
        following is not None
        and following < attempt.base_end
        and tape.group[following] == tape.group[place]
    )
    return place < attempt.base_end and not tape.rows[place].left_out and not joined


def _filler(tokens: int) -> Mapping[str, Any]:
    return {"role": "user", "content": "x" * (4 * tokens)}


def touch_cache(attempt: ReplayAttempt) -> None:
    """The marker that tells when the provider's cache was last used."""
    setup, session = attempt.setup, attempt.session
    touch = cache_touch_marker(
        setup.config,
        setup.around.provider,
        setup.around.model,
        setup.rules,
        session.clock_ms,
        eligible=setup.pruning_eligible,
        compacted=attempt.compacted,
    )
    attempt.record.note("cache_touch", touch.decision)
    if touch.data is not None:
        session.append_entry(
            {"type": "custom", "customType": CACHE_TTL_ENTRY, "data": dict(touch.data)}
        )
        session.touched_ms = session.clock_ms or session.touched_ms


def clean_images(attempt: ReplayAttempt) -> None:
    """Old images taken out of the history for good, where the version does so once an attempt."""
    view = attempt.base_view()
    clean_view(attempt.record, view)
    attempt.base_forms = {
        spot: (attempt.tape.rows[spot[0]], row) for spot, row in view.forms.items()
    }


BEFORE_PROMPT: Final[Mapping[str, Callable[[ReplayAttempt], AttemptEnd | None]]] = {
    "pre_prompt_check": check_prompt,
    "inner_trigger_before_prompt": trigger_before_prompt,
    "stored_history_images": clean_images,
}
ANSWERED: Final[Mapping[str, Callable[..., bool]]] = {"inner_trigger": trigger}
ENDED: Final[Mapping[str, Callable[[ReplayAttempt], None]]] = {"cache_touch": touch_cache}
