"""Where the stages of a policy act, for a replay that leaps over everything before that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compaction_app.engine.flush import flush_line
from compaction_app.engine.flush_plan import FlushSettings, flush_settings
from compaction_app.engine.flush_run import READ_BUFFER_TOKENS
from compaction_app.engine.preflight import PreflightSituation
from compaction_app.engine.pruning.guard import guard_limits, guard_window
from compaction_app.engine.tape.gate_constants import GateConstants
from compaction_app.engine.turn.setup import RunSetup
from sessions_app.tokens.message_tokens import tokens_of_chars
from sessions_app.tokens.pressure import MESSAGE_OVERHEAD


@dataclass(frozen=True, slots=True)
class LeapLimits:
    """Where the stages of a policy act; infinite where they do not."""

    preflight: float
    needs_total: bool
    flush: FlushSettings | None
    flush_line: float
    flush_near: float
    max_bytes: float
    check: float
    system: int
    inner: float
    single: float
    whole: float
    stored: float
    copy: float
    images: bool
    leaps: bool
    checks_mid_turn: bool


def leap_limits(setup: RunSetup, constants: GateConstants) -> LeapLimits:
    rules, order, lines = setup.rules, setup.order, setup.lines
    window = lines.flush_window.tokens or 0
    gates = not constants.is_cli_provider
    preflight = rules.preflight if "preflight" in order.turn and gates else None
    plan = flush_settings(setup.config, rules.flush_plan, window) if "flush" in order.turn else None
    if not (gates and constants.can_write_workspace):
        plan = None
    situation = PreflightSituation(
        entry=None,
        window=window,
        reserve_floor=lines.floor,
        soft_threshold=lines.soft,
        server_threshold=constants.server_threshold,
    )
    own_line = flush_line(window, lines.floor, lines.soft)
    near = window - lines.floor - lines.soft
    guard = rules.pruning.guard
    limits = guard_limits(
        guard_window(lines.window, lines.window, setup.policy.max_tokens, guard), guard
    )
    calls = set(order.call)
    copies = rules.pruning.recovery.prompt_aggregate_caps
    checks = rules.routing is not None and "pre_prompt_check" in order.attempt
    chars = setup.system.chars
    shaped = rules.routing is not None and rules.routing.weighs_shape
    inner = lines.named("inner_threshold")
    prunes = setup.pruning is not None and setup.pruning_eligible and "cache_ttl_pruning" in calls
    mid_turn = setup.policy.mid_turn_precheck and rules.routing is not None
    sizes = preflight is not None and preflight.reads_size
    return LeapLimits(
        preflight=_or_inf(
            preflight.line(situation).tokens
            if preflight is not None and not preflight.total_is_enough
            else 0
        ),
        needs_total=preflight is not None or plan is not None,
        flush=plan,
        flush_line=_or_inf(own_line.tokens),
        flush_near=near - READ_BUFFER_TOKENS if near > 0 else np.inf,
        max_bytes=constants.max_active_bytes if sizes and constants.max_active_bytes is not None else np.inf,
        check=lines.check_budget.prompt if checks else np.inf,
        system=MESSAGE_OVERHEAD + tokens_of_chars(chars) if shaped and chars else 0,
        inner=lines.window - lines.settings.reserve_tokens
        if inner.active and lines.settings.enabled and order.answered
        else np.inf,
        single=limits.single_chars if "soft_guard" in calls else np.inf,
        whole=limits.total_chars if "soft_guard" in calls else np.inf,
        stored=min(setup.stored_cap_chars, setup.tool_cap_chars),
        copy=copies * setup.tool_cap_chars if copies is not None and order.call else np.inf,
        images=bool(order.call),
        leaps=not prunes and not mid_turn,
        checks_mid_turn=mid_turn,
    )  # fmt: skip


def _or_inf(line: float) -> float:
    return line if line > 0 else np.inf
