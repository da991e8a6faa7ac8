"""A stretch of the script appended to a tape by copying, and the bills of its calls."""

from __future__ import annotations

import numpy as np

from compaction_app.engine.tape.row import MASK
from compaction_app.engine.tape.script import Flags, Ints, Script
from compaction_app.engine.tape.tape import COLUMNS, FIELDS, PLACES, Tape
from sessions_app.tokens import javascript as js

_POWERS = 10 ** np.arange(1, 18, dtype=np.int64)


def is_recorded(tape: Tape, script: Script, start: int, calls: slice) -> Flags:
    """Which calls of a stretch from the row ``start`` on see the context that was recorded."""
    kept = tape.start
    boundary = np.uint64(tape.boundary.summary.key if tape.boundary else 0)
    inverse = pow(tape.power[kept], -1, 1 << 64)
    shift = tape.power[-1] * pow(int(script.power[start]), -1, 1 << 64) * inverse & MASK
    before = (tape.hash[-1] - tape.hash[kept]) * inverse & MASK
    said = script.hash[script.calls.row[calls]] - script.hash[start]
    said = said * np.uint64(shift) + np.uint64(before)
    same: Flags = (said == script.calls.said[calls]) & (script.calls.summary[calls] == boundary)
    return same


def rebilled(script: Script, calls: slice, tokens: Ints, density: float) -> Ints:
    """What the calls bill with contexts of so many tokens."""
    grown = density * (tokens - script.calls.context[calls])
    return np.maximum(np.rint(script.calls.billed[calls] + grown), 0).astype(np.int64)


def bill_bytes(script: Script, calls: slice, prompt: Ints, same: Flags) -> Ints:
    """How much longer each answer's line is under its bill."""
    digits = np.searchsorted(_POWERS, prompt, side="right") + 1
    whole = prompt + script.calls.output[calls]
    digits = digits + np.searchsorted(_POWERS, whole, side="right") + 1
    return np.where(same, 0, script.calls.bill_bytes[calls] + digits)


def joins(tape: Tape, script: Script, start: int, end: int) -> bool:
    """Whether the first message of a stretch is joined to the one before it, here or in the script."""
    rows, group = script.rows, script.tape.group
    for place in range(start, end):
        row = rows[place]
        if row.message is not None and not row.left_out:
            return group[place] != place or tape.joined.joins(row)
    return False


def append_script(
    tape: Tape, script: Script, stretch: tuple[int, int], rows: Ints, bills: Ints, more: Ints
) -> None:
    """Append the rows of a stretch; the answers at ``rows`` have other bills, so many bytes longer."""
    start, end = stretch
    offset, file_offset = len(tape.rows) - start, len(tape.file) - start
    prompts = bills.tolist()
    tape.bills.update(zip((rows + offset).tolist(), prompts, strict=True))
    tape.file_bills.update(zip((rows + file_offset).tolist(), prompts, strict=True))
    _append_file(tape, script, stretch, rows, more)
    new = script.rows[start:end]
    tape.rows += new
    tape.file += new
    tape.ids += script.tape.ids[start:end]
    tape.group += [place + offset for place in script.tape.group[start:end]]
    tape.joined = script.tape.joined_at(end)
    for field in range(FIELDS):
        _extend(tape.taken[field], script.taken[field], start, end)
        _extend(tape.whole[field], script.whole[field], start, end)
    for name in COLUMNS:
        _extend(getattr(tape, name), script.columns[name], start, end)
    factor = tape.power[-1] * pow(int(script.power[start]), -1, 1 << 64) & MASK
    said = (script.hash[start + 1 : end + 1] - script.hash[start]) * np.uint64(factor)
    # Keys are read before the powers grow: each is that of the last row so far.
    before = np.uint64(tape.hash[-1])
    tape.hash += (said + before).tolist()
    tape.power += (script.power[start + 1 : end + 1] * np.uint64(factor)).tolist()
    for name in PLACES:
        places = script.places[name]
        first, last = np.searchsorted(places, (start, end))
        getattr(tape, name).at += (places[first:last] + offset).tolist()


def _append_file(
    tape: Tape, script: Script, stretch: tuple[int, int], rows: Ints, more: Ints
) -> None:
    start, end = stretch
    sizes = np.diff(script.bytes[start : end + 1])
    # The first row follows another one here than in the script.
    leaf = tape.leaf_id
    sizes[0] = script.rows[start].bytes + (0 if leaf is None else js.utf8_len(leaf) - 2)
    sizes[rows - start] += more
    tape.file_bytes += (np.cumsum(sizes) + tape.file_bytes[-1]).tolist()
    _extend(tape.file_recent, script.recent, start, end)
    first, last = np.searchsorted(script.usages, (start, end))
    tape.file_usage += (script.usages[first:last] + len(tape.file) - start).tolist()


def _extend(column: list[int], values: Ints, start: int, end: int) -> None:
    column += (values[start + 1 : end + 1] + (column[-1] - int(values[start]))).tolist()
