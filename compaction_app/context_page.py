"""The page of a call's context: its bar, its map, its largest contributors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.context_at_call import ToldContext, system_title
from sessions_app.drawing.treemap import HEIGHT, WIDTH, Tile, treemap

COLOURS: Final[Mapping[str, int]] = {
    "system": 4,
    "summary": 1,
    "user": 2,
    "assistant": 3,
    "tool result": 6,
    "other": 7,
}
"""The number of each kind's colour, as in the strip below the chart where it is shown there."""

LARGEST: Final = 10
MOST_ROWS: Final = 500
"""Of the newest messages; the API has all."""

LABEL_WIDTH: Final = 90
LABEL_HEIGHT: Final = 26


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the context, system side included. ``tokens`` are estimated; ``seq`` the entry it is
    from, none for what is no entry; ``target`` where the page tells of it."""

    kind: str
    title: str
    tokens: int
    seq: int | None
    target: str

    @property
    def colour(self) -> int:
        return COLOURS[self.kind]


@dataclass(frozen=True, slots=True)
class DrawnTile:
    """A rectangle of the map; ``is_named``: there is room for its title."""

    tile: Tile
    piece: Piece
    is_named: bool

    @property
    def left(self) -> str:
        return f"{self.tile.x / WIDTH * 100:.2f}%"

    @property
    def top(self) -> str:
        return f"{self.tile.y / HEIGHT * 100:.2f}%"

    @property
    def wide(self) -> str:
        return f"{self.tile.width / WIDTH * 100:.2f}%"

    @property
    def high(self) -> str:
        return f"{self.tile.height / HEIGHT * 100:.2f}%"


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the bar, in units of its whole length of 1,000."""

    kind: str
    tokens: int
    share: float
    x: float
    width: float
    colour: int


def page_context(told: ToldContext) -> dict[str, Any]:
    """What the template shows beside the context itself."""
    pieces = pieces_of(told)
    total = sum(piece.tokens for piece in pieces)
    largest = sorted(pieces, key=lambda piece: -piece.tokens)[:LARGEST]
    fates = Counter(row.fate for row in told.rows)
    return {
        "told": told,
        "call": told.call,
        "rows": told.rows[-MOST_ROWS:],
        "unshown": max(0, len(told.rows) - MOST_ROWS),
        "colours": COLOURS,
        "bar": bar_of(pieces),
        "map": map_of(pieces),
        "map_size": (WIDTH, HEIGHT),
        "largest": [(p, p.tokens / total if total else 0, _width(p, largest)) for p in largest],
        "cut": [row for row in told.rows if row.part.changes],
        "fates": {name: fates.get(name, 0) for name in ("added", "changed", "same")},
        "system_parts": [(system_title(part), part) for part in told.system.parts],
        "total": total,
    }


def pieces_of(told: ToldContext) -> list[Piece]:
    """The parts of the context in the order in which they are sent."""
    system = [
        Piece("system", system_title(part), part.tokens, None, "#system")
        for part in told.system.parts
        if part.tokens
    ]
    return system + [
        Piece(
            row.part.kind,
            " ".join(filter(None, (row.part.kind, row.part.tool))),
            row.part.tokens,
            row.part.sources[0] if row.part.sources else None,
            f"#part-{row.part.position}",
        )
        for row in told.rows
    ]


def bar_of(pieces: list[Piece]) -> list[Segment]:
    """One bar by kind; kinds without tokens are left out."""
    sums: Counter[str] = Counter()
    for piece in pieces:
        sums[piece.kind] += piece.tokens
    total = sum(sums.values())
    segments: list[Segment] = []
    x = 0.0
    for kind, colour in COLOURS.items():
        if sums[kind]:
            share = sums[kind] / total
            segments.append(Segment(kind, sums[kind], share, x, share * WIDTH, colour))
            x += share * WIDTH
    return segments


def map_of(pieces: list[Piece]) -> list[DrawnTile]:
    return [
        DrawnTile(
            tile,
            pieces[tile.index],
            tile.width >= LABEL_WIDTH and tile.height >= LABEL_HEIGHT,
        )
        for tile in treemap([piece.tokens for piece in pieces])
    ]


def _width(piece: Piece, largest: list[Piece]) -> str:
    """Of a bar, in per cent of the longest."""
    return f"{piece.tokens / max(largest[0].tokens, 1) * 100:.2f}"
