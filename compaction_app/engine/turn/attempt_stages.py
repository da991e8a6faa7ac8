"""The stages of an attempt: the check before the prompt, the runtime's own trigger, the cache marker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from compaction_app.engine.inner_trigger import (
    RunState,
    check_inner_trigger,
    latest_compaction_ms,
)
from compaction_app.engine.pruning.cache_touch import CACHE_TTL_ENTRY, cache_touch_marker
from compaction_app.engine.pruning.history_images import prune_history_images
from compaction_app.engine.pruning.projecting import without_lost
from compaction_app.engine.pruning.recovery import truncate_for_prompt
from compaction_app.engine.routing import OVERFLOW_TEXT, Prompt, route_prompt
from compaction_app.engine.turn.compacting import CompactionAsk, compact, truncate_session
from compaction_app.engine.turn.live_size import stand_in
from compaction_app.engine.turn.record import EventKind
from compaction_app.engine.turn.requests import Moment, Steps
from sessions_app.tokens.pressure import tool_schema_chars_pressure

if TYPE_CHECKING:
    from compaction_app.engine.turn.attempt import Attempt

Message = Mapping[str, Any]
EndKind = Literal["answered", "unanswered", "handled", "overflow"]


@dataclass(frozen=True, slots=True)
class AttemptEnd:
    """How an attempt ended.

    ``handled``: the session was cut and the prompt is tried again. ``overflow`` with its ``error``:
    recovery decides. ``checked``: the pre-prompt check said so; ``route`` what it wants.
    ``compacted``: the attempt compacted by itself.
    """

    kind: EndKind
    error: str | None = None
    route: str | None = None
    checked: bool = False
    compacted: bool = False


def check_prompt(attempt: Attempt) -> Steps[AttemptEnd | None]:
    """The pre-prompt check, on an unpruned copy of the history (spec budgets 4.5)."""
    setup, work = attempt.work.setup, attempt.work
    if setup.rules.routing is None:
        return None
    history = [*attempt.base, *attempt.since[1:]]
    copy = truncate_for_prompt(
        history, setup.lines.window, setup.rules.pruning.recovery, setup.tool_cap_chars
    )
    route = route_prompt(
        setup.rules.routing,
        setup.rules.pruning.recovery,
        setup.rules.id,
        Prompt(
            [*copy.messages, *attempt.told()],
            attempt.run.sent,
            stand_in(attempt.run.system_chars),
            tool_schema_tokens=tool_tokens(attempt),
        ),
        setup.lines.window,
        setup.lines.check_budget.reserve,
        setup.tool_cap_chars,
    )
    work.note("pre_prompt_check", route.decision)
    if route.route == "fits":
        return None
    estimate, budget = route.estimated_prompt_tokens, route.budget.prompt
    if not setup.rules.routing.blocks:
        work.fired("guard", estimate, budget, route.route, route.decision)
        return None
    if route.route == "truncate_tool_results_only":
        work.fired("truncate", estimate, budget, route.route, route.decision)
        rewritten = yield from truncate_session(work)
        if rewritten.truncated:
            attempt.run.results_cut = True
            return AttemptEnd("handled")
        return AttemptEnd("overflow", OVERFLOW_TEXT, "compact_only", checked=True)
    work.fired("guard", estimate, budget, route.route, route.decision)
    return AttemptEnd("overflow", OVERFLOW_TEXT, route.route, checked=True)


def tool_tokens(attempt: Attempt) -> int:
    """What the schemas of the run's tools cost, where the version counts them."""
    system = attempt.work.setup.system
    chars = system.flush_tool_chars if attempt.run.kind == "flush" else system.tool_chars
    if not attempt.work.rules.turn.counts_tools or not chars:
        return 0
    return tool_schema_chars_pressure(chars)


def trigger_before_prompt(attempt: Attempt) -> Steps[AttemptEnd | None]:
    """The runtime's own trigger, on the last answer of the history."""
    last = next((m for m in reversed(attempt.base) if m.get("role") == "assistant"), None)
    if last is not None:
        yield from trigger(attempt, last, skip_aborted=False)
    return None


def trigger(attempt: Attempt, answer: Message, *, skip_aborted: bool = True) -> Steps[bool]:
    """Whether the runtime compacts by itself, and does it; true when the prompt is sent again."""
    setup, work = attempt.work.setup, attempt.work
    if attempt.run.kind == "flush" and setup.order.flush_first:
        return False
    line = setup.lines.named("inner_threshold")
    around = setup.around
    found = check_inner_trigger(
        setup.rules.inner_trigger,
        setup.rules.id,
        answer,
        RunState(
            settings=replace(setup.lines.settings, enabled=line.active),
            model={
                "provider": around.provider,
                "id": around.model,
                "contextWindow": setup.lines.window,
            },
            messages=(*attempt.base, *attempt.news),
            latest_compaction_ms=latest_compaction_ms(work.state.branch),
            overflow_attempted=attempt.overflow_attempted,
        ),
        skip_aborted=skip_aborted,
    )
    work.note("inner_trigger", found.decision)
    attempt.overflow_attempted = found.overflow_attempted
    if not found.compacts:
        return False
    kind: EventKind = "overflow_compaction" if found.retry else "threshold_compaction"
    ask = CompactionAsk("inner_overflow" if found.retry else "inner_threshold")
    made = yield from compact(work, ask)
    reason = made.outcome if made.message is None else made.message
    work.fired(kind, work.total_before, line.tokens, reason, found.decision)
    attempt.run.incomplete = made.decision.outcome == "incomplete"
    if made.outcome == "compacted":
        attempt.run.inner_compactions += 1
        attempt.compacted = True
        yield from attempt.load()
        attempt.projection = without_lost(attempt.projection, attempt.base)
        attempt.news = list(attempt.since)
    return found.retry and made.outcome == "compacted"


def touch_cache(attempt: Attempt) -> Steps[None]:
    """The marker that tells when the provider's cache was last used."""
    setup = attempt.work.setup
    now = yield Moment("entry")
    touch = cache_touch_marker(
        setup.config,
        setup.around.provider,
        setup.around.model,
        setup.rules,
        now,
        eligible=setup.pruning_eligible,
        compacted=attempt.compacted,
    )
    attempt.work.note("cache_touch", touch.decision)
    if touch.data is not None:
        kind = {"type": "custom", "customType": CACHE_TTL_ENTRY, "data": dict(touch.data)}
        yield from attempt.work.append(kind)


def clean_images(attempt: Attempt) -> Steps[AttemptEnd | None]:
    """Old images taken out of the history for good, where the version does so once an attempt."""
    yield from ()
    clean = prune_history_images(attempt.base, attempt.work.rules.pruning.history_images)
    attempt.base = list(clean.messages)
    return None


BEFORE_PROMPT: Final[Mapping[str, Callable[[Attempt], Steps[AttemptEnd | None]]]] = {
    "pre_prompt_check": check_prompt,
    "inner_trigger_before_prompt": trigger_before_prompt,
    "stored_history_images": clean_images,
}
ANSWERED: Final[Mapping[str, Callable[[Attempt, Message], Steps[bool]]]] = {
    "inner_trigger": trigger,
}
ENDED: Final[Mapping[str, Callable[[Attempt], Steps[None]]]] = {
    "cache_touch": touch_cache,
}
