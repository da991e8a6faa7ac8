"""What a cut left of a text is told from the text before and the text after."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.pruning.change import text_chars
from compaction_app.engine.pruning.cut_shape import CutShape, shape_of
from compaction_app.engine.pruning.tried_cuts import CUTS, CutLimits, cut_by, notice_of
from compaction_app.engine.pruning.truncation_rules import MIDDLE_MARKER, MIDDLE_MARKER_CHARS
from compaction_app.engine.rule_sets import OPENCLAW_2026_3, OPENCLAW_2026_5_28, RULE_SETS
from sessions_app.tokens import javascript as js
from tests.engine.pruning.messages import IMAGE, result, results, text_of


def shaped(name: Any, message: Any, limit: float, rules: Any = OPENCLAW_2026_5_28) -> CutShape:
    limits = CutLimits(limit, limit, limit)
    return shape_of(message, cut_by(name, message, limits, rules), notice_of(name, rules))


def test_a_result_that_fits_is_all_head() -> None:
    assert shaped("storing", result("short"), 100) == CutShape(5, 0, 5, False, False)


def test_a_text_without_an_important_end_keeps_its_head() -> None:
    message = result("x" * 30_000)
    left = shaped("storing", message, 9_000)
    notice = notice_of("storing", OPENCLAW_2026_5_28)(30_000 - left.head)
    assert (left.tail, left.total, left.written) == (0, 9_000, len(notice))


def test_a_text_with_an_important_end_keeps_head_and_tail() -> None:
    message = result("x" * 30_000 + " done")
    left = shaped("storing", message, 9_000)
    notice = notice_of("storing", OPENCLAW_2026_5_28)(21_005)
    assert left.tail == (9_000 - len(notice)) * 3 // 10
    cut = text_of(cut_by("storing", message, CutLimits(9_000, 0, 0), OPENCLAW_2026_5_28))
    assert cut[left.head :].startswith(MIDDLE_MARKER)
    assert cut[left.head + MIDDLE_MARKER_CHARS :][: left.tail].endswith(" done")


def test_a_cut_at_the_end_of_a_line_is_told() -> None:
    left = shaped("storing", result(("y" * 99 + "\n") * 300), 9_000)
    assert left.ends_line and left.head % 100 == 99
    assert not shaped("storing", result("y" * 30_000), 9_000).ends_line


def test_a_marker_that_stands_in_the_text_already_is_no_cut() -> None:
    left = shaped("storing", result("a" * 50 + MIDDLE_MARKER + "x" * 30_000), 9_000)
    assert left.tail == 0 and left.head > 8_000


def test_a_split_surrogate_pair_counts_as_half() -> None:
    left = shaped("call", result("😀" * 4_000), 7_000, OPENCLAW_2026_3)
    assert left.head % 2 == 1 and left.head == 7_000 - left.written


def test_texts_that_the_guard_joins_are_compared_joined() -> None:
    blocks = [{"type": "text", "text": "a" * 3_000}, IMAGE, {"type": "text", "text": "b" * 3_000}]
    left = shaped("call", {**result(""), "content": blocks}, 9_000)
    assert left.head > 3_001 and left.total == 4_500


@pytest.mark.parametrize("name", CUTS)
@given(
    message=results, limit=st.integers(1, 4_000), rules=st.sampled_from(list(RULE_SETS.values()))
)
def test_head_tail_and_what_is_written_make_up_the_engine_s_own_text(
    name: Any, message: Any, limit: int, rules: Any
) -> None:
    cut = cut_by(name, message, CutLimits(limit, limit, limit), rules)
    left = shape_of(message, cut, notice_of(name, rules))
    assert left.is_cut == (cut is not message)
    assert left.total == text_chars(cut)
    assert left.head >= 0 and left.tail >= 0 and left.written >= 0
    assert left.head + left.tail <= max(text_chars(message) + len(message["content"]), left.total)


def in_units(text: str) -> bytes:
    """The text with a split surrogate pair as its half, so that a part of it is found."""
    return text.encode("utf-16-le", "surrogatepass")


@given(
    lines=st.lists(st.sampled_from(["aaaa", "漢字", "😀", "\n", "error"]), min_size=1, max_size=6),
    times=st.integers(1, 600),
    limit=st.integers(100, 9_000),
    rules=st.sampled_from(list(RULE_SETS.values())),
    name=st.sampled_from(CUTS),
)
def test_head_and_tail_stand_in_the_text_before_and_the_text_after(
    lines: list[str], times: int, limit: int, rules: Any, name: Any
) -> None:
    message = result("".join(lines) * times + " done")
    cut = cut_by(name, message, CutLimits(limit, limit, limit), rules)
    left = shape_of(message, cut, notice_of(name, rules))
    old, new = text_of(message), text_of(cut)
    assert js.utf16_slice(new, 0, left.head) == js.utf16_slice(old, 0, left.head)
    if left.tail:
        start = left.head + MIDDLE_MARKER_CHARS
        assert js.utf16_slice(new, left.head, start) == MIDDLE_MARKER
        tail = js.utf16_slice(new, start, start + left.tail)
        assert in_units(tail) in in_units(old)
