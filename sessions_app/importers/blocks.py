"""Chunks of bytes to lines, many at a time: what is done for every line is done by the interpreter's own loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Position(NamedTuple):
    """A place between two records: ``offset`` in bytes, and the line (from 1) it lies on.

    ``begun`` is set where records of that line lie before it, which only the end of a file that was
    still being written brings about.
    """

    offset: int = 0
    line: int = 1
    begun: bool = False

    @property
    def lines(self) -> int:
        """How many lines were read, the begun one among them."""
        return self.line - 1 + self.begun


BEGINNING = Position()


class Line(NamedTuple):
    """One line, or what is left of one, without its line end. ``start`` is where it begins."""

    start: Position
    data: bytes
    terminated: bool

    @property
    def end(self) -> Position:
        offset = self.start.offset + len(self.data) + self.terminated
        if self.terminated:
            return Position(offset, self.start.line + 1)
        return Position(offset, self.start.line, begun=True)


class Block(NamedTuple):
    """Lines that follow each other in a file, without their line ends; ``start`` is where they begin.

    Every line has an end, but for the only line of a block that is not ``terminated``.
    """

    start: Position
    lines: list[bytes]
    terminated: bool = True

    @property
    def end(self) -> Position:
        """Behind the last line."""
        if not self.terminated:
            return Line(self.start, self.lines[0], terminated=False).end
        size = sum(map(len, self.lines)) + len(self.lines)
        return Position(self.start.offset + size, self.start.line + len(self.lines))

    def each(self) -> Iterator[Line]:
        """The lines one by one."""
        start = self.start
        for data in self.lines:
            line = Line(start, data, self.terminated)
            yield line
            start = line.end

    def split(self, count: int) -> tuple[Block, Block]:
        """The first ``count`` lines, and the rest, which may be none."""
        first = Block(self.start, self.lines[:count], self.terminated)
        return first, Block(first.end, self.lines[count:], self.terminated)


def blocks(chunks: Iterable[bytes], start: Position = BEGINNING) -> Iterator[Block]:
    """Split chunks at LF, a block for each chunk that ends a line; one line at most is held back.

    The last line may lack its line end. ``start`` is where the chunks begin.
    """
    held: list[bytes] = []
    for chunk in chunks:
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if lines:
            if held:
                lines[0] = b"".join((*held, lines[0]))
                held.clear()
            block = Block(start, lines)
            start = block.end
            yield block
        if rest:
            held.append(rest)
    if held:
        yield Block(start, [b"".join(held)], terminated=False)


def lines(chunks: Iterable[bytes], start: Position = BEGINNING) -> Iterator[Line]:
    """The same, line by line."""
    for block in blocks(chunks, start):
        yield from block.each()
