"""How one text, or one tool result, is cut for good."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.pruning import truncate, truncation_rules
from compaction_app.engine.pruning.truncation_rules import (
    TRUNCATION_2026_3,
    TRUNCATION_2026_4_20,
    TRUNCATION_2026_5_28,
    TruncationRules,
)
from sessions_app.tokens import javascript as js
from tests.engine.pruning.messages import IMAGE, answer, result, results, text_of, texts, unchanged

BOUNDED = [TRUNCATION_2026_4_20, TRUNCATION_2026_5_28]
ALL = [TRUNCATION_2026_3, *BOUNDED]
limits = st.integers(0, 6000)


@pytest.mark.parametrize("rules", BOUNDED)
@given(text=texts, limit=limits, keep=st.integers(0, 2000))
def test_a_bounded_cut_never_exceeds_its_limit(
    rules: TruncationRules, text: str, limit: int, keep: int
) -> None:
    cut = truncate.truncate_text(text, limit, rules, min_keep_chars=keep)
    assert js.utf16_len(cut) <= limit


@given(text=texts, limit=limits, keep=st.integers(0, 2000))
def test_an_unbounded_cut_exceeds_its_limit_at_most_by_what_it_must_keep(
    text: str, limit: int, keep: int
) -> None:
    cut = truncate.truncate_text(text, limit, TRUNCATION_2026_3, min_keep_chars=keep)
    assert js.utf16_len(cut) <= max(limit, keep + 217)


@pytest.mark.parametrize("rules", ALL)
@given(text=texts, limit=limits)
def test_a_text_that_fits_is_the_same_object_and_a_cut_one_says_so(
    rules: TruncationRules, text: str, limit: int
) -> None:
    cut = truncate.truncate_text(text, limit, rules)
    if js.utf16_len(text) <= limit:
        assert cut is text
    elif limit >= 100:
        assert "runcated" in cut
    assert truncate.truncate_text(text, limit, rules) == cut


def test_the_notice_counts_what_is_gone() -> None:
    assert truncate.truncate_text("a" * 200, 100, TRUNCATION_2026_5_28).endswith(
        "a[... 171 more characters truncated; rerun with narrower args if needed]"
    )


def test_head_and_tail_are_kept_where_the_tail_tells_of_a_failure() -> None:
    text = "head\n" + "x" * 20_000 + "\nfatal: no such file"
    cut = truncate.truncate_text(text, 9000, TRUNCATION_2026_5_28)
    head, marker, tail = cut.partition(truncation_rules.MIDDLE_MARKER)
    assert head.startswith("head\n") and marker and "fatal: no such file" in tail


@pytest.mark.parametrize("tail", ["Error: x", "STACK TRACE", "all done", '{"a": 1}\n', "x-fatal"])
def test_an_important_tail(tail: str) -> None:
    assert truncation_rules.has_important_tail("x " * 3000 + tail)


@pytest.mark.parametrize("tail", ["errors", "undone", "[1]", "stack  trace", "error_code", ""])
def test_an_unimportant_tail(tail: str) -> None:
    assert not truncation_rules.has_important_tail("x " * 3000 + tail)


@pytest.mark.parametrize("rules", ALL)
@given(message=results, limit=limits)
def test_cutting_a_message_leaves_the_given_one_alone(
    rules: TruncationRules, message: dict[str, object], limit: int
) -> None:
    before = unchanged(message)
    cut = truncate.truncate_message(message, limit, rules)
    assert message == before
    assert (cut is message) == (truncate.tool_result_text_chars(message, rules) <= limit)


def test_blocks_share_the_limit_and_other_blocks_stay() -> None:
    message = result("a" * 30_000)
    message["content"] += [IMAGE, {"type": "text", "text": "b" * 10_000}]
    cut = truncate.truncate_message(message, 20_000, TRUNCATION_2026_5_28)
    lengths = [len(block.get("text", "")) for block in cut["content"]]
    assert lengths == [15_000, 0, 5_000] and cut["content"][1] is IMAGE


def test_a_string_content_and_other_roles_are_never_capped() -> None:
    for message in (result("") | {"content": "x" * 9000}, answer(), {"role": "tool"}, None, "x"):
        assert truncate.cap_message(message, 100, TRUNCATION_2026_5_28) is message


def test_storing_has_a_notice_of_its_own_in_2026_3() -> None:
    capped = truncate.cap_message(result("a" * 500_000), 400_000, TRUNCATION_2026_3)
    assert text_of(capped).endswith(truncation_rules.GUARD_SUFFIX)
