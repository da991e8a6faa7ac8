"""The end of a branch put anew: the same rows under other ids, some of them in other forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import add

import numpy as np

from compaction_app.engine.tape.row import MASK, Row
from compaction_app.engine.tape.tape import FIELDS, PLACES, Tape, numbers_of
from sessions_app.tokens import javascript as js


def renew(
    tape: Tape, first: int, changed: Mapping[int, Row], ids: Sequence[str], sizes: Sequence[int]
) -> None:
    """The branch from ``first`` on appended again, row by row, under new ids; ``changed`` are those
    in other forms: shorter results, and entries without a message."""
    tape.version += 1
    _reform(tape, first, changed)
    leaf = tape.ids[first - 1] if first else None
    tape.ids[first:] = ids
    number, again = len(tape.file) - first, tape.rows[first:]
    bills = [(place, bill) for place, bill in tape.bills.items() if place >= first]
    tape.file_bills.update({place + number: bill for place, bill in bills})
    tape.file_usage += [len(tape.file) + n for n, row in enumerate(again) if row.has_usage]
    tape.file += again
    parents = [4 if leaf is None else js.utf8_len(leaf) + 2, *(len(i) + 2 for i in ids[:-1])]
    sums = accumulate(map(add, sizes, parents), initial=tape.file_bytes[-1])
    tape.file_bytes += [size - 4 * n for n, size in enumerate(sums)][1:]
    recent = accumulate((row.recent for row in again), initial=tape.file_recent[-1])
    tape.file_recent += list(recent)[1:]


def _reform(tape: Tape, first: int, changed: Mapping[int, Row]) -> None:
    """Give rows their new forms, and bring the sums behind them up to date in one go."""
    pairs = [(place, tape.rows[place], changed[place]) for place in sorted(changed)]
    for field in range(FIELDS):
        more = {p: numbers_of(new)[field] - numbers_of(old)[field] for p, old, new in pairs}
        _raise(tape.whole[field], first, more)
        absent = {p for p, _, new in pairs if new.left_out}
        _raise(tape.taken[field], first, {p: n for p, n in more.items() if p not in absent})
    _raise(tape.context, first, {p: new.context - old.context for p, old, new in pairs})
    _raise(tape.counted, first, {p: new.counted - old.counted for p, old, new in pairs})
    _say_anew(tape, first, {p: (new.key - old.key) * tape.power[p] & MASK for p, old, new in pairs})
    for place, _, new in pairs:
        tape.rows[place] = new
    if any(old.has_media != new.has_media for _, old, new in pairs):
        tape.media.cut_off(first)
        tape.media.at += [p for p in range(first, len(tape.rows)) if tape.rows[p].has_media]


def _say_anew(tape: Tape, first: int, more: Mapping[int, int]) -> None:
    """What the branch says, after some places from ``first`` on say something else."""
    said = np.zeros(len(tape.hash) - 1 - first, np.uint64)
    for place, key in more.items():
        said[place - first] = key
    known = np.array(tape.hash[first + 1 :], np.uint64)
    tape.hash[first + 1 :] = (known + np.cumsum(said)).tolist()


def replace_end(
    tape: Tape,
    first: int,
    rows: Sequence[Row],
    ids: Sequence[str],
    sizes: Sequence[int],
    bills: Sequence[int | None],
) -> None:
    """The branch from ``first`` on appended again, in other forms, under new ids."""
    tape.version += 1
    leaf = tape.ids[first - 1] if first else None
    tape.bills = {place: bill for place, bill in tape.bills.items() if place < first}
    del tape.rows[first:], tape.group[first:], tape.ids[first:]
    for column in (
        *tape.taken,
        *tape.whole,
        tape.context,
        tape.counted,
        tape.real,
        tape.hash,
        tape.power,
    ):
        del column[first + 1 :]
    for name in PLACES:
        getattr(tape, name).cut_off(first)
    tape.joined = tape.joined_at(first)
    for row, identity, size, bill in zip(rows, ids, sizes, bills, strict=True):
        if bill is not None:
            tape.bills[len(tape.rows)] = tape.file_bills[len(tape.file)] = bill
        tape.append_file(row, leaf, size)
        tape.append_branch(row, identity)
        leaf = identity


def _raise(sums: list[int], first: int, more: Mapping[int, int]) -> None:
    """Running sums after the numbers of some places behind ``first`` have changed."""
    if not any(more.values()):
        return
    rises = np.zeros(len(sums) - 1 - first, np.int64)
    for place, number in more.items():
        rises[place - first] = number
    sums[first + 1 :] = (np.array(sums[first + 1 :], np.int64) + np.cumsum(rises)).tolist()
