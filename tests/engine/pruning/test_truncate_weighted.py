"""How texts and results are cut to a weight."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.pruning.truncate import truncate_message, truncate_text
from compaction_app.engine.pruning.truncation_rules import TRUNCATION_2026_9
from sessions_app.tokens.text_weight import text_weight
from tests.engine.pruning.messages import result, results, texts, unchanged

limits = st.integers(0, 6000)


@given(text=texts, limit=limits, keep=st.integers(0, 2000), unit=st.sampled_from([1, 2]))
def test_a_cut_never_weighs_more_than_its_limit(
    text: str, limit: int, keep: int, unit: int
) -> None:
    cut = truncate_text(text, limit, TRUNCATION_2026_9, min_keep_chars=keep, unit_weight=unit)
    assert text_weight(cut, unit) <= limit
    assert (cut is text) == (text_weight(text, unit) <= limit)


def test_a_heavy_text_is_cut_shorter() -> None:
    light = truncate_text("a" * 5000, 1000, TRUNCATION_2026_9)
    heavy = truncate_text("漢" * 5000, 1000, TRUNCATION_2026_9)
    assert len(heavy) < len(light) == 1000


@given(message=results, limit=limits)
def test_blocks_together_stay_within_the_limit(message: dict[str, object], limit: int) -> None:
    before = unchanged(message)
    cut = truncate_message(message, limit, TRUNCATION_2026_9)
    assert message == before
    assert sum(text_weight(b["text"]) for b in cut["content"] if "text" in b) <= limit


def test_a_small_block_stays_whole_beside_large_ones() -> None:
    message = result("a" * 30_000)
    message["content"] += [{"type": "text", "text": "short"}]
    cut = truncate_message(message, 16_000, TRUNCATION_2026_9)
    assert cut["content"][1]["text"] == "short"
