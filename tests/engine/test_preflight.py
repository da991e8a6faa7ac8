"""Whether a session is compacted before a turn."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.last_usage import TranscriptEstimate
from compaction_app.engine.preflight import (
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    PreflightDecision,
    PreflightNeeds,
    PreflightSituation,
    decide_preflight,
    max_active_bytes,
    transcript_needs,
)
from compaction_app.engine.preflight_failures import failure_of, reason_class

BOTH = [OPENCLAW_2026_4_20, OPENCLAW_2026_5_28]


def situation(entry: Any, **more: Any) -> PreflightSituation:
    fields = {"window": 96_000, "reserve_floor": 20_000, "soft_threshold": 4_000} | more
    return PreflightSituation(entry=entry, **fields)


def decide(
    rules: Any, at: PreflightSituation, estimate: Any = None, size: Any = None
) -> PreflightDecision:
    return decide_preflight(rules, at, estimate, size, "test")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"has_session": False}, "no_session_entry"),
        ({"is_heartbeat": True}, "heartbeat"),
        ({"is_cli_provider": True}, "cli_provider"),
        ({"is_codex_runtime": True}, "codex_runtime"),
    ],
)
@pytest.mark.parametrize("rules", BOTH)
def test_what_rules_it_out_also_spares_the_reading(rules: Any, more: Any, reason: str) -> None:
    at = situation({"totalTokensFresh": False}, **more)
    assert transcript_needs(rules, at) == PreflightNeeds()
    assert decide(rules, at).decision.reason == reason


def test_a_fresh_total_is_judged_alone() -> None:
    at = situation({"totalTokens": 71_999.9, "totalTokensFresh": True}, prompt_estimate=50_000)
    assert not transcript_needs(OPENCLAW_2026_5_28, at).estimate
    assert decide(OPENCLAW_2026_5_28, at).decision.reason == "below_threshold"
    due = decide(OPENCLAW_2026_5_28, situation({"totalTokens": 72_000}))
    assert due.decision.fired and due.current_tokens == 72_000


def test_a_stale_total_is_a_lower_bound_of_the_projection() -> None:
    at = situation({"totalTokens": 90_000, "totalTokensFresh": False}, prompt_estimate=1)
    assert transcript_needs(OPENCLAW_2026_5_28, at).estimate
    assert decide(OPENCLAW_2026_5_28, at).current_tokens == 90_000
    estimate = TranscriptEstimate(92_000, 5, 400)
    assert decide(OPENCLAW_2026_5_28, at, estimate).current_tokens == 92_006


def test_the_earlier_version_never_compacts_a_session_with_a_known_total() -> None:
    at = situation({"totalTokens": 500_000})
    found = decide(OPENCLAW_2026_4_20, at, TranscriptEstimate(500_000))
    assert found.decision.reason == "total_is_known" and not found.decision.fired


def test_a_fresh_total_of_zero_is_known_too() -> None:
    at = situation({"totalTokens": 0})
    for rules in BOTH:
        assert not transcript_needs(rules, at).estimate
        assert not decide(rules, at, TranscriptEstimate(500_000)).decision.fired


def test_the_earlier_version_judges_the_stored_messages_and_the_prompt() -> None:
    at = situation({"totalTokensFresh": False, "totalTokens": 90_000}, prompt_estimate=2)
    assert transcript_needs(OPENCLAW_2026_4_20, at).estimate
    assert decide(OPENCLAW_2026_4_20, at, TranscriptEstimate(71_998)).current_tokens == 72_000
    assert not decide(OPENCLAW_2026_4_20, at, TranscriptEstimate(71_997)).decision.fired
    assert decide(OPENCLAW_2026_4_20, at).decision.reason == "no_total"


def test_the_providers_own_compaction_raises_the_line() -> None:
    at = situation({"totalTokens": 80_000}, server_threshold=90_000)
    assert not decide(OPENCLAW_2026_5_28, at).decision.fired
    stale = situation({}, server_threshold=90_000)
    assert decide(OPENCLAW_2026_4_20, stale, TranscriptEstimate(80_000)).decision.fired


def test_size_alone_can_trigger() -> None:
    at = situation({"totalTokens": 5}, max_active_bytes=228)
    assert transcript_needs(OPENCLAW_2026_5_28, at).size
    assert not decide(OPENCLAW_2026_5_28, at, None, 227).decision.fired
    found = decide(OPENCLAW_2026_5_28, at, None, 228)
    assert found.decision.reason == "transcript_size_due" and found.current_tokens == 5


@pytest.mark.parametrize(
    ("compaction", "limit"),
    [
        ({"maxActiveTranscriptBytes": 5}, None),
        ({"truncateAfterCompaction": True, "maxActiveTranscriptBytes": "1kb"}, 1024),
        ({"truncateAfterCompaction": True, "maxActiveTranscriptBytes": 0}, None),
        ({"truncateAfterCompaction": 1, "maxActiveTranscriptBytes": 5}, None),
    ],
)
def test_a_size_limit_needs_compactions_that_shorten_the_file(compaction: Any, limit: Any) -> None:
    assert max_active_bytes({"agents": {"defaults": {"compaction": compaction}}}) == limit


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        ({"ok": True, "compacted": True, "reason": None}, None),
        ({"ok": True, "compacted": False, "reason": "x"}, None),
        ({"ok": False, "compacted": False, "reason": "Already compacted"}, None),
        ({"ok": False, "compacted": False, "reason": "boom"}, "boom"),
        ({"ok": False, "compacted": False, "reason": None}, "unknown"),
        (
            {
                "ok": True,
                "compacted": False,
                "reason": "deferred to background context-engine maintenance",
            },
            "deferred to background context-engine maintenance",
        ),
    ],
)
def test_which_failures_end_the_turn(outcome: Any, error: str | None) -> None:
    expected = error and f"Preflight compaction required but failed: {error}"
    assert failure_of(OPENCLAW_2026_5_28, **outcome) == expected
    assert failure_of(OPENCLAW_2026_4_20, **outcome) is None


@given(st.text() | st.none() | st.integers())
def test_every_reason_has_a_class(reason: object) -> None:
    assert reason_class(reason)


@given(total=st.integers(0, 200_000), more=st.integers(0, 50_000), soft=st.integers(0, 90_000))
def test_more_tokens_or_a_larger_soft_threshold_never_undo_a_compaction(
    total: int, more: int, soft: int
) -> None:
    def fires(tokens: int, threshold: int) -> bool:
        at = situation({"totalTokens": tokens}, soft_threshold=threshold)
        return decide(OPENCLAW_2026_5_28, at).decision.fired

    if fires(total, soft):
        assert fires(total + more, soft)
        assert 96_000 - 20_000 - soft - more <= 0 or fires(total, soft + more)
