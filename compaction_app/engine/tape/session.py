"""A whole recording replayed turn by turn, exactly, without putting a context together.

The same stages in the same order as ``turn.turn``, with the same decisions and the same tokens, but on
running sums. Equal is what tests/engine/test_replay_equals_turn.py draws: transcripts as the runtime
writes them, whose results follow their calls and whose calls have ids of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from compaction_app.engine.tape.gate_constants import gate_constants
from compaction_app.engine.tape.leap import Leap, Leaper
from compaction_app.engine.tape.leap_calls import call_leaper
from compaction_app.engine.tape.leap_limits import leap_limits
from compaction_app.engine.tape.recorded import RecordedRows
from compaction_app.engine.tape.script import Script
from compaction_app.engine.tape.turn import replay_turn
from compaction_app.engine.tape.work import ReplayedTurn, SessionReplay
from compaction_app.engine.turn.requests import KnownSummary
from compaction_app.engine.turn.setup import RunSetup


def replay_session(
    setup: RunSetup,
    recorded: RecordedRows,
    summaries: Sequence[KnownSummary],
    density: float,
    *,
    header_bytes: int = 0,
    own_policy: bool = False,
    script: Script | None = None,
    slow_turn: int | None = None,
) -> list[ReplayedTurn | Leap]:
    """Every turn of a recording, each on what the turns before it left.

    ``summaries`` are taken in their order, the last one again and again; there must be one where the
    session compacts. ``density``: billed tokens per estimated one. ``own_policy``: the recorded bills
    hold wherever the context is the recorded one, also where a call is pruned. With a ``script`` quiet
    stretches are taken in leaps, but for the turn of number ``slow_turn``, which is the last one then.
    """
    session = SessionReplay(
        setup, recorded, iter(summaries), density, header_bytes, own_policy=own_policy
    )
    constants = gate_constants(setup)
    leaper = None
    if script is not None:
        limits = leap_limits(setup, constants)
        leaper = Leaper(session, script, limits)
        session.call_leaper = call_leaper(script, limits, setup)
    done: list[ReplayedTurn | Leap] = []
    turn, end = 0, len(recorded.turns) if slow_turn is None else slow_turn
    while turn < end:
        if turn + 1 == slow_turn:
            leaper = session.call_leaper = None
        leap = leaper.leap(turn, end if slow_turn is None else end - 1) if leaper else None
        if leap is None:
            done.append(replay_turn(session, recorded.turns[turn], constants))
            turn += 1
        else:
            done.append(leap)
            turn = leap.end
    return done
