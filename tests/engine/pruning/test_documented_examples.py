"""What the pages about pruning show is what the engine answers."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

RULES = Path(__file__).parents[3] / "docs" / "rules"
PAGES = [page for page in sorted(RULES.glob("*.md")) if "engine/pruning/" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_example_of_a_page_is_true(page: Path) -> None:
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert (failed, tried > 0) == (0, True)
