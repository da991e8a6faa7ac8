"""The only door for files: which format is it, and its entries as values.

One module per format; nothing outside this package knows how a file is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from sessions_app.importers import openclaw
from sessions_app.importers.answers import unanswered
from sessions_app.importers.blocks import BEGINNING, Block, Position, blocks
from sessions_app.importers.loading import load_block
from sessions_app.importers.records import Record, parse
from sessions_app.transcripts.transcript import Entry, Header, Problem, Transcript

__all__ = ["NotATranscript", "Position", "detect", "entries_of", "read_transcript"]


class NotATranscript(ValueError):
    """The file is of no known format; the message says what was looked for."""


def detect(found: Iterable[Record | Problem]) -> str:
    """The format of a file by its first records: ``openclaw`` or ``pi``.

    Raises:
        NotATranscript: when none of them could stand in a transcript.
    """
    for item in found:
        if isinstance(item, Record) and openclaw.looks_like(item.value):
            return "openclaw"
    raise NotATranscript(
        f"No session transcript: among the first {openclaw.FIRST_LINES} lines none is an OpenClaw or "
        'pi record ({"type": "session", ...} or {"type": "message", ...}, one JSON object a line).'
    )


def entries_of(
    chunks: Iterable[bytes],
    state: openclaw.ReaderState | None = None,
    start: Position = BEGINNING,
    *,
    at_rest: bool = False,
) -> Iterator[tuple[Position, Header | Entry | Problem]]:
    """Everything a file holds, each with the position up to which the file has been read.

    ``state`` and ``start`` continue an earlier read of the same file. A torn last line is a problem
    and not counted as read, so that it is read again once it is complete. ``at_rest`` says that the
    file is not being written to: then a call that is open at its end is damage, too.

    Raises:
        NotATranscript: for a file of no known format, unless an earlier read is continued.
    """
    found = blocks(chunks, start)
    if state is None:
        head = _head(found)
        first = islice((line for block in head for line in block.each()), openclaw.FIRST_LINES)
        detect(item for line in first for item in parse(line).items)
        found = chain(head, found)
    reader = openclaw.Reader(state)
    end, is_torn = start, False
    for block in found:
        for stretch in load_block(block, reader.state.links):
            for end, found_item in stretch.placed():
                for item in reader.tell(found_item):
                    is_torn |= isinstance(item, Problem) and item.kind == "FILE_TRUNCATED_TAIL"
                    yield end, item
    if at_rest and not is_torn:
        yield from ((end, problem) for problem in unanswered(reader.state))


def _head(found: Iterator[Block]) -> list[Block]:
    """The blocks with the lines that must show what a file is."""
    head: list[Block] = []
    while sum(len(block.lines) for block in head) < openclaw.FIRST_LINES:
        block = next(found, None)
        if block is None:
            break
        head.append(block)
    return head


def read_transcript(chunks: Iterable[bytes], *, at_rest: bool = False) -> Transcript:
    """A whole file in memory; ``at_rest`` as in ``entries_of``.

    Raises:
        NotATranscript: for a file of no known format.
    """
    header: Header | None = None
    entries: list[Entry] = []
    problems: list[Problem] = []
    for _, item in entries_of(chunks, at_rest=at_rest):
        if isinstance(item, Header):
            header = item
        elif isinstance(item, Entry):
            entries.append(item)
        else:
            problems.append(item)
    return Transcript(header, tuple(entries), tuple(problems))
