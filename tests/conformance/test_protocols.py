"""The encodings of the golden cases."""

from __future__ import annotations

import hashlib
import math

from tests.conformance.budgets import protocol as budgets


def test_generators_expand_anywhere_in_the_arguments() -> None:
    args = {
        "text": {"$concat": [{"$repeat": ["ab", 2]}, "!"]},
        "messages": [1, {"$fill": [{"content": {"$repeat": ["x", 3]}}, 2]}, {"$undef": True}],
        "gone": {"$undef": True},
        "limit": {"$num": "-Infinity"},
        "plain": {"$schema": "x"},
    }
    assert budgets.expand(args) == {
        "text": "abab!",
        "messages": [1, {"content": "xxx"}, {"content": "xxx"}, None],
        "limit": -math.inf,
        "plain": {"$schema": "x"},
    }


def test_copies_made_by_fill_are_separate_objects() -> None:
    first, second = budgets.expand([{"$fill": [{"a": []}, 2]}])
    assert first is not second


def test_long_texts_are_named_by_their_utf8_hash_and_their_utf16_length() -> None:
    text = "\U0001f600" * 600 + "\ud83d"
    encoded = budgets.encode({"text": text, "short": "x" * 1200, "n": math.nan})
    data = ("\U0001f600" * 600 + "\ufffd").encode()
    assert encoded == {
        "text": {"$sha256": hashlib.sha256(data).hexdigest(), "utf16Length": 1201},
        "short": "x" * 1200,
        "n": {"$num": "NaN"},
    }


def test_missing_values_are_left_out_of_objects() -> None:
    assert budgets.present(a=None, b=0, c=False) == {"b": 0, "c": False}
