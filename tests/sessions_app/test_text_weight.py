"""Texts whose characters weigh unequally, and cuts by weight."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.tokens import javascript as js
from sessions_app.tokens.text_weight import head_within, tail_within, text_weight

texts = st.text("aé漢ｶ\U0001f600\U00020000\ud83d\udc00 \n", max_size=60).map(
    lambda text: js.concat((text,))
)
weights = st.sampled_from([1, 1.5, 2, 3])


@pytest.mark.parametrize(
    ("text", "weight", "doubled"),
    [("abc", 3, 6), ("漢", 4, 4), ("㐀", 12, 12), ("ｶ", 8, 8),
     ("\U00020000", 16, 16), ("\U0001f600", 2, 4), ("\ud83d", 1, 2), ("", 0, 0)],
)  # fmt: skip
def test_a_character_weighs_by_its_class(text: str, weight: int, doubled: int) -> None:
    assert (text_weight(text), text_weight(text, 2)) == (weight, doubled)


@given(texts, texts)
def test_weights_add_up(first: str, second: str) -> None:
    joined = js.concat((first, " ", second))
    assert text_weight(joined) == text_weight(first) + 1 + text_weight(second)


@given(texts, weights)
def test_a_unit_weighs_at_least_what_it_must(text: str, unit_weight: float) -> None:
    assert text_weight(text, unit_weight) >= js.utf16_len(text) * unit_weight


@given(texts, st.integers(0, 200), weights)
def test_a_cut_fits_and_is_a_part(text: str, limit: int, unit_weight: float) -> None:
    for part, whole in (
        (head_within(text, limit, unit_weight), text.startswith),
        (tail_within(text, limit, unit_weight), text.endswith),
    ):
        assert whole(part)
        assert text_weight(part, unit_weight) <= limit


@given(texts)
def test_a_text_that_fits_is_the_same_object(text: str) -> None:
    assert head_within(text, text_weight(text)) is text
    assert tail_within(text, text_weight(text)) is text


def test_no_cut_splits_a_pair() -> None:
    assert head_within("\U0001f600\U0001f600", 3) == "\U0001f600"
    assert tail_within("\U0001f600\U0001f600", 3) == "\U0001f600"
