"""The lines a session is judged by: where each mechanism acts, in which unit, and whether it acts.

Every number on a chart, in an answer and in a finding that names a line comes from here. Lines of
different units are never compared as they are: the memory flush and preflight judge billed prompt
tokens, the inner threshold billed totals with the answer, the pre-prompt check an estimate times 1.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from compaction_app.engine import compaction_mode
from compaction_app.engine.budget import CompactionSettings, apply_settings
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.flush import flush_line
from compaction_app.engine.flush_plan import FlushSettings, flush_settings
from compaction_app.engine.policy import Policy
from compaction_app.engine.policy_config import config_with_policy
from compaction_app.engine.preflight import subtracts_soft
from compaction_app.engine.routing import Budget, prompt_budget
from compaction_app.engine.run_conditions import can_write_workspace, is_cli_provider
from compaction_app.engine.run_window import resolve_run_window
from compaction_app.engine.window import WindowRequest, WindowResolution
from compaction_app.engine.window_cache import build_cache
from compaction_app.engine.window_guard import GuardedWindow, GuardVerdict, guard_window
from sessions_app.tokens import javascript as js

LineName = Literal["window", "flush", "preflight", "pre_prompt", "inner_threshold"]
LineUnit = Literal["billed prompt tokens", "billed total tokens", "estimated tokens", "tokens"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line. ``tokens`` is 0 or less where no line can be crossed; ``reason`` is a stable code."""

    name: LineName
    title: str
    tokens: int
    unit: LineUnit
    active: bool
    reason: str
    steps: tuple[Step, ...]

    @property
    def at(self) -> str:
        """Where it stands, in words: an acting line at 0 or below is passed by the first token."""
        if self.tokens > 0:
            return f"{self.tokens:,}"
        return "the first token" if self.active else "nowhere"

    def distance(self, billed: int | None) -> int | None:
        """Tokens from a billed total to the line, negative behind it; none where the total is not
        known, or the line judges something else."""
        return self.tokens - billed if billed is not None and "billed" in self.unit else None


@dataclass(frozen=True, slots=True)
class Lines:
    """All lines of a policy in its circumstances, and what they were computed from.

    ``flush_window`` and ``run_window`` are the two windows at work: flush and preflight ask one chain,
    runs another; ``reply_window`` is the third, which status pages and the reply's budget ask.
    ``settings`` are those of the compaction run, ``check_reserve`` the reserve of the
    pre-prompt check. ``flush_plan`` is none when the memory flush is off.
    """

    lines: tuple[Line, ...]
    flush_window: WindowResolution
    run_window: WindowResolution
    reply_window: WindowResolution
    guard: GuardVerdict
    mode: compaction_mode.Mode
    settings: CompactionSettings
    settings_decision: Decision
    check_budget: Budget
    flush_plan: FlushSettings | None
    floor: int
    soft: int

    def named(self, name: LineName) -> Line:
        return next(line for line in self.lines if line.name == name)

    @property
    def window(self) -> int:
        """The window of a run, tokens."""
        return int(self.run_window.tokens or 0)

    def fill(self, tokens: int | None) -> float | None:
        """Tokens as a share of the window of a run."""
        return tokens / self.window if tokens is not None and self.window else None


CHAT_ONLY: Final = "path_runs_no_gates"


