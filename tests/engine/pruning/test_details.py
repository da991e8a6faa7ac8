"""How much of a tool result's details is stored."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.pruning.details import MAX_BYTES, stored_details
from compaction_app.engine.pruning.redaction import Redaction
from sessions_app.tokens import javascript as js
from tests.engine.pruning.messages import texts, unchanged

PLAIN = Redaction()
BIG = "z" * 9000

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(details=json_values)
def test_stored_details_always_fit_and_the_given_ones_stay(details: Any) -> None:
    before = js.json_text(details)
    kept = stored_details(unchanged(details), PLAIN)
    assert js.json_text(details) == before
    assert kept is None or js.utf8_len(js.json_text(kept)) <= MAX_BYTES


@pytest.mark.parametrize("details", [None, {"a": [1, {"b": None}]}, "text", [1, 2], 7])
def test_small_details_are_the_same_object(details: Any) -> None:
    assert stored_details(details, PLAIN) is details


@pytest.mark.parametrize(("chars", "fits"), [(8190, True), (8191, False)])
def test_the_limit_counts_bytes_of_json(chars: int, fits: bool) -> None:
    kept = stored_details("z" * chars, PLAIN)
    assert isinstance(kept, str) == fits
    assert fits or kept == {
        "persistedDetailsTruncated": True,
        "originalDetailsBytesAtLeast": 8193,
        "valueType": "string",
    }


def test_large_details_keep_what_explains_a_run() -> None:
    kept = stored_details({"exitCode": 1, "other": BIG, "tail": "t", "exitSignal": None}, PLAIN)
    assert kept["originalDetailKeys"] == ["exitCode", "other", "tail", "exitSignal"]
    assert (kept["exitCode"], kept["tail"], kept["exitSignal"]) == (1, "t", None)
    assert "other" not in kept


def test_a_long_string_keeps_less_than_its_limit_and_says_how_much_is_gone() -> None:
    kept = stored_details({"tail": "t" * 2001, "big": BIG}, PLAIN)["tail"]
    assert kept.startswith("t" * 1488 + "\n[") and kept.endswith("1 original chars omitted]")


def test_only_ten_sessions_are_kept() -> None:
    sessions = [{"sessionId": f"s{i}", "junk": BIG, "command": "ls"} for i in range(12)]
    kept = stored_details({"sessions": [*sessions[:9], "odd", *sessions[9:]]}, PLAIN)
    assert kept["sessions"][0] == {"sessionId": "s0", "command": "ls"}
    assert kept["sessions"][9] == "odd" and kept["sessionsTruncated"] == 3


def test_a_list_names_its_first_indices() -> None:
    kept = stored_details([BIG] * 50, PLAIN)
    assert kept["originalDetailKeys"] == [str(i) for i in range(40)]


def test_when_the_kept_fields_are_too_large_only_the_run_s_end_is_kept() -> None:
    details = {"truncation": {"deep": BIG}, "status": "s" * 300, "exitCode": 7}
    kept = stored_details(details, PLAIN)
    assert kept["finalDetailsTruncated"] and kept["exitCode"] == 7
    assert kept["status"].endswith("100 original chars omitted]")


def test_in_the_end_only_the_sizes_are_kept() -> None:
    kept = stored_details({f"k{i}" + "n" * 300: 1 for i in range(60)}, PLAIN)
    assert set(kept) == {
        *("persistedDetailsTruncated", "finalDetailsTruncated"),
        *("originalDetailsBytesAtLeast", "sanitizedDetailsBytes"),
    }


def test_details_that_grow_too_large_by_masking_fall_back_and_keep_their_exact_size() -> None:
    kept = stored_details({"exitCode": 1, "password": ["a"] * 1500}, PLAIN)
    assert kept["exitCode"] == 1 and "password" not in kept
    assert kept["originalDetailsBytes"] < MAX_BYTES < kept["sanitizedDetailsBytes"]


def test_details_without_a_json_form_keep_what_has_one() -> None:
    kept = stored_details({"exitCode": 1, "odd": {1, 2}}, PLAIN)
    assert kept["originalDetailsBytesAtLeast"] == MAX_BYTES + 1 and kept["exitCode"] == 1


def test_a_cut_through_a_secret_hides_the_kept_part() -> None:
    secret = "token=abcdefghijklmnopqrstuvwxyz\n" + "t" * 3000
    kept = stored_details({"tail": secret, "big": BIG}, PLAIN)["tail"]
    assert kept.startswith("[OpenClaw persisted detail redacted: partial secret span omitted]\n")


def test_deep_details_are_cut_off() -> None:
    deep: Any = 1
    for _ in range(9):
        deep = [deep]
    assert "max depth exceeded" in js.json_text(stored_details({"a": deep}, PLAIN))
