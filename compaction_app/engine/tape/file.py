"""What reading the end of a transcript file tells, from the sizes of its lines alone (spec budgets 5.6).

The counterpart of ``last_usage``: the runtime reads in pieces and counts with slips of its own.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice

from compaction_app.engine.last_usage import (
    CHUNK_BYTES,
    RECENT_BYTES,
    RECENT_MESSAGES,
    LastUsage,
)
from compaction_app.engine.tape.tape import Tape


def last_usage(tape: Tape) -> LastUsage:
    """The last usage of the file that is not zero."""
    size, header, sums = tape.byte_size, tape.header_bytes, tape.file_bytes
    if not tape.file_usage:
        return LastUsage(size)
    number = tape.file_usage[-1]
    start, text_end = max(0, size - CHUNK_BYTES), size
    while start and header + sums[number] <= start:
        # What stands before the first line end of a piece is carried to the piece before it.
        first = bisect_left(sums, start + 1 - header, 1)
        carried = header + sums[first] - 1
        text_end = min(text_end, carried)
        start = max(0, start - CHUNK_BYTES)
    end = header + sums[number + 1]
    last = bisect_left(sums, text_end - header) if text_end < size else len(tape.file)
    following = last - number - 1
    trailing = 0
    if following > 0:
        trailing = text_end - end + following + (text_end == size)
    return LastUsage(size, tape.file_row(number).usage, size - text_end + trailing)


def recent_tokens(tape: Tape, *, recent_only: bool) -> int:
    """Tokens of the messages in the file, or of its last ones, as far back as the runtime reads."""
    if not recent_only:
        return tape.file_recent[-1]
    end = len(tape.file)
    first = bisect_left(tape.file_bytes, tape.file_bytes[end] - RECENT_BYTES)
    messages = (n for n in range(end - 1, first - 1, -1) if tape.file[n].type == "message")
    read = list(islice(messages, RECENT_MESSAGES))
    if not read:
        return 0
    return tape.file_recent[end] - tape.file_recent[read[-1]]
