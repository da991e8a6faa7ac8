"""The quality check of a summary (spec compaction 3.3, 3.4)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.compaction.ask_overlap import ask_overlap, overlap_tokens
from compaction_app.engine.compaction.identifiers import (
    identifiers_in_their_words,
    missing_identifiers,
    opaque_identifiers,
)
from compaction_app.engine.compaction.quality import (
    REQUIRED_SECTIONS,
    check_quality,
    has_required_sections,
    structured_fallback,
)
from sessions_app.tokens import javascript as js

HEADINGS = "\n".join(REQUIRED_SECTIONS)


def test_missing_headings_are_named_in_their_order() -> None:
    found = check_quality("## Open TODOs:\n## Decisions  \r\n", [], None, "strict")
    assert found.missing_sections == REQUIRED_SECTIONS[1:]
    assert found.reasons[0] == "missing_section:## Open TODOs"


def test_headings_count_in_any_order_but_a_fallback_wants_them_in_theirs() -> None:
    turned = "\n".join(reversed(REQUIRED_SECTIONS))
    assert check_quality(turned, [], None, None).ok
    assert not has_required_sections(turned)
    assert has_required_sections(HEADINGS)


def test_the_reason_names_three_identifiers_and_the_record_all() -> None:
    found = check_quality(HEADINGS, ["/a/b", "/c/d", "/e/f", "/g/h"], None, None)
    assert found.reasons == ("missing_identifiers:/a/b,/c/d,/e/f",)
    assert found.missing_identifiers == ("/a/b", "/c/d", "/e/f", "/g/h")


@pytest.mark.parametrize("policy", ["off", "custom"])
def test_other_policies_ask_for_no_identifiers(policy: str) -> None:
    assert check_quality(HEADINGS, ["/a/b"], None, policy).missing_identifiers is None


def test_only_hex_runs_are_compared_without_regard_to_case() -> None:
    assert missing_identifiers("deadbeef /A/B", ["DEADBEEF", "/a/b"]) == ["/a/b"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see (https://a.b/c?d=1), now", ["https://a.b/c?d=1"]),
        ("/a /ab /ab/c.txt", ["/ab/c.txt"]),
        ("C:\\x\\y.txt", ["C:\\x\\y.txt"]),
        ("db.example.com:5432!", ["db.example.com:5432"]),
        ("12345 123456 a1234567890", ["123456", "A1234567890"]),
        ("550e8400-e29b-41d4-a716-446655440000", ["550E8400", "446655440000"]),
        ("cafebabe CAFEBABE", ["CAFEBABE"]),
    ],
)
def test_identifiers_are_found_by_their_form(text: str, found: list[str]) -> None:
    assert opaque_identifiers(text) == found


@given(st.text())
def test_identifiers_are_few_distinct_and_at_least_four_long(text: str) -> None:
    found = opaque_identifiers(text)
    assert len(found) == len(set(found)) <= 12
    assert all(len(identifier) >= 4 for identifier in found)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Please fix the login bug", ["fix", "login", "bug"]),
        ("what is it", ["what", "is", "it"]),
        ("登录问题", ["登", "录", "问", "题", "登录", "录问", "问题"]),
        ("ログイン画面", ["ログイン", "画面"]),
        ("사용자가", ["사용자가", "사용자"]),
        ("ＬＯＧＩＮ", ["login"]),
        ("!!!", []),
    ],
)
def test_an_ask_is_taken_apart_into_its_meaningful_words(text: str, tokens: list[str]) -> None:
    assert overlap_tokens(text) == tokens


def test_two_words_must_be_found_of_three_and_one_of_two() -> None:
    assert not ask_overlap("alpha", "alpha beta gamma").reflected
    assert ask_overlap("gamma alpha", "alpha beta gamma").reflected
    assert ask_overlap("alpha", "alpha beta").reflected
    assert ask_overlap("anything", None).reflected
    assert ask_overlap("anything", "!!!").reflected


@given(st.text(max_size=60))
def test_a_summary_that_repeats_the_ask_reflects_it(ask: str) -> None:
    assert ask_overlap(ask, ask).reflected


def test_a_fallback_keeps_what_was_known_under_its_first_heading() -> None:
    assert structured_fallback("old").startswith("## Decisions\nold\n\n## Open TODOs\nNone.")
    assert structured_fallback(f" {HEADINGS} ") == HEADINGS
    assert has_required_sections(structured_fallback(None))


SIMPLE = re.compile(
    r"[A-Fa-f0-9]{8,}"
    rf"|https?://{js.NON_SPACE_CLASS}+"
    r"|/[\w.-]{2,}(?:/[\w.-]+)+"
    r"|[A-Za-z]:\\[\w\\.-]+"
    r"|[A-Za-z0-9._-]+\.[A-Za-z0-9._/-]+:\d{1,5}"
    r"|\b\d{6,}\b",
    re.ASCII,
)
PIECES = (
    "a",
    "f0",
    "9",
    ".",
    ":",
    "/",
    "-",
    "_",
    " ",
    "deadbeef",
    "123456",
    "C:\\",
    ":8",
    "é",
    "'",
)


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_the_fast_search_finds_what_the_simple_pattern_would(text: str) -> None:
    bare = (m.lstrip("(\"'`[{<").rstrip(")]\"'`,;:.!?<>") for m in SIMPLE.findall(text))
    wanted = [b.upper() if re.fullmatch("[A-Fa-f0-9]{8,}", b) else b for b in bare if len(b) >= 4]
    assert opaque_identifiers(text) == list(dict.fromkeys(wanted))[:12]


@pytest.mark.parametrize("piece", ["x", "a.", "a/", "1", "f ", ".a:"])
def test_long_texts_are_searched_in_no_time(piece: str) -> None:
    assert len(opaque_identifiers(piece * 100_000)) <= 12


def test_the_word_an_identifier_stands_in_is_known_as_written() -> None:
    text = "trace 550e8400-e29b-41d4-a716-446655440000, call_deadbeef01 at (http://h.io/p)."
    whole = "550e8400-e29b-41d4-a716-446655440000"
    assert identifiers_in_their_words(text) == {
        "550E8400": whole,
        "446655440000": whole,
        "DEADBEEF01": "call_deadbeef01",
        "http://h.io/p": "http://h.io/p",
    }
    glued = "g" * 5000 + "deadbeef01" + "g" * 5000
    assert len(identifiers_in_their_words(glued)["DEADBEEF01"]) == 90
