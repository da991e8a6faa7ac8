"""tiktoken finds its vocabularies without a network."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from sessions_app import vocabularies


def test_both_are_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "elsewhere")
    vocabularies.install(tmp_path / "deep" / "folder")
    found = sorted(path.name for path in (tmp_path / "deep" / "folder").iterdir())
    assert found == sorted(vocabularies.CACHE_NAMES.values())
    monkeypatch.setattr(vocabularies, "files", None)  # a second time nothing is unpacked
    vocabularies.install(tmp_path / "deep" / "folder")


def test_they_are_the_ones_tiktoken_expects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "elsewhere")
    vocabularies.install(tmp_path)
    digest = hashlib.sha256((tmp_path / vocabularies.CACHE_NAMES["cl100k_base"]).read_bytes())
    assert digest.hexdigest() == "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
