"""Whether a memory flush runs before a turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.flush_plan import OPENCLAW_2026_5_28, flush_plan
from compaction_app.engine.flush_run import (
    FlushDecision,
    FlushModel,
    FlushSituation,
    TranscriptNeeds,
    decide_flush,
    effective_tokens,
    error_text,
    flush_model,
    prompt_estimate,
    transcript_needs,
)
from compaction_app.engine.last_usage import LastUsage
from sessions_app.tokens.message_tokens import OPENCLAW_2026_5_28 as ESTIMATOR
from sessions_app.transcripts.usage import Usage

PLAN = flush_plan({}, 0, OPENCLAW_2026_5_28)
FRESH = {"totalTokens": 70_000, "totalTokensFresh": True}


def situation(entry: Any = FRESH, **more: Any) -> FlushSituation:
    fields = {"plan": PLAN, "entry": entry, "window": 96_000, "prompt_estimate": 100} | more
    return FlushSituation(**fields)


def usage(prompt: int, output: int = 0) -> LastUsage:
    return LastUsage(1000, Usage(input=prompt, output=output), 0)


def decide(
    at: FlushSituation, last: LastUsage | None = None, size: int | None = None
) -> FlushDecision:
    return decide_flush(at, last, size, "test")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"plan": None}, "no_flush_plan"),
        ({"is_heartbeat": True}, "heartbeat"),
        ({"is_cli_provider": True}, "cli_provider"),
        ({"can_write_workspace": False}, "workspace_not_writable"),
    ],
)
def test_what_rules_a_flush_out_also_spares_the_reading(change: Any, reason: str) -> None:
    at = situation({"totalTokens": 95_000, "totalTokensFresh": True}, **change)
    assert transcript_needs(at) == TranscriptNeeds()
    assert decide(at).decision.reason == reason
    assert not decide(at).decision.fired


@pytest.mark.parametrize(
    ("entry", "estimate", "read"),
    [
        ({"totalTokens": 63_708, "totalTokensFresh": True}, 100, True),
        ({"totalTokens": 63_707, "totalTokensFresh": True}, 100, False),
        ({"totalTokens": 90_000, "totalTokensFresh": True}, None, False),
        ({"totalTokens": 10, "totalTokensFresh": False}, 100, True),
        ({"totalTokens": 10}, 100, True),
        ({}, None, True),
    ],
)
def test_the_transcript_is_read_when_the_total_is_doubtful_or_near_the_line(
    entry: Any, estimate: int | None, read: bool
) -> None:
    assert transcript_needs(situation(entry, prompt_estimate=estimate)).usage is read


def test_the_last_answer_and_the_prompt_are_added_to_the_total() -> None:
    found = decide(situation(), usage(60_000, output=1_900))
    assert found.decision.fired and found.decision.steps[0].value == 72_000
    assert not found.entry_changed
    assert not decide(situation(), usage(60_000, output=1_899)).decision.fired


def test_a_larger_prompt_in_the_transcript_corrects_the_entry_even_without_a_flush() -> None:
    found = decide(situation(), usage(71_000))
    assert found.entry == {"totalTokens": 71_000, "totalTokensFresh": True} and found.entry_changed
    assert not found.decision.fired


def test_a_stale_total_is_replaced_even_by_a_smaller_one() -> None:
    found = decide(situation({"totalTokens": 90_000, "totalTokensFresh": False}), usage(5_000))
    assert found.entry == {"totalTokens": 5_000, "totalTokensFresh": True}
    assert found.decision.reason == "below_threshold"


def test_without_a_transcript_a_legacy_total_counts_and_a_stale_one_does_not() -> None:
    assert decide(situation({"totalTokens": 90_000})).decision.reason == "flush_due"
    stale = decide(situation({"totalTokens": 90_000, "totalTokensFresh": False}))
    assert stale.decision.reason == "no_total"


def test_a_flush_follows_a_preflight_compaction_where_the_window_is_small() -> None:
    after = {"totalTokens": 2_403, "totalTokensFresh": True, "compactionCount": 1}
    small = situation(after, window=32_000, prompt_estimate=225)
    assert transcript_needs(small).usage
    found = decide(small, usage(8_227, output=113))
    assert found.decision.fired and found.decision.steps[0].value == 8_565
    assert not transcript_needs(replace(small, window=96_000)).usage


def test_size_forces_a_flush_once_a_cycle() -> None:
    at = situation({"totalTokens": 10, "totalTokensFresh": True})
    limit = 2_097_152
    assert not decide(at, None, limit - 1).decision.fired
    assert decide(at, None, limit).decision.reason == "forced_by_transcript_size"
    flushed = situation({"memoryFlushCompactionCount": 0})
    assert not decide(flushed, None, limit).decision.fired


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        (None, FlushModel("p", "m")),
        (" ", FlushModel("p", "m")),
        ("x", FlushModel("p", "x", False)),
        (" q / x/y ", FlushModel("q", "x/y", False)),
        ("/x", FlushModel("p", "/x", False)),
    ],
)
def test_a_flush_with_its_own_model_has_no_fallbacks(
    override: object, expected: FlushModel
) -> None:
    assert flush_model("p", "m", override) == expected


def test_an_error_carries_one_warning_sign() -> None:
    assert error_text("x") == error_text("⚠️ x") == "⚠️ x"


def test_errors_are_cut_to_six_hundred_characters() -> None:
    assert error_text("x" * 597) == "⚠️ " + "x" * 597
    assert len(error_text("x" * 598)) == 600 and error_text("x" * 598).endswith("x…")


def test_a_blank_prompt_has_no_estimate() -> None:
    assert [prompt_estimate(text, ESTIMATOR) for text in (None, " ", " abcde ")] == [None, None, 2]


NUMBERS = st.integers(-10, 2_000_000) | st.floats() | st.none()


@given(base=NUMBERS, output=NUMBERS, estimate=st.integers(0, 10_000), more=st.integers(0, 10_000))
def test_a_longer_prompt_never_makes_a_projection_smaller(
    base: Any, output: Any, estimate: int, more: int
) -> None:
    before, after = (effective_tokens(base, output, e) for e in (estimate, estimate + more))
    assert before != before or after >= before


@given(
    st.dictionaries(
        st.sampled_from(["totalTokens", "totalTokensFresh", "memoryFlushCompactionCount"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=2),
    ),
    st.none() | st.builds(usage, st.integers(0, 200_000), st.integers(0, 9_000)),
    st.none() | st.integers(0, 9_000_000),
)
def test_any_entry_gives_a_decision_and_is_left_as_it_was(
    entry: Any, last: LastUsage | None, size: int | None
) -> None:
    before = dict(entry)
    found = decide(situation(entry), last, size)
    assert found.decision.fired is (found.decision.outcome == "flush")
    assert repr(entry) == repr(before)
