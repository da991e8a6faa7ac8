"""How one tool result is cut for one model call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.pruning.soft_cut import (
    FIXED_NOTICE,
    SOFT_CUT_2026_3,
    SOFT_CUT_2026_4_20,
    SOFT_CUT_2026_5_28,
    SoftCutRules,
    cut_text,
    cut_tool_result,
    with_text,
)
from sessions_app.tokens import javascript as js
from sessions_app.tokens.loop_chars import loop_message_chars
from tests.engine.pruning.messages import (
    IMAGE,
    result,
    single_results,
    text_of,
    texts,
    unchanged,
    user,
)

ALL = [SOFT_CUT_2026_3, SOFT_CUT_2026_4_20, SOFT_CUT_2026_5_28]
LONGEST_NOTICE = 80


@pytest.mark.parametrize("rules", ALL)
@given(text=texts, limit=st.integers(0, 4000))
def test_a_cut_text_exceeds_its_limit_only_by_being_the_notice_alone(
    rules: SoftCutRules, text: str, limit: int
) -> None:
    cut = cut_text(text, limit, rules)
    if js.utf16_len(text) <= limit:
        assert cut is text
    else:
        assert js.utf16_len(cut) <= max(limit, LONGEST_NOTICE)
        assert cut.endswith("]")


@pytest.mark.parametrize("rules", ALL)
@given(message=single_results, limit=st.integers(200, 4000))
def test_only_a_result_over_the_limit_is_cut_and_the_given_one_stays(
    rules: SoftCutRules, message: dict[str, Any], limit: int
) -> None:
    before = unchanged(message)
    cut = cut_tool_result(message, limit, rules)
    assert message == before
    size = loop_message_chars(message, rules.chars)
    assert (cut is message) == (size <= limit)
    assert loop_message_chars(cut, rules.chars) <= max(2 * limit if rules is ALL[0] else limit, 200)


def test_later_versions_cut_to_half_the_limit_because_results_count_twice() -> None:
    message = result("a" * 5000)
    assert len(text_of(cut_tool_result(message, 4000, SOFT_CUT_2026_5_28))) == 2000
    assert len(text_of(cut_tool_result(message, 4000, SOFT_CUT_2026_3))) == 4000


def test_a_cut_moves_back_to_the_end_of_a_line_near_by() -> None:
    lines = "x" * 1800 + "\n" + "y" * 9000
    assert cut_text(lines, 2000, SOFT_CUT_2026_3) == "x" * 1800 + "\n" + FIXED_NOTICE


def test_images_and_details_vanish_without_a_notice_when_the_text_fits() -> None:
    message = result("short", details={"a": 1})
    message["content"].append(IMAGE)
    cut = cut_tool_result(message, 2000, SOFT_CUT_2026_5_28)
    assert cut["content"] == [{"type": "text", "text": "short"}] and "details" not in cut


def test_a_result_without_text_becomes_a_notice() -> None:
    message = {**result(""), "content": [IMAGE]}
    assert text_of(cut_tool_result(message, 1000, SOFT_CUT_2026_3)) == FIXED_NOTICE
    assert text_of(cut_tool_result(message, 1000, SOFT_CUT_2026_4_20)) == (
        "[... 7500 more characters truncated]"
    )
    assert text_of(cut_tool_result(result("abc"), 1, SOFT_CUT_2026_4_20)) == (
        "[... 3 more characters truncated]"
    )


def test_a_plain_content_stays_plain() -> None:
    assert with_text({"content": "x"}, "y") == {"content": "y"}
    assert with_text({"role": "tool"}, "y") == {"role": "tool", "content": "y"}
    assert with_text({"content": None}, "y") == {"content": [{"type": "text", "text": "y"}]}


def test_other_messages_are_never_cut() -> None:
    for message in (user("x" * 9000), None, "x"):
        assert cut_tool_result(message, 10, SOFT_CUT_2026_5_28) is message
