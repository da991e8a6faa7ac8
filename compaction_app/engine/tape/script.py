"""A recording as arrays, laid out as its turns would append it if nothing ever happened.

Made once for all policies: a stretch of turns in which nothing fires is then a difference of two
running sums, and is appended to a tape by copying.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compaction_app.engine.flush_run import prompt_estimate
from compaction_app.engine.tape.recorded import CallRows, RecordedRows, TurnRows
from compaction_app.engine.tape.row import Row, RowMaker
from compaction_app.engine.tape.tape import COLUMNS, FIELDS, PLACES, Tape, numbers_of
from compaction_app.engine.turn.runtime_event import judged_text
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import tokens_of_chars, usage_tokens
from sessions_app.tokens.pressure import MESSAGE_OVERHEAD, text_tokens

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]
Flags = NDArray[np.bool_]
NEVER = -(1 << 60)
PLAIN_STOPS = (None, "stop", "toolUse")


@dataclass(frozen=True, slots=True)
class ScriptTurns:
    """Per turn: its rows, its calls, what the gates and the check read of its prompt. ``plain``: calls
    that answer one after the other, the last one without tools, all with a bill."""

    first: Ints
    gate: Ints
    prompt: Ints
    end: Ints
    first_call: Ints
    last_call: Ints
    plain: NDArray[np.bool_]
    estimate: Ints
    has_estimate: NDArray[np.bool_]
    sent: Ints
    sent_pressure: Ints
    arrived_ms: Ints
    latest_ms: Ints
    longest: Ints
    widest: Ints


@dataclass(frozen=True, slots=True)
class ScriptCalls:
    """Per call of plain turns, in order; ``at_ms`` is the time of the call within its turn."""

    turn: Ints
    row: Ints
    billed: Ints
    output: Ints
    total: Ints
    context: Ints
    summary: Keys
    said: Keys
    at_ms: Ints
    bill_bytes: Ints
    plain: Flags
    longest: Ints
    widest: Ints


@dataclass(frozen=True, slots=True)
class Script:
    """``tape`` holds all rows as if nothing had happened; the arrays are its running sums."""

    rows: list[Row]
    tape: Tape
    taken: Ints
    whole: Ints
    columns: dict[str, Ints]
    hash: Keys
    power: Keys
    bytes: Ints
    recent: Ints
    places: dict[str, Ints]
    usages: Ints
    turns: ScriptTurns
    calls: ScriptCalls
    records: tuple[TurnRows, ...]


def script_of(recorded: RecordedRows, marker: Row | None) -> Script:
    """Lay a recording out; with a ``marker`` every turn leaves one behind."""
    tape = Tape(recorded.maker)
    bounds = [_append(tape, turn, marker) for turn in recorded.turns]
    return Script(
        rows=tape.rows,
        tape=tape,
        taken=np.array(tape.taken, np.int64),
        whole=np.array(tape.whole, np.int64),
        columns={name: np.array(getattr(tape, name), np.int64) for name in COLUMNS},
        hash=np.array(tape.hash, np.uint64),
        power=np.array(tape.power, np.uint64),
        bytes=np.array(tape.file_bytes, np.int64),
        recent=np.array(tape.file_recent, np.int64),
        places={name: np.array(getattr(tape, name).at, np.int64) for name in PLACES},
        usages=np.array(tape.file_usage, np.int64),
        turns=_turns(recorded.turns, bounds, recorded.maker),
        calls=_calls(recorded.turns, bounds, recorded.maker),
        records=recorded.turns,
    )


def _append(tape: Tape, turn: TurnRows, marker: Row | None) -> tuple[int, int, int, int]:
    """Append a turn; the places of its first row, of what the gates see, of its prompt and its end."""
    first = len(tape)
    for row in turn.before:
        tape.append(row)
    gate = len(tape)
    for row in turn.leading:
        tape.append(row)
    prompt = len(tape)
    tape.append(turn.stored)
    for call in turn.calls:
        for row in (call.answer, *call.results):
            tape.append(row)
    if marker is not None:
        tape.append(marker)
    return first, gate, prompt, len(tape)


def _turns(
    turns: tuple[TurnRows, ...], bounds: list[tuple[int, int, int, int]], maker: RowMaker
) -> ScriptTurns:
    places = np.array(bounds, np.int64).reshape(-1, 4).T
    counts = np.array([len(turn.calls) for turn in turns], np.int64)
    last = np.cumsum(counts)
    estimates = [
        prompt_estimate(judged_text((), turn.prompt.judged), maker.rules.message_tokens)
        for turn in turns
    ]
    rows = [[row for call in turn.calls for row in call.results] for turn in turns]
    return ScriptTurns(
        first=places[0],
        gate=places[1],
        prompt=places[2],
        end=places[3],
        first_call=last - counts,
        last_call=last - 1,
        plain=np.array([_is_plain(turn) for turn in turns], np.bool_),
        estimate=_ints(estimate or 0 for estimate in estimates),
        has_estimate=np.array([estimate is not None for estimate in estimates], np.bool_),
        sent=np.array([numbers_of(t.sent) for t in turns], np.int64).reshape(-1, FIELDS).T,
        sent_pressure=_ints(_pressure(turn.prompt.sent, maker) for turn in turns),
        arrived_ms=_ints(_or_never(turn.arrived_ms) for turn in turns),
        latest_ms=_ints(max(_times(turn)) for turn in turns),
        longest=_ints(max((row.result for row in found), default=0) for found in rows),
        widest=_ints(max((row.loop for row in found), default=0) for found in rows),
    )


def _is_plain(turn: TurnRows) -> bool:
    if turn.turn.kind != "message" or not turn.calls or turn.calls[-1].results:
        return False
    return all(map(_is_plain_call, turn.calls))


def _is_plain_call(call: CallRows) -> bool:
    message = call.answer.message or {}
    usage = message.get("usage")
    return (
        message.get("stopReason") in PLAIN_STOPS
        and isinstance(usage, dict)
        and call.billed is not None
        and isinstance(call.billed, int)
        and js.is_number(usage_tokens(usage))
    )


def _pressure(sent: str, maker: RowMaker) -> int:
    if maker.is_shaped:
        return MESSAGE_OVERHEAD + text_tokens(sent)
    return tokens_of_chars(js.utf16_len(sent))


def _times(turn: TurnRows) -> list[int]:
    times = [turn.arrived_ms, *(t for c in turn.calls for t in (c.asked_ms, c.answered_ms))]
    return [_or_never(time) for time in times]


def _or_never(moment: int | None) -> int:
    return NEVER if moment is None else moment


def _calls(
    turns: tuple[TurnRows, ...], bounds: list[tuple[int, int, int, int]], maker: RowMaker
) -> ScriptCalls:
    numbers: list[tuple[int, ...]] = []
    for number, (turn, (_, _, prompt, _)) in enumerate(zip(turns, bounds, strict=True)):
        row, latest = prompt + 1, _or_never(turn.arrived_ms)
        for call in turn.calls:
            latest = max(latest, _or_never(call.asked_ms))
            usage = call.answer.usage
            given = (call.answer.message or {}).get("usage")
            total = usage_tokens(given) if isinstance(given, dict) else 0
            numbers.append(
                (
                    number, row, int(call.billed or 0), int(usage.output or 0) if usage else 0,
                    int(total), call.context_tokens, latest, _bill_bytes(call, maker),
                )
            )  # fmt: skip
            latest = max(latest, _or_never(call.answered_ms))
            row += 1 + len(call.results)
    table = np.array(numbers, np.int64).reshape(-1, 8).T
    calls = [call for turn in turns for call in turn.calls]
    return ScriptCalls(
        turn=table[0],
        row=table[1],
        billed=table[2],
        output=table[3],
        total=table[4],
        context=table[5],
        summary=np.array([call.fingerprint[0] for call in calls], np.uint64),
        said=np.array([call.fingerprint[1] for call in calls], np.uint64),
        at_ms=table[6],
        bill_bytes=table[7],
        plain=np.array([_is_plain_call(call) for call in calls], np.bool_),
        longest=_ints(max((row.result for row in c.results), default=0) for c in calls),
        widest=_ints(max((row.loop for row in c.results), default=0) for c in calls),
    )


def _bill_bytes(call: CallRows, maker: RowMaker) -> int:
    """How much longer the line of an answer is under a bill of no digits at all."""
    if not isinstance((call.answer.message or {}).get("usage"), dict):
        return 0
    return maker.unbilled_bytes(call.answer) - call.answer.bytes


def _ints(values: object) -> Ints:
    return np.fromiter(values, np.int64)  # type: ignore[call-overload, no-any-return]