def lines_of(policy: Policy, around: Circumstances) -> Lines:
    """Where everything acts under this policy.

    The compaction mode is the one of the running gateway: unset is default (runs 3.1). In safeguard
    mode the pre-prompt check starts from the runtime's own reserve (runs 3.2).
    """
    rules = around.rules
    config = config_with_policy(
        policy, around.provider, around.model, around.config, rules.config.unread_settings
    )
    flush_window, run_window, reply_window = _windows(policy, around, config)
    window = int(run_window.tokens or 0)
    mode = compaction_mode.effective_mode(config)
    applied = apply_settings(rules.budget, rules.id, config, window)
    switch = compaction_mode.inner_trigger_switch(
        rules.compaction_mode,
        rules.id,
        engine_owns_compaction=around.owns_compaction,
        mode=mode,
        silent_overflow=compaction_mode.overflows_silently(around.provider, around.model, None),
    )
    reserve = compaction_mode.prompt_reserve_source(
        CompactionSettings(),
        applied.settings,
        safeguard_switched_off=switch.reason == "safeguard_mode"
        and rules.compaction_mode.safeguard_drops_overrides,
    )
    budget = prompt_budget(window, reserve, rules.routing.reserve_share if rules.routing else None)
    asked = flush_window.tokens or 0
    plan = flush_settings(config, rules.flush_plan, asked)
    floor, soft = rules.flush_plan.reserve(config, asked), rules.flush_plan.soft(config, asked)
    gate = flush_line(asked, floor, soft)
    ahead = gate if subtracts_soft(rules.preflight) else flush_line(asked, floor, 0)
    source = Step("contextWindow", flush_window.source or "", gate.window)
    settled = applied.settings
    inner = window - settled.reserve_tokens
    lines = (
        _line("window", "window", window, "tokens", "", ()),
        _line(
            "flush", "flush line", gate.tokens, "billed prompt tokens",
            _flush_off(config, around, plan is None, gate.tokens), (source, gate.step()),
        ),
        _line(
            "preflight", "preflight line", ahead.tokens, "billed prompt tokens",
            _preflight_off(config, around, ahead.tokens), (source, ahead.step()),
        ),
        _line(
            "pre_prompt", "pre-prompt line", budget.prompt, "estimated tokens",
            _check_off(around),
            (
                Step("reserveTokens", "reserve of the check", reserve),
                Step("effectiveReserve", "min(reserve, contextWindow - minPrompt)", budget.effective_reserve),
                Step("promptBudget", "contextWindow - effectiveReserve", budget.prompt),
            ),
        ),
        _line(
            "inner_threshold", "inner threshold", inner, "billed total tokens",
            _inner_off(around, switch, enabled=settled.enabled),
            (*applied.decision.steps, Step("threshold", "contextWindow - reserveTokens", inner)),
        ),
    )  # fmt: skip
    guarded = GuardedWindow(window, run_window.source or "default", run_window.reference_tokens)
    return Lines(
        lines=lines,
        flush_window=flush_window,
        run_window=run_window,
        reply_window=reply_window,
        guard=guard_window(rules.window_guard, rules.id, guarded),
        mode=mode,
        settings=settled,
        settings_decision=applied.decision,
        check_budget=budget,
        flush_plan=plan,
        floor=floor,
        soft=soft,
    )


def _windows(
    policy: Policy, around: Circumstances, config: dict[str, object]
) -> tuple[WindowResolution, WindowResolution, WindowResolution]:
    rules = around.rules
    cache = build_cache(rules.window_cache, config.get("models"), ())
    request = WindowRequest(config, around.model or "model", around.provider or "provider")
    flush = rules.purpose_window.flush(rules.window_chain, cache, request, policy.context_tokens)
    run = resolve_run_window(
        rules.run_window, config, around.provider or "provider", around.model or "model", {}
    )
    reply = rules.purpose_window.reply(rules.window_chain, cache, request, policy.context_tokens)
    return flush, run, reply


def _line(
    name: LineName,
    title: str,
    tokens: float,
    unit: LineUnit,
    off_reason: str,
    steps: tuple[Step, ...],
) -> Line:
    whole = int(js.floor(tokens))
    return Line(name, title, whole, unit, not off_reason, off_reason or "active", steps)


def _flush_off(config: object, around: Circumstances, no_plan: bool, line: float) -> str:
    if no_plan and around.path == "chat":
        return "memory_flush_disabled"
    if not can_write_workspace(config):
        return "workspace_not_writable"
    return _gates_off(config, around, line)


def _preflight_off(config: object, around: Circumstances, line: float) -> str:
    if around.rules.preflight is None:
        return "version_has_no_preflight"
    if around.rules.preflight.total_is_enough:
        return "total_is_known"
    return _gates_off(config, around, line)


def _gates_off(config: object, around: Circumstances, line: float) -> str:
    if around.path == "cli" or is_cli_provider(config, around.provider):
        return "cli_backend"
    if around.path != "chat":
        return CHAT_ONLY
    return "" if line > 0 else "window_too_small_for_flush"


def _inner_off(around: Circumstances, switch: Decision, *, enabled: bool) -> str:
    if around.path == "cli":
        return "cli_backend"
    if switch.fired:
        return switch.reason
    return "" if enabled else "compaction_disabled"


def _check_off(around: Circumstances) -> str:
    if around.path == "cli":
        return "cli_backend"
    if around.rules.routing is None:
        return "version_has_no_precheck"
    return "" if around.rules.routing.blocks else "check_only_reports"
