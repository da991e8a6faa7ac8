"""Reason codes that the engine gives are known as sentences."""

from __future__ import annotations

import pytest

from compaction_app.engine.reasons import SENTENCES, sentence


@pytest.mark.parametrize("code", SENTENCES)
def test_a_known_code_is_a_sentence(code: str) -> None:
    assert sentence(code) == SENTENCES[code]
    assert not sentence(code).endswith(".")


def test_an_unknown_code_is_told_in_its_own_words() -> None:
    assert sentence("forced_by_transcript_size") == "forced by transcript size"
    assert sentence("") == ""
