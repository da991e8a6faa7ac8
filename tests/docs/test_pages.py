"""The pages about the rules say what the engine does."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.docs.computed import PAGES, RULES

INDEX = RULES / "README.md"
OURS = {"experimental-constants"}
"""What no version of the runtime has."""
WRITTEN = [p for p in sorted(RULES.glob("*.md")) if p != INDEX and p.name not in PAGES]


@pytest.mark.parametrize("name", PAGES)
def test_a_computed_page_is_up_to_date(name: str) -> None:
    assert (RULES / name).read_text(encoding="utf-8") == PAGES[name](), "run: python -m tests.docs"


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.stem)
def test_the_example_of_a_page_is_true(page: Path) -> None:
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert (failed, tried > 0) == (0, True)


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.stem)
def test_a_page_names_its_source_and_its_code(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert page.stem in OURS or re.search(r"^Source: spec \w+ \d", text, re.MULTILINE)
    code = re.findall(r"`([\w/]+/[\w/]*(?:\.py)?)`", text[text.rindex("Code:") :])
    assert code
    root = RULES.parents[1]
    assert [name for name in code if not any((top / name).exists() for top in _tops(root))] == []


def _tops(root: Path) -> tuple[Path, ...]:
    return root, root / "compaction_app"


def test_the_index_lists_every_page_and_every_link_leads_somewhere() -> None:
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", INDEX.read_text(encoding="utf-8")))
    assert linked == {page.name for page in RULES.glob("*.md")} - {INDEX.name}
    for page in RULES.glob("*.md"):
        targets = re.findall(r"\]\(([\w-]+\.md)\)", page.read_text(encoding="utf-8"))
        assert [target for target in targets if not (RULES / target).exists()] == [], page.name
