"""The runtime's own auto-compaction."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.budget import CompactionSettings
from compaction_app.engine.inner_trigger import (
    RECOVERY_FAILED,
    InnerTrigger,
    RunState,
    check_inner_trigger,
    exceeds_threshold,
    latest_compaction_ms,
    overflow_mark_after,
)
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28

SETTINGS = CompactionSettings(reserve_tokens=20_000)
MODEL = {"provider": "p", "id": "m", "contextWindow": 96_000}
TOKENS = st.integers(0, 10**6)


def answer(total: int = 0, stop: str = "stop", **fields: Any) -> dict[str, Any]:
    usage = {"input": total, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": total}
    return {
        "role": "assistant",
        "content": [],
        "provider": "p",
        "model": "m",
        "stopReason": stop,
        "timestamp": 5_000,
        "usage": usage,
        **fields,
    }


def check(message: dict[str, Any], skip_aborted: bool = True, **state: Any) -> InnerTrigger:
    given = RunState(**{"settings": SETTINGS, "model": MODEL, **state})
    rules = OPENCLAW_2026_5_28.inner_trigger
    return check_inner_trigger(rules, "rules", message, given, skip_aborted=skip_aborted)


@given(TOKENS, TOKENS, TOKENS)
def test_the_threshold_is_strict(tokens: int, window: int, reserve: int) -> None:
    settings = CompactionSettings(reserve_tokens=reserve)
    assert exceeds_threshold(tokens, window, settings) == (tokens > window - reserve)
    assert not exceeds_threshold(tokens, window, CompactionSettings(enabled=False))


@given(TOKENS, TOKENS, TOKENS, TOKENS)
def test_a_larger_reserve_never_silences_the_trigger(
    tokens: int, window: int, reserve: int, add: int
) -> None:
    low = CompactionSettings(reserve_tokens=reserve)
    high = CompactionSettings(reserve_tokens=reserve + add)
    assert exceeds_threshold(tokens, window, high) or not exceeds_threshold(tokens, window, low)


def test_usage_above_the_line_compacts_without_a_retry() -> None:
    assert check(answer(76_000)).decision.reason == "below_threshold"
    fired = check(answer(76_001))
    assert (fired.action, fired.retry, fired.compacts) == ("compact_threshold", False, True)
    assert fired.decision.inputs["contextTokens"] == 76_001
    assert fired.decision.steps[0].value == 76_000


def test_switched_off_it_says_so() -> None:
    off = check(answer(10**6), settings=CompactionSettings(enabled=False))
    assert (off.action, off.decision.reason) == ("none", "compaction_disabled")


def test_an_aborted_answer_counts_only_before_a_prompt() -> None:
    assert check(answer(90_000, "aborted")).decision.reason == "answer_aborted"
    assert check(answer(90_000, "aborted"), skip_aborted=False).compacts


@pytest.mark.parametrize(("moment", "fires"), [(5_001, False), (5_000, False), (4_999, True)])
def test_an_answer_from_before_the_compaction_is_passed_over(moment: int, fires: bool) -> None:
    assert check(answer(90_000), latest_compaction_ms=moment).compacts is fires


def test_without_a_model_the_window_is_nothing_and_the_line_is_always_crossed() -> None:
    assert check(answer(1), model=None).action == "compact_threshold"


def test_an_overflow_is_compacted_away_once_and_then_reported() -> None:
    failed = answer(0, "error", errorMessage="prompt is too long")
    first = check(failed, messages=[{"role": "user"}, failed])
    assert (first.action, first.retry, first.overflow_attempted) == ("compact_overflow", True, True)
    assert first.drops_last_message and first.error is None
    again = check(failed, messages=[failed], overflow_attempted=True)
    assert (again.action, again.compacts, again.overflow_attempted) == (
        "overflow_again",
        False,
        True,
    )
    assert again.error == RECOVERY_FAILED and not again.drops_last_message


def test_only_an_assistants_message_at_the_end_is_dropped() -> None:
    silent = answer(96_001)
    assert not check(silent, messages=[silent, {"role": "user"}]).drops_last_message
    assert not check(silent).drops_last_message


@pytest.mark.parametrize("other", [{"model": "other"}, {"provider": "other"}])
def test_an_overflow_of_another_model_is_only_an_error(other: dict[str, Any]) -> None:
    failed = answer(0, "error", errorMessage="prompt is too long", **other)
    assert check(failed, messages=[failed]).decision.reason == "no_usage"


def test_after_an_error_the_context_is_estimated_from_the_last_good_usage() -> None:
    good, failed = answer(76_000, timestamp=4_000), answer(2, "error", errorMessage="boom")
    tail = {"role": "user", "content": "abcd"}
    assert check(failed, messages=[good, tail, failed]).compacts
    assert not check(failed, messages=[good, failed]).compacts
    stale = check(failed, messages=[good, tail, failed], latest_compaction_ms=4_000)
    assert stale.decision.reason == "usage_before_compaction"


@pytest.mark.parametrize(
    ("message", "mark"),
    [
        ({"role": "user"}, False),
        ({"role": "assistant", "stopReason": "stop"}, False),
        ({"role": "assistant", "stopReason": "error"}, True),
        ({"role": "toolResult"}, True),
    ],
)
def test_the_mark_clears_with_a_question_or_an_answer(message: dict[str, Any], mark: bool) -> None:
    assert overflow_mark_after(True, message) is mark
    assert overflow_mark_after(False, message) is False


def test_the_latest_compaction_of_a_branch_is_the_last_one() -> None:
    branch = [
        {"type": "compaction", "timestamp": "1970-01-01T00:00:05.000Z"},
        {"type": "compaction", "timestamp": "1970-01-01T00:00:07.250Z"},
        {"type": "message", "timestamp": "1970-01-01T00:00:09.000Z"},
    ]
    assert latest_compaction_ms(branch) == 7_250
    assert latest_compaction_ms(branch[2:]) is None
    for unreadable in ("soon", None, 5):
        assert latest_compaction_ms([{"type": "compaction", "timestamp": unreadable}]) is None
