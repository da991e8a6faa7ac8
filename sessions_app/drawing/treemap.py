"""Rectangles whose areas stand for sizes, laid out so that they are nearly square."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 1000
HEIGHT = 400
"""Of the whole map in its own units."""

MOST_TILES = 200


@dataclass(frozen=True, slots=True)
class Tile:
    """The rectangle of the item at place ``index`` of what was given."""

    index: int
    x: float
    y: float
    width: float
    height: float


def treemap(sizes: Sequence[float]) -> list[Tile]:
    """A tile for each positive size, the largest first; beyond ``MOST_TILES`` the smallest have none.

    The tiles cover the map; each has its share of the area. Rows are closed when one more tile would
    make the worst of the row longer (Bruls, Huizing, van Wijk: squarified treemaps).
    """
    ordered = sorted((n for n, size in enumerate(sizes) if size > 0), key=lambda n: -sizes[n])
    ordered = ordered[:MOST_TILES]
    total = sum(sizes[n] for n in ordered)
    areas = [(n, sizes[n] / total * WIDTH * HEIGHT) for n in ordered] if total else []
    tiles: list[Tile] = []
    x, y, width, height = 0.0, 0.0, float(WIDTH), float(HEIGHT)
    while areas:
        side = min(width, height)
        count = _row_length([area for _, area in areas], side)
        row, areas = areas[:count], areas[count:]
        thick = sum(area for _, area in row) / side if side else 0.0
        at = 0.0
        for index, area in row:
            long = area / thick if thick else 0.0
            place = (x, y + at, thick, long) if width >= height else (x + at, y, long, thick)
            tiles.append(Tile(index, *place))
            at += long
        if width >= height:
            x, width = x + thick, max(width - thick, 0.0)
        else:
            y, height = y + thick, max(height - thick, 0.0)
    return tiles


def _row_length(areas: Sequence[float], side: float) -> int:
    """How many of the next tiles stand in one row."""
    total, best = 0.0, float("inf")
    for count, area in enumerate(areas, 1):
        total += area
        thick = total / side if side else 0.0
        worst = max(_longness(areas[0], thick), _longness(area, thick))
        if worst > best:
            return count - 1
        best = worst
    return len(areas)


def _longness(area: float, thick: float) -> float:
    long = area / thick if thick else 0.0
    return max(long / thick, thick / long) if long and thick else float("inf")
