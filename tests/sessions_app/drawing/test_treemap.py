"""A treemap: each size has its share of the area, and no two tiles overlap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.drawing.treemap import HEIGHT, MOST_TILES, WIDTH, Tile, treemap

SIZES = st.lists(st.integers(0, 1_000_000), max_size=60)


def overlap(one: Tile, other: Tile) -> float:
    wide = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    high = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return max(0.0, wide) * max(0.0, high)


@given(SIZES)
def test_each_size_has_its_share_of_the_area(sizes: list[int]) -> None:
    tiles = treemap(sizes)
    assert sorted(tile.index for tile in tiles) == [n for n, size in enumerate(sizes) if size]
    for tile in tiles:
        share = tile.width * tile.height / (WIDTH * HEIGHT)
        assert abs(share - sizes[tile.index] / sum(sizes)) < 1e-6


@given(SIZES)
def test_tiles_lie_inside_and_beside_each_other(sizes: list[int]) -> None:
    tiles = treemap(sizes)
    for place, tile in enumerate(tiles):
        assert tile.x >= -1e-6 and tile.x + tile.width <= WIDTH + 1e-6
        assert tile.y >= -1e-6 and tile.y + tile.height <= HEIGHT + 1e-6
        assert all(overlap(tile, other) < 1e-3 for other in tiles[:place])


def test_equal_sizes_become_nearly_square() -> None:
    assert all(0.4 < tile.width / tile.height < 2.5 for tile in treemap([1] * 40))


def test_nothing_is_drawn_of_nothing() -> None:
    assert treemap([]) == treemap([0, 0]) == []


def test_of_too_many_the_largest_are_drawn() -> None:
    tiles = treemap(range(1, MOST_TILES + 51))
    assert len(tiles) == MOST_TILES and min(tile.index for tile in tiles) == 50
