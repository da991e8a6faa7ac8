"""The only door for files: which format is it, and its entries as values.

One module per format; nothing outside this package knows how a file is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sessions_app.importers.blocks import BEGINNING, Position
from sessions_app.importers.formats import NotATranscript
from sessions_app.importers.openclaw import ReaderState
from sessions_app.importers.reading import FileReader
from sessions_app.transcripts.transcript import Entry, Header, Problem, Transcript

__all__ = ["FileReader", "NotATranscript", "Position", "entries_of", "read_transcript"]


def entries_of(
    chunks: Iterable[bytes],
    state: ReaderState | None = None,
    start: Position = BEGINNING,
    *,
    at_rest: bool = False,
) -> Iterator[tuple[Position, Header | Entry | Problem]]:
    """Everything a file holds, each with the position up to which the file has been read.

    ``state`` and ``start`` continue an earlier read of the same session file. A torn last line is a
    problem and not counted as read, so that it is read again once it is complete. ``at_rest`` says that
    the file is not being written to: then a call that is open at its end is damage, too.

    Raises:
        NotATranscript: for a file of no known format, unless an earlier read is continued.
    """
    return FileReader(state).read(chunks, start, at_rest=at_rest)


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
