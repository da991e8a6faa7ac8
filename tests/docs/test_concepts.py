"""The page about the concepts, its drawings and its reference of settings are up to date."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from compaction_app.engine.policy import SETTINGS
from tests.docs.computed import DOCS, concept_files

STALE = "run: python -m tests.docs"


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return concept_files()


def test_page_and_drawings_are_up_to_date(files: dict[str, str]) -> None:
    for name, text in files.items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, f"{name}: {STALE}"


def test_every_setting_is_in_the_reference_once(files: dict[str, str]) -> None:
    rows = re.findall(r"^\| `([\w.]+)` \|", files["concepts.md"], re.MULTILINE)
    assert rows == [
        setting.key for group in _groups() for setting in SETTINGS if setting.group == group
    ]


def _groups() -> list[str]:
    return list(dict.fromkeys(setting.group for setting in SETTINGS))


def test_every_link_and_picture_leads_somewhere(files: dict[str, str]) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", files["concepts.md"])
    assert targets
    assert [target for target in targets if not (DOCS / target).exists()] == []


def test_a_drawing_stands_alone(files: dict[str, str]) -> None:
    for name, text in files.items():
        if name.endswith(".svg"):
            root = ElementTree.fromstring(text)
            assert root.find("{http://www.w3.org/2000/svg}title") is not None
            assert "var(--" not in text and "light-dark" not in text and "{{" not in text
