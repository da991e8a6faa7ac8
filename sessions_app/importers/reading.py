"""Reading one file of any format, also as it grows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final

from sessions_app.importers.answers import unanswered
from sessions_app.importers.blocks import BEGINNING, Block, Position, blocks
from sessions_app.importers.claude_code import ClaudeCode
from sessions_app.importers.formats import (
    FIRST_LINES,
    OPENCLAW,
    Format,
    detect,
    refusal,
    refusal_of,
)
from sessions_app.importers.links import Linked
from sessions_app.importers.loading import (
    Stretch,
    Translation,
    load_block,
    translated,
)
from sessions_app.importers.openclaw import Reader, ReaderState
from sessions_app.importers.records import Record, parse
from sessions_app.transcripts.json_lines import NotJson, parse_json
from sessions_app.transcripts.transcript import Entry, Header, Problem

MAX_DOCUMENT_BYTES: Final = 64 << 20
"""A session that is one JSON document has to be read whole; larger ones are refused."""

FIRST_BYTES: Final = 4096
"""By which a file that is no transcript is told."""

Items = Iterator[tuple[Position, Header | Entry | Problem]]


class FileReader:
    """What is known of a file between two reads of it: its format, and the entries so far.

    ``state`` continues a session file that was read before. ``thread`` is the sidechain that is wanted of
    a file that holds several.
    """

    is_document = False
    """Whether the file is one JSON document, and not a record a line."""

    def __init__(self, state: ReaderState | None = None, thread: str = "") -> None:
        self.form: Format | None = OPENCLAW if state is not None else None
        self._reader = Reader(state)
        self._thread = thread
        self._translation: Translation | None = None

    @property
    def sidechains(self) -> tuple[str, ...]:
        """The other threads that were met in the file."""
        translator = self._translation.translator if self._translation else None
        return translator.sidechains if isinstance(translator, ClaudeCode) else ()

    @property
    def settled_entries(self) -> int:
        """How many entries will not change any more, however the file goes on."""
        if self._translation is not None:
            return self._translation.settled_entries
        return self._reader.state.links.next_seq

    def read(
        self, chunks: Iterable[bytes], start: Position = BEGINNING, *, at_rest: bool = False
    ) -> Items:
        """Everything from ``start`` on, where the last read ended.

        Raises:
            NotATranscript: for a file of no known format.
        """
        found = blocks(chunks, start)
        document: Stretch | None = None
        if self.form is None:
            head = _head(found)
            found = chain(head, found)
            self.form = _format_of(head)
            if self.form is None:
                document = self._document(found)
                self.is_document = True
            else:
                self._use(self.form)
        stretches = iter((document,)) if document else self._stretches(found)
        end, is_torn = start, False
        for stretch in stretches:
            before = self._reader.state.turn() if stretch.is_held else None
            for end, linked in stretch.placed():
                for item in self._reader.tell(linked):
                    is_torn |= isinstance(item, Problem) and item.kind == "FILE_TRUNCATED_TAIL"
                    yield end, item
            if before is not None and not at_rest:
                self._reader.state.go_back(before)
        if at_rest and not is_torn:
            yield from ((end, problem) for problem in unanswered(self._reader.state))

    def _use(self, form: Format) -> None:
        self.form = form
        if form.translator is not None:
            links = self._reader.state.links
            links.source = form.name
            translator = ClaudeCode(self._thread) if self._thread else form.translator()
            self._translation = Translation(links, translator)

    def _stretches(self, found: Iterable[Block]) -> Iterator[Stretch]:
        if self._translation is not None:
            return self._translation.load(found)
        links = self._reader.state.links
        return chain.from_iterable(load_block(block, links) for block in found)

    def _document(self, found: Iterable[Block]) -> Stretch:
        """The file as one JSON document."""
        lines, size, end = [], 0, BEGINNING
        for block in found:
            lines += block.lines
            size += sum(map(len, block.lines))
            if size > MAX_DOCUMENT_BYTES:
                raise refusal(f" (and more than {MAX_DOCUMENT_BYTES >> 20} MB for one document)")
            end = block.end
        text = b"\n".join(lines)
        try:
            value = parse_json(text.strip(b"\xef\xbb\xbf"))
        except NotJson:
            raise refusal_of(text[:FIRST_BYTES]) from None
        record = Record(1, value, b"") if isinstance(value, dict) else None
        form = detect([record]) if record else None
        if record is None or form is None or not form.documents:
            raise refusal()
        self._use(form)
        items: list[Header | Linked | Problem] = []
        if self._translation is not None:
            links = self._reader.state.links
            items += translated(record, links, self._translation.translator)
            self._translation.settled_entries = 0  # a document is written anew, not added to
        return Stretch(end, items)


def _head(found: Iterator[Block]) -> list[Block]:
    """The blocks with the lines that must show what a file is."""
    head: list[Block] = []
    while sum(len(block.lines) for block in head) < FIRST_LINES:
        block = next(found, None)
        if block is None:
            break
        head.append(block)
    return head


def _format_of(head: list[Block]) -> Format | None:
    """The format of a file of lines; a bracket alone on the first line begins a document."""
    first = list(islice((line for block in head for line in block.each()), FIRST_LINES))
    if first and first[0].data.removeprefix(b"\xef\xbb\xbf").strip() in (b"{", b"["):
        return None
    return detect(item for line in first for item in parse(line).items)
