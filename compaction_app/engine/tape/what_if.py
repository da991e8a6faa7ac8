"""The what-if of a recording on a tape, with the report that ``simulation.report`` gives of turns.

Equal to it in every figure, and faster by orders of magnitude: no context is put together. Where a
session compacts and no summary of its own is recorded, somebody has to read its texts: ``NeedsTexts``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compaction_app.engine.simulation.inputs import SimulationInputs
from compaction_app.engine.simulation.report import event_json, report_of
from compaction_app.engine.simulation.usage import ByDensity
from compaction_app.engine.tape.leap import Leap
from compaction_app.engine.tape.leap_calls import LeaptCalls
from compaction_app.engine.tape.recorded import recorded_rows
from compaction_app.engine.tape.row import RowMaker
from compaction_app.engine.tape.script import Script, script_of
from compaction_app.engine.tape.session import replay_session
from compaction_app.engine.tape.unusual import unusual
from compaction_app.engine.tape.work import NeedsTexts, ReplayedTurn, SentCall
from sessions_app.transcripts.usage import prompt_tokens

__all__ = ["NeedsTexts", "TapeWhatIf", "tape_report", "tape_what_if", "taped_turn"]


@dataclass(frozen=True, slots=True)
class TapeWhatIf:
    """Turns one by one where something could fire, and stretches of the others."""

    script: Script
    parts: Sequence[ReplayedTurn | Leap]


def tape_what_if(inputs: SimulationInputs, slow_turn: int | None = None) -> TapeWhatIf:
    """The whole session; the turn of number ``slow_turn`` stage by stage, and nothing after it.

    Raises:
        NeedsTexts: where a compaction needs a summary that was never recorded.
    """
    reason = unusual(inputs.recording, inputs.setup.rules)
    if reason is not None:
        raise NeedsTexts(reason)
    setup = inputs.setup
    maker = RowMaker(setup.rules, "prompt_truncation" in setup.order.call)
    rows = recorded_rows(inputs.recording, inputs.envelope, maker)
    if not isinstance(inputs.rule, ByDensity):
        raise NeedsTexts("the bills of calls are counted from their texts")
    script = script_of(rows, None)
    parts = replay_session(
        setup,
        rows,
        inputs.summaries,
        inputs.rule.density,
        header_bytes=inputs.header_bytes,
        own_policy=inputs.own_policy,
        script=script,
        slow_turn=slow_turn,
    )
    return TapeWhatIf(script, parts)


def taped_turn(inputs: SimulationInputs, number: int) -> ReplayedTurn:
    """One turn of the what-if, stage by stage; those before it as fast as they go.

    Raises:
        NeedsTexts: as ``tape_what_if``.
    """
    last = tape_what_if(inputs, slow_turn=number).parts[-1]
    assert isinstance(last, ReplayedTurn)
    return last


def tape_report(inputs: SimulationInputs, done: TapeWhatIf) -> dict[str, Any]:
    """As ``simulation.report.what_if_report``."""
    calls: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    blocked = 0
    for part in done.parts:
        if isinstance(part, Leap):
            calls += _leapt(done.script, part, len(calls))
            continue
        number, before = part.recorded.turn.number, len(calls)
        events += [event_json(number, before, event) for event in part.events]
        for call in part.calls:
            calls += _calls(done.script, number, before, call)
        blocked += part.outcome == "blocked"
    return report_of(inputs, len(inputs.recording.turns), blocked, calls, events)


def _calls(
    script: Script, turn: int, before: int, call: SentCall | LeaptCalls
) -> Iterator[dict[str, Any]]:
    if isinstance(call, LeaptCalls):
        for n, (prompt, messages) in enumerate(zip(call.prompt, call.messages, strict=True)):
            output = int(script.calls.output[call.first_call + n])
            yield _call(turn, before + call.number + n, "turn", int(prompt), output, int(messages))
        return
    usage = call.answer.usage if call.answer else None
    given = usage.output if usage else None
    made = _call(turn, before + call.number, call.run, prompt_tokens(usage), given, call.messages)
    yield {**made, "cutMessages": call.cut_messages}


def _leapt(script: Script, leap: Leap, before: int) -> Iterator[dict[str, Any]]:
    numbers = range(leap.first_call, leap.first_call + len(leap.prompt))
    for place, (call, prompt, messages) in enumerate(
        zip(numbers, leap.prompt, leap.messages, strict=True), before + 1
    ):
        turn, output = int(script.calls.turn[call]) + 1, int(script.calls.output[call])
        yield _call(turn, place, "turn", int(prompt), output, int(messages))


def _call(
    turn: int, call: int, run: str, prompt: float | None, output: float | None, messages: int
) -> dict[str, Any]:
    return {
        "turn": turn,
        "call": call,
        "run": run,
        "promptTokens": prompt,
        "outputTokens": output,
        "messages": messages,
        "cutMessages": 0,
    }
