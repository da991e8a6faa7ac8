"""Is a compaction to be made now, and which? Decided again by the job, under its lease."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from compaction_app.engine.compaction.run import CompactionRun
from compaction_app.engine.turn.compacting import CompactionAsk, first_request
from compaction_app.engine.turn.record import StageRecord
from compaction_app.engine.turn.requests import Compaction, Trigger
from compaction_app.engine.turn.setup import RunSetup
from compaction_app.engine.turn.work import TurnPrompt, TurnWork
from compaction_app.live_setup import LiveSetup
from compaction_app.live_state import LiveSession, load_live
from compaction_app.live_steps import Basis
from compaction_app.models import Decision
from compaction_app.next_step import NothingToSend, next_step
from compaction_app.run_memory import RunMemory, memory_of
from sessions_app.models import Entry, Session, Window
from sessions_app.writing import checked_messages

MANUAL = "manual"
BEFORE_TURN = "budget"
TRIGGERS: tuple[str, ...] = get_args(Trigger)


@dataclass(frozen=True, slots=True)
class Asked:
    """The compaction to make (none: ``refusal`` says why), as the session stood at ``head``.

    ``cycle`` is how many compactions there were, ``turn`` the number of the turn it belongs to, ``attempt``
    and ``call`` its place in it: before the turn's run, or before the next call of one that goes on;
    ``stages`` are the decisions that led to it, made on ``basis``. ``flush_first``: a flush is due, and
    goes before.
    """

    live: LiveSetup
    head: str | None
    entries: int
    cycle: int
    turn: int
    request: Compaction | None
    attempt: int = 0
    call: int = 1
    refusal: CompactionRun | None = None
    reason: str = ""
    stages: tuple[StageRecord, ...] = ()
    flush_first: bool = False
    basis: Basis | None = None


def compactions_of(window: Window) -> int:
    """How many compactions a window holds: the number of the cycle that is going on."""
    return Entry.objects.filter(window=window, type="compaction").count()


def asked(session: Session, arguments: Mapping[str, Any]) -> Asked:
    """Decide for the session as it is stored now.

    ``arguments``: ``trigger``; ``prompt``, the message that is about to be sent, where the compaction
    goes before a turn; ``instructions`` of a person; ``observed`` tokens of the context.
    """
    live = LiveSetup.of(session)
    loaded = load_live(session, live.setup.rules)
    trigger = str(arguments.get("trigger", MANUAL))
    turn, attempt, call = _place(session, memory_of(loaded.memory), trigger)
    basis = Basis.of(loaded, time.time_ns() // 1_000_000)
    base = Asked(
        live=live,
        head=loaded.head,
        entries=loaded.window.entry_count,
        cycle=compactions_of(loaded.window),
        turn=turn,
        request=None,
        attempt=attempt,
        call=call,
        basis=basis,
    )
    return replace(base, **decided(live.setup, loaded, basis, arguments))


def decided(
    setup: RunSetup, loaded: LiveSession, basis: Basis, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """What the rules say on that basis: the fields of :class:`Asked` that depend on it."""
    trigger = str(arguments.get("trigger", MANUAL))
    if trigger == BEFORE_TURN:
        return _before_turn(setup, loaded, basis, arguments.get("prompt"))
    work = TurnWork(setup, loaded.state, TurnPrompt({}, "", ""))
    ask = CompactionAsk(
        cast(Trigger, trigger), arguments.get("observed"), arguments.get("instructions") or None
    )
    found = first_request(work, ask, basis.now_ms)
    if isinstance(found, Compaction):
        return {"request": found}
    stages = work.finished("refused").stages
    return {"refusal": found, "reason": found.message or found.outcome, "stages": stages}


def _place(session: Session, memory: RunMemory, trigger: str) -> tuple[int, int, int]:
    """Turn, attempt and call that a compaction belongs to: a turn that goes on, the one that has just
    ended and made it due, else the next one."""
    if memory.is_open:
        return memory.turn, 1, len(memory.usages) + 1
    if trigger in (MANUAL, BEFORE_TURN) or not memory.turn:
        return memory.turn + 1, 0, 1
    made = Decision.objects.filter(session=session, reading=Decision.Reading.LIVE, turn=memory.turn)
    last = made.order_by("-id").values_list("attempt", "call").first()
    return memory.turn, *(last or (1, 1))


def _before_turn(
    setup: RunSetup, loaded: LiveSession, basis: Basis, prompt: Mapping[str, Any] | None
) -> dict[str, Any]:
    if prompt is not None:
        checked_messages([prompt])
    memory, head = memory_of(basis.memory), basis.head or None
    try:
        step = next_step(setup, loaded.state, memory, head, basis.now_ms, prompt)
    except NothingToSend:
        return {"reason": "The turn is over."}
    if step.action == "flush":
        return {"flush_first": True, "reason": "A memory flush goes first."}
    if step.action != "compact" or step.compaction is None:
        return {"reason": "It is not due any more."}
    return {"request": step.compaction, "stages": step.stages}
