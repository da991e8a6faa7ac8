"""What constants that are tried do to single tool results, by the engine's own functions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.pruning.change import text_chars
from compaction_app.engine.pruning.experimental import ExperimentalConstants, with_constants
from compaction_app.engine.pruning.guard import enforce_limits, guard_limits
from compaction_app.engine.pruning.persist import PersistOptions, PersistState, persist_message
from compaction_app.engine.pruning.recovery import truncate_tool_results
from compaction_app.engine.pruning.tried_cuts import CutLimits, cut_limits, tried_rule
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28, OPENCLAW_2026_9, RULE_SETS
from tests.engine.pruning.messages import IMAGE, result, results

OWN = OPENCLAW_2026_5_28
TEXT = ("a line of the log\n" * 4_000) + "exit code 1"


def tried(name: Any, message: Any, window: int = 64_000, rules: Any = OWN, **constants: Any) -> Any:
    other = with_constants(rules, ExperimentalConstants(**constants))
    both = [(r, cut_limits(window, window, {}, r)) for r in (rules, other)]
    return tried_rule(name, [(7, message)], *both)


@pytest.mark.parametrize("name", ["storing", "recovery"])
def test_a_larger_tail_share_moves_characters_from_the_head_to_the_tail(name: Any) -> None:
    done = tried(name, result(TEXT), tail_share=0.5, tail_max_chars=50_000)
    (cut,) = done.cuts
    assert (cut.entry, cut.size, done.own_limit, done.tried_limit) == (7, 72_011, 16_000, 16_000)
    assert cut.tried.tail > cut.own.tail and cut.tried.head < cut.own.head
    assert cut.differs


def test_the_limit_of_the_tail_bounds_it() -> None:
    (cut,) = tried("storing", result(TEXT), tail_max_chars=1_000).cuts
    assert cut.own.tail <= 4_000 and 0 < cut.tried.tail <= 1_000


def test_the_hard_newline_share_decides_whether_a_cut_moves_back() -> None:
    text = "y" * 5_000 + "\n" + "x" * 60_000
    (cut,) = tried("storing", result(text), hard_newline_share=0.2).cuts
    assert (cut.tried.head, cut.tried.ends_line) == (5_000, True)
    assert cut.own.head > 15_000 and not cut.own.ends_line


def test_the_soft_newline_share_decides_it_in_view() -> None:
    text = "y" * 10_000 + "\n" + "x" * 90_000
    (cut,) = tried("call", result(text), soft_newline_share=0.2).cuts
    assert (cut.tried.head, cut.tried.ends_line) == (10_000, True)
    assert cut.own.head > 31_000


def test_a_smaller_single_share_cuts_what_the_runtime_leaves_whole() -> None:
    done = tried("call", result("x" * 20_000), single_share=0.2)
    (cut,) = done.cuts
    assert (done.own_limit, done.tried_limit) == (64_000, 25_600)
    assert not cut.own.is_cut and cut.tried.is_cut
    assert (cut.own.total, cut.tried.total, cut.size) == (20_000, 12_800, 40_000)


def test_a_heavier_image_brings_a_result_over_the_limit() -> None:
    message = {**result(""), "content": [{"type": "text", "text": "x" * 20_000}, IMAGE]}
    assert tried("call", message, image_chars=50_000).cuts[0].tried.is_cut
    assert not tried("call", message, image_chars=100).cuts


def test_since_2026_9_the_cut_in_view_follows_the_hard_cut_s_constants() -> None:
    (cut,) = tried("call", result(TEXT), rules=OPENCLAW_2026_9, tail_max_chars=1_000).cuts
    assert cut.tried.tail < cut.own.tail


def test_without_a_result_over_the_limit_the_largest_is_named() -> None:
    done = tried("storing", result("x" * 900), tail_share=0.5)
    assert (done.cuts, done.largest) == ((), 900)


def test_a_result_on_which_the_guard_fails_is_left_out() -> None:
    broken = {**result(""), "content": [{"type": "text"}, {"type": "text", "text": "x" * 500_000}]}
    assert not tried("call", broken, rules=RULE_SETS["openclaw-2026.3"], single_share=0.1).cuts


constants = st.builds(
    ExperimentalConstants,
    tail_share=st.none() | st.floats(0, 1),
    tail_max_chars=st.none() | st.integers(0, 5_000),
    hard_newline_share=st.none() | st.floats(0, 1),
    soft_newline_share=st.none() | st.floats(0, 1),
    image_chars=st.none() | st.integers(0, 5_000),
)


@given(
    message=results,
    chosen=constants,
    rules=st.sampled_from(list(RULE_SETS.values())),
    limit=st.integers(200, 4_000),
)
def test_the_numbers_are_those_of_what_the_runtime_s_rules_put_out(
    message: Any, chosen: Any, rules: Any, limit: int
) -> None:
    """Against the functions that store a message, guard a context, and rewrite a history."""
    other = with_constants(rules, chosen)
    limits = CutLimits(limit, limit, limit)

    def put_out(name: str, by: Any) -> Any:
        if name == "storing":
            own = replace(by.pruning.persist, reduces_details=False, validates=False)
            options = PersistOptions(max_chars=limit)
            return persist_message(message, PersistState(), options, own, 0).messages[0]
        if name == "call":
            whole = replace(guard_limits(64_000, by.pruning.guard), single_chars=limit)
            return enforce_limits([message], replace(whole, total_chars=10**9), by).messages[0]
        return truncate_tool_results(
            [message], 64_000, by.pruning.recovery, single_cap_chars=limit
        ).messages[0]

    for name in ("storing", "call", "recovery"):
        expected = [text_chars(put_out(name, by)) for by in (rules, other)]
        made = tried_rule(name, [(0, message)], (rules, limits), (other, limits))
        if made.cuts:
            assert [made.cuts[0].own.total, made.cuts[0].tried.total] == expected
        else:
            assert expected == [text_chars(message)] * 2
