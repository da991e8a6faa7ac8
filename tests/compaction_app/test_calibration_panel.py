"""Billed against estimated, with the number of calls behind it."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.test_turn import plain
from tests.engine.builders import Script

pytestmark = pytest.mark.django_db


def talk(calls: int, text: str = "word " * 80, density: float = 1.5, billed: bool = True) -> Script:
    """Calls that bill so many tokens for each estimated one, above an overhead of 1,000 tokens."""
    script, sent = Script(), 0.0
    tokens = len(text) / 4
    for _ in range(calls):
        sent += tokens
        script.message("user", text)
        usage = {"input": round(1_000 + density * sent), "output": 10} if billed else None
        sent += tokens
        said = [{"type": "text", "text": text}]
        script.message("assistant", said, **({"usage": usage} if usage else {}))
    return script


def panel(viewer: Client, bring: Bring, script: Script) -> str:
    page = viewer.get(f"/sessions/{bring(script).uuid}/").text
    start = page.index('id="calibration"')
    return plain(page[start : page.index("</section>", start)])


def test_enough_calls_give_a_density_with_its_spread(viewer: Client, bring: Bring) -> None:
    text = panel(viewer, bring, talk(8))

    assert "density 1.50 billed / estimated tokens" in text
    assert "spread 0.00 1.50 to 1.50" in text
    assert "overhead 1,000 tokens of every prompt" in text
    assert "8 of 8 calls" in text
    assert "CJK share about 0.0 % of the characters" in text


@pytest.mark.parametrize("calls", [1, 4])
def test_below_five_calls_there_is_not_enough_data(
    viewer: Client, bring: Bring, calls: int
) -> None:
    text = panel(viewer, bring, talk(calls))

    assert "density not enough data" in text
    assert "5 are needed" in text
    assert "spread unknown" in text


def test_without_usage_what_is_billed_is_unknown_and_not_zero(viewer: Client, bring: Bring) -> None:
    text = panel(viewer, bring, talk(6, billed=False))

    assert "billed unknown tokens, 0 of 6 calls" in text
    assert "density not enough data 0 billed calls, 5 are needed" in text


def test_chinese_characters_have_their_share(viewer: Client, bring: Bring) -> None:
    all_of_it = panel(viewer, bring, talk(6, text="漢字" * 600))
    a_third = panel(viewer, bring, talk(6, text="ab漢" * 400))

    assert "CJK share about 99" in all_of_it or "CJK share about 100" in all_of_it
    assert "CJK share about 33" in a_third or "CJK share about 32" in a_third
