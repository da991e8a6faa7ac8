"""The stages before every model call, each on what the one before left (spec pruning 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from compaction_app.engine.decision import Decision
from compaction_app.engine.pruning.cache_ttl import prune_call
from compaction_app.engine.pruning.change import Change
from compaction_app.engine.pruning.guard import MidTurnCheck, guard_context, guard_window
from compaction_app.engine.pruning.history_images import prune_history_images
from compaction_app.engine.pruning.projecting import LATER_CALL, project_prompt, project_pruning
from compaction_app.engine.pruning.projection import ProjectionState
from compaction_app.engine.pruning.recovery import truncate_for_prompt
from compaction_app.engine.routing import PromptRoute
from compaction_app.engine.turn.work import TurnWork
from sessions_app.transcripts.session_context import llm_messages

Message = Mapping[str, Any]


@dataclass(slots=True)
class CallPreparation:
    """The context of one call on its way through the stages.

    ``touched_ms``, ``fence`` and the ``projection`` of tool results are what the attempt remembers from
    call to call; ``is_first`` whether it is the attempt's
    first; ``error`` stops the call, ``mid_turn`` names the route that did, ``guard`` is the soft guard's decision.
    """

    work: TurnWork
    messages: list[Message]
    now_ms: float
    system_text: str
    touched_ms: float | None
    fence: int | None
    projection: ProjectionState = field(default_factory=ProjectionState)
    is_first: bool = True
    changes: list[Change] = field(default_factory=list)
    pruned: bool = False
    error: str | None = None
    mid_turn: PromptRoute | None = None
    guard: Decision | None = None


def prepare_call(call: CallPreparation) -> None:
    """Run the stages of the order until one of them stops the call, then word what is sent."""
    for stage in call.work.setup.order.call:
        _STAGES[stage](call)
        if call.error is not None:
            return


def _prune(call: CallPreparation) -> None:
    setup = call.work.setup
    pruned = prune_call(
        call.messages,
        setup.pruning,
        setup.rules,
        now_ms=call.now_ms,
        touched_at_ms=call.touched_ms,
        window_tokens=setup.lines.window,
        eligible=setup.pruning_eligible,
    )
    call.work.note("cache_ttl_pruning", pruned.decision)
    call.touched_ms = pruned.touched_at_ms
    call.pruned = bool(pruned.changes)
    call.messages = list(pruned.messages)
    call.changes += pruned.changes


def _remembered(call: CallPreparation) -> None:
    """Plain cuts and pruning, both from the results as they are stored; a round begins a run only."""
    setup = call.work.setup
    cut = project_prompt(
        call.messages,
        call.projection,
        setup.rules,
        window_tokens=setup.lines.window,
        single_cap_chars=setup.tool_cap_chars,
        settings=setup.pruning,
    )
    shown = project_pruning(
        call.messages,
        cut.state,
        setup.pruning,
        setup.rules,
        now_ms=call.now_ms,
        touched_at_ms=call.touched_ms,
        window_tokens=setup.lines.window,
        new_rounds=call.is_first,
        eligible=setup.pruning_eligible,
        why_none=LATER_CALL,
    )
    if shown.decision is not None:
        call.work.note("cache_ttl_pruning", shown.decision)
    forms = shown.state.replacements.values()
    call.pruned = bool(shown.changes) and any(form.mode != "none" for form in forms)
    call.touched_ms, call.projection = shown.touched_at_ms, shown.state
    call.messages = list(shown.messages)
    call.changes += shown.changes


def _guard(call: CallPreparation) -> None:
    setup = call.work.setup
    guard = setup.rules.pruning.guard
    window = guard_window(setup.lines.window, setup.lines.window, setup.policy.max_tokens, guard)
    check = None
    if setup.policy.mid_turn_precheck and setup.rules.routing is not None:
        check = MidTurnCheck(
            context_tokens=setup.lines.window,
            reserve_tokens=setup.lines.check_budget.reserve,
            tool_result_max_chars=setup.tool_cap_chars,
            system=call.system_text,
            fence=call.fence,
        )
    guarded = guard_context(call.messages, window, setup.rules, mid_turn=check)
    call.work.note("soft_guard", guarded.decision)
    call.guard = guarded.decision
    call.messages = list(guarded.messages)
    call.changes += guarded.changes
    call.error, call.mid_turn, call.fence = guarded.error, guarded.mid_turn, guarded.fence


def _images(call: CallPreparation) -> None:
    clean = prune_history_images(call.messages, call.work.rules.pruning.history_images)
    call.messages = list(clean.messages)
    call.changes += clean.changes


def _truncate(call: CallPreparation) -> None:
    setup = call.work.setup
    cut = truncate_for_prompt(
        llm_messages(call.messages),
        setup.lines.window,
        setup.rules.pruning.recovery,
        setup.tool_cap_chars,
    )
    call.messages = list(cut.messages)
    call.changes += cut.changes


_STAGES: Final[Mapping[str, Callable[[CallPreparation], None]]] = {
    "cache_ttl_pruning": _prune,
    "remembered_results": _remembered,
    "soft_guard": _guard,
    "history_images": _images,
    "prompt_truncation": _truncate,
}
