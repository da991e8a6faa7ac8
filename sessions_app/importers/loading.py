"""A file to linked entries, as fast as the JSON parser lets it: the tree, and nothing that is not asked.

Entries come in stretches, so that memory stays flat. What an entry means (marks, copies, open calls), when
it was and what it weighs is found out by those who ask for it, in the same pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

from sessions_app.importers.blocks import BEGINNING, Block, Position, blocks
from sessions_app.importers.links import Linked, Links
from sessions_app.importers.records import Record, parse, parse_block
from sessions_app.importers.translation import SessionRecord, Translator
from sessions_app.transcripts.json_lines import json_bytes
from sessions_app.transcripts.transcript import Header, Problem

FEW_LINES = 32
"""A block with trouble in it is halved until it is as short as this; then its lines are read singly."""


class Stretch(NamedTuple):
    """What lies between the last stretch and ``end``, up to which the file is settled.

    A ``block`` is told where every item comes from a line of its own. Items that are only held will come
    again, and may then say more.
    """

    end: Position
    items: Sequence[Header | Linked | Problem]
    block: Block | None = None
    is_held: bool = False

    def placed(self) -> Iterator[tuple[Position, Header | Linked | Problem]]:
        """Each item with the position up to which the file is settled once it is taken."""
        if self.block is None:
            return zip(repeat(self.end), self.items)
        return zip((line.end for line in self.block.each()), self.items, strict=True)


def load(chunks: Iterable[bytes], links: Links, start: Position = BEGINNING) -> Iterator[Stretch]:
    """Everything a file holds; ``links`` and ``start`` continue an earlier read of it.

    A torn last line is a problem and not counted as read, so that it is read again once it is complete.
    """
    for block in blocks(chunks, start):
        yield from load_block(block, links)


def load_block(block: Block, links: Links) -> Iterator[Stretch]:
    """The same for one block. A stretch of one line is what is left when there is more to say."""
    if block.start.offset == 0 and len(block.lines) > 1:
        first, block = block.split(1)
        yield from load_block(first, links)
    read = parse_block(block)
    linked = read and links.link_all(block.start.line, *read)
    if linked:
        yield Stretch(block.end, linked, block)
        return
    if len(block.lines) > FEW_LINES:
        for part in block.split(len(block.lines) // 2):
            yield from load_block(part, links)
        return
    for line in block.each():
        parsed = parse(line)
        items: list[Header | Linked | Problem] = []
        for item in parsed.items:
            items += (item,) if isinstance(item, Problem) else links.link(item)
        yield Stretch(parsed.end, items)


class Translation:
    """Another agent's file on its way, read from ``start`` on.

    As long as the translator holds something back, the file is settled only up to what came before it, and
    so are its entries, of which there are ``settled_entries``. Where the file ends for now, what is held is
    given as it is so far, and given again once it has ended.
    """

    def __init__(self, links: Links, translator: Translator, start: Position = BEGINNING) -> None:
        self.translator = translator
        self.settled_entries = links.next_seq
        self._links, self._settled = links, start

    def load(self, found: Iterable[Block]) -> Iterator[Stretch]:
        links, translator, end = self._links, self.translator, self._settled
        for line in (line for block in found for line in block.each()):
            parsed = parse(line)
            items: list[Header | Linked | Problem] = []
            for item in parsed.items:
                if isinstance(item, Problem):
                    items.append(item)
                else:
                    items += translated(item, links, translator)
            end = parsed.end
            if not translator.holds:
                self._settled, self.settled_entries = end, links.next_seq
            yield Stretch(self._settled, items)
        if translator.holds:
            self._settled = end
            held = list(linked_records(translator.held(), links))
            links.forget([item.id for item in held if isinstance(item, Linked)])
            yield Stretch(end, held, is_held=True)


def translated(
    item: Record, links: Links, translator: Translator
) -> Iterator[Header | Linked | Problem]:
    """What one record of another agent becomes."""
    translator.thread.line = item.line
    yield from linked_records(translator.translate(item.value), links)


def linked_records(
    records: Iterable[SessionRecord], links: Links
) -> Iterator[Header | Linked | Problem]:
    """Session records that were made here, with the bytes that they are kept as."""
    for record in records:
        line = record.pop("line")
        raw = json_bytes(record)
        if raw is None:
            message = "The record is nested too deeply to be kept."
            yield Problem(line, "FILE_BAD_LINE", message)
        else:
            yield from links.link(Record(line, record, raw))
