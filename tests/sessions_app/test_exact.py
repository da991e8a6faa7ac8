"""Exact counts are tiktoken's own, offline."""

from __future__ import annotations

import time

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.tokens import exact

WORDS = st.lists(st.sampled_from(["word", "Ünïcode", "漢字", "a1", "don't", "\n", "  ", "é"]))


@pytest.mark.parametrize(
    ("text", "encoding", "tokens"),
    [
        ("hello world", "o200k_base", 2),
        ("hello world", "cl100k_base", 2),
        ("", "o200k_base", 0),
        ("漢字かな交じり文", "o200k_base", 7),
        ("<|endoftext|>", "cl100k_base", 7),
    ],
)
def test_known_counts(text: str, encoding: str, tokens: int) -> None:
    assert exact.count(text, encoding) == tokens


@given(WORDS.map(" ".join), st.sampled_from(exact.ENCODINGS))
@settings(max_examples=30)
def test_long_texts_count_as_one(words: str, encoding: str) -> None:
    text = ("some words to come first " * 700 + words + " ") * 3
    assert len(text) > 3 * exact.SLICE_CHARS
    assert exact.count(text, encoding) == len(tiktoken.get_encoding(encoding).encode_ordinary(text))


@pytest.mark.parametrize("text", ["a" * 300_000, " " * 300_000, "a b1" * 75_000, "漢" * 100_000])
def test_texts_made_to_be_slow_are_not(text: str) -> None:
    begun = time.monotonic()
    assert exact.count(text) > 0
    assert time.monotonic() - begun < 10


def test_lone_surrogates_and_nul_are_counted_as_something() -> None:
    assert exact.count("a\ud800b\x00") > 0


def test_an_unknown_vocabulary_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown encoding"):
        exact.count("text", "p50k_base")


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4", "cl100k_base"),
        ("openai/gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("gpt-4o", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("claude-opus-4-5", "o200k_base"),
        ("", "o200k_base"),
    ],
)
def test_the_vocabulary_follows_from_the_model(model: str, encoding: str) -> None:
    assert exact.encoding_for(model) == encoding
