"""Is a memory flush to be made now, and with which texts? Decided again by the job, under its lease."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from compaction_app import live_turns
from compaction_app.compaction_asks import MANUAL
from compaction_app.engine.flush import MEMORY_FLUSH
from compaction_app.engine.flush_plan import FlushPlan, flush_plan
from compaction_app.engine.flush_run import FlushSituation
from compaction_app.engine.flush_turn import FlushTurn, flush_turn
from compaction_app.engine.run_conditions import can_write_workspace, is_cli_provider
from compaction_app.engine.turn.gates import run_flush
from compaction_app.engine.turn.record import StageRecord
from compaction_app.engine.turn.requests import Compaction, Context, ModelCall, Moment, NoSummary
from compaction_app.engine.turn.work import TurnPrompt, TurnWork
from compaction_app.live_setup import LiveSetup
from compaction_app.live_state import LiveSession, load_live
from compaction_app.live_steps import Basis
from compaction_app.next_step import NothingToSend
from compaction_app.run_memory import memory_of
from sessions_app.models import Session
from sessions_app.transcripts.session_index import compaction_count, was_flushed_in_cycle

OVER = "turn_is_over"
BLOCKED = "flush_prompt_does_not_fit"


@dataclass(frozen=True, slots=True)
class FlushAsked:
    """The flush to make, as the session stood at ``head``; none without a ``context``, and then
    ``reason`` says why in a code. ``cycle`` is the count of compactions before, ``turn`` the turn it
    belongs to, ``stages`` are the decisions that led to it, made on ``basis`` for ``prompt``.
    """

    live: LiveSetup
    head: str | None
    cycle: int
    turn: int
    reason: str = ""
    plan: FlushPlan | None = None
    texts: FlushTurn | None = None
    context: Context | None = None
    stages: tuple[StageRecord, ...] = ()
    basis: Basis | None = None
    prompt: Mapping[str, Any] | None = None

    @property
    def system_prompt(self) -> str:
        """The whole system prompt of the flush turn, "" without a turn."""
        if self.texts is None:
            return ""
        parts = (self.live.system.text, self.texts.extra_system, self.texts.system_end)
        return "\n\n".join(part for part in parts if part)


def asked_flush(session: Session, trigger: str, prompt: Mapping[str, Any] | None) -> FlushAsked:
    """Decide for the session as it is stored now: a manual flush needs no line to be crossed, but one
    that was made in this cycle is not made again."""
    live = LiveSetup.of(session)
    loaded = load_live(session, live.setup.rules)
    memory = memory_of(loaded.memory)
    plan = flush_plan(live.setup.config, _now_ms(), live.setup.rules.flush_plan)
    base = FlushAsked(
        live=live,
        head=loaded.head,
        cycle=int(compaction_count(loaded.memory.index)),
        turn=memory.turn + (not memory.is_open),
        plan=plan,
        texts=flush_turn(plan, live.setup.rules.flush_plan) if plan else None,
    )
    if trigger == MANUAL:
        return _by_hand(base, loaded)
    try:
        prepared = live_turns.prepare(session, prompt)
    except NothingToSend:
        return replace(base, reason=OVER)
    step, base = prepared.next, replace(base, basis=prepared.basis, prompt=prompt)
    said = [s.decision for s in step.stages if s.decision.rule == MEMORY_FLUSH]
    reason = said[-1].reason if said else "not_due"
    if step.action != "flush" or plan is None:
        return replace(base, reason=reason, stages=step.stages)
    return replace(base, reason=reason, context=step.context, stages=step.stages)


def _by_hand(base: FlushAsked, loaded: LiveSession) -> FlushAsked:
    setup = base.live.setup
    situation = FlushSituation(
        plan=base.plan,
        entry=loaded.memory.index,
        window=setup.lines.flush_window.tokens or 0,
        is_cli_provider=is_cli_provider(setup.config, setup.around.provider),
        can_write_workspace=can_write_workspace(setup.config),
    )
    refused = situation.skip_reason()
    if refused is None and was_flushed_in_cycle(loaded.memory.index):
        refused = "already_flushed_in_cycle"
    if refused is not None or base.plan is None:
        return replace(base, reason=refused or "no_flush_plan")
    work = TurnWork(setup, loaded.state, TurnPrompt({}, "", ""))
    context = _first_call(work, base.plan)
    return replace(base, reason=BLOCKED if context is None else "asked_for", context=context)


def _first_call(work: TurnWork, plan: FlushPlan) -> Context | None:
    """What the flush turn sends first; none when it does not fit and nothing makes it fit."""
    steps = run_flush(work, plan)
    answer: Any = None
    try:
        while True:
            request = steps.send(answer)
            if isinstance(request, ModelCall):
                return request.context
            if isinstance(request, Compaction):
                answer = NoSummary("left_to_job", "left to a job")
            else:
                assert isinstance(request, Moment)
                answer = _now_ms()
    except StopIteration:
        return None


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
