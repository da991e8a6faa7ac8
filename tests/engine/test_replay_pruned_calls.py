"""When a what-if prunes: the cache-touch time along the turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.policy import Policy, with_changes
from compaction_app.engine.pruning.run_eligibility import model_api
from compaction_app.engine.replay import Replay, replay
from compaction_app.engine.rule_sets import OPENCLAW_2026_3, OPENCLAW_2026_5_28
from sessions_app.transcripts.timeline import Timeline
from tests.engine.pruning.messages import answer, calls, result, user
from tests.engine.timelines import timed

EAGER = {
    "contextWindow": 32_000,
    "contextPruning.mode": "cache-ttl",
    "contextPruning.ttl": "60s",
    "contextPruning.keepLastAssistants": 0,
    "contextPruning.softTrimRatio": 0,
    "contextPruning.hardClearRatio": 1,
}
LONG = "t" * 9_000


def pruned(grown: Timeline, around: Circumstances | None = None, **changes: Any) -> Replay:
    policy = with_changes(Policy(), {**EAGER, **changes})
    return replay(grown, policy, around or Circumstances(provider="anthropic", model="claude"))


def two_turns(gap: int) -> Timeline:
    """A long result in the first turn; the second begins ``gap`` seconds after the first ends."""
    return timed(
        (1, user()),
        (2, calls("c1")),
        (3, result(LONG)),
        (100, answer()),
        (100 + gap, user()),
        (101 + gap, calls("c2")),
        (102 + gap, result("short", "c2")),
        (103 + gap, answer()),
    )


def test_before_an_attempt_has_ended_there_is_no_mark() -> None:
    assert pruned(two_turns(60)).pruning.reason[:2] == ("cache_never_touched",) * 2


@pytest.mark.parametrize(("gap", "fired"), [(59, False), (60, True)])
def test_a_call_is_pruned_once_the_ttl_has_elapsed(gap: int, fired: bool) -> None:
    done = pruned(two_turns(gap)).pruning
    assert bool(done.fired[2]) == fired
    assert int(done.gap_ms[2]) == gap * 1000
    assert done.reason[2] == ("below_hard_clear_ratio" if fired else "ttl_not_elapsed")


def test_the_next_call_of_the_turn_goes_out_whole_again() -> None:
    done = pruned(two_turns(3600))
    assert done.pruning.fired.tolist() == [False, False, True, False]
    assert done.pruning.reason[3] == "ttl_not_elapsed"
    assert done.prompt[3] > done.prompt[2] + 1_000


def test_a_call_that_changes_nothing_leaves_the_time_as_it_was() -> None:
    done = pruned(two_turns(3600), **{"contextPruning.softTrimRatio": 1}).pruning
    assert done.reason[2:] == ("below_soft_trim_ratio",) * 2
    assert int(done.gap_ms[3]) == 3602 * 1000


def test_pruning_counts_for_one_turn_the_mark_is_the_end_of_the_last() -> None:
    grown = timed(
        (1, user()), (2, calls("c1")), (3, result(LONG)), (4, answer()),
        (100, user()), (300, answer()),
        (330, user()), (331, answer()),
        (391, user()), (392, answer()),
    )  # fmt: skip
    assert pruned(grown).pruning.fired.tolist() == [False, False, True, False, True]


def test_the_prompt_of_a_pruned_call_is_what_is_left_of_it() -> None:
    grown = two_turns(60)
    whole, done = pruned(grown, **{"contextPruning.mode": "off"}), pruned(grown)
    assert done.prompt[2] == whole.prompt[2] - round(2250 * (9000 - 3086) / 9000)
    assert (np.delete(done.prompt, 2) == np.delete(whole.prompt, 2)).all()
    assert int(done.pruning.trimmed_chars[2]) == 9000 - 3086
    assert done.totals.pruned == 1
    assert (done.totals.trimmed_chars, done.totals.cleared_chars) == (9000 - 3086, 0)


def test_a_pruned_call_is_an_event_whose_arithmetic_is_made_when_asked_for() -> None:
    done = pruned(two_turns(60))
    (event,) = [event for event in done.events if event.kind == "prune"]
    assert (event.call, event.turn, event.decision) == (3, 2, None)
    assert event.tokens_after == int(done.prompt[2]) < event.tokens_before
    decision = done.pruning.decision(2)
    assert decision.fired
    assert decision.outcome == "soft_trim"
    assert [step.name for step in decision.steps][:2] == ["windowChars", "contextChars"]


def test_a_call_left_alone_tells_how_long_the_cache_was_cold() -> None:
    decision = pruned(two_turns(59)).pruning.decision(2)
    assert (decision.fired, decision.reason) == (False, "ttl_not_elapsed")
    assert decision.inputs == {"sinceCacheTouch": 59_000, "ttl": 60_000}


@pytest.mark.parametrize(
    ("changes", "around", "reason"),
    [
        ({"contextPruning.mode": "off"}, {}, "off"),
        ({"contextPruning.ttl": "0s"}, {}, "no_ttl"),
        ({}, {"provider": "openai"}, "provider_not_eligible"),
        ({}, {"path": "cli"}, "cli_backend"),
    ],
)
def test_where_pruning_cannot_run_every_call_says_why(
    changes: dict[str, Any], around: dict[str, Any], reason: str
) -> None:
    circumstances = Circumstances(**{"provider": "anthropic", "model": "claude", **around})
    done = pruned(two_turns(3600), circumstances, **changes)
    assert set(done.pruning.reason) == {reason}
    assert done.pruning.decision(2).reason == reason


def test_an_api_in_the_configuration_makes_a_provider_eligible() -> None:
    config = {
        "models": {"providers": {"Mock": {"api": "anthropic-messages", "models": [{"id": "m"}]}}}
    }
    around = Circumstances(provider="mock", model="m", config=config)
    assert pruned(two_turns(60), around).pruning.eligibility.reason == "anthropic_api"
    assert pruned(two_turns(60), around).totals.pruned == 1


def test_a_model_s_own_api_goes_before_its_provider_s() -> None:
    models = [{"id": "a", "api": "openai-responses"}, {"id": "b"}]
    config = {"models": {"providers": {"p": {"api": "anthropic-messages", "models": models}}}}
    assert model_api(config, "p", "a") == "openai-responses"
    assert model_api(config, " P ", "b") == "anthropic-messages"
    assert model_api(config, "q", "a") is None
    assert model_api({"models": {"providers": []}}, "p", "a") is None


def test_which_providers_are_eligible_is_the_rule_set_s_to_say() -> None:
    for rules, count in ((OPENCLAW_2026_3, 1), (OPENCLAW_2026_5_28, 0)):
        around = Circumstances(provider="moonshot", model="kimi", rules=rules)
        assert pruned(two_turns(60), around).totals.pruned == count


def billed(message: dict[str, Any], prompt: int) -> dict[str, Any]:
    """An answer with its usage: without any the runtime's own threshold never fires."""
    return {**message, "usage": {"input": prompt, "output": 10}}


def test_an_attempt_that_compacts_leaves_no_mark() -> None:
    long = 10_050 + -(-len(LONG) // 4)
    grown = timed(
        (1, user()), (2, billed(calls("c1"), 10)), (3, result("t" * 40_000)), (4, billed(answer(), 10_020)),
        (100, user()), (101, billed(answer(), 10_030)),
        (150, user()), (151, billed(calls("c2"), 10_040)), (152, result(LONG)), (153, billed(answer(), long)),
        (200, user()), (201, billed(answer(), long + 20)),
    )  # fmt: skip
    small = {"contextWindow": 24_000, "compaction.keepRecentTokens": 100}
    done = pruned(grown, **small)
    assert "threshold_compaction" in {event.kind for event in done.events}
    compacted = next(e.call for e in done.events if e.kind == "threshold_compaction")
    assert compacted == 2
    assert done.pruning.reason[2] == "cache_never_touched"


def test_the_check_before_a_prompt_sees_the_unpruned_transcript() -> None:
    grown = timed(
        (1, user()), (2, calls("c1")), (3, result("t" * 30_000)), (4, answer()),
        (4000, user("u" * 20_000)), (4001, answer()),
    )  # fmt: skip
    cleared = {"contextPruning.hardClearRatio": 0, "contextPruning.minPrunableToolChars": 0}
    kinds = [e.kind for e in pruned(grown, **cleared, contextWindow=28_000).events]
    assert "guard" in kinds


def test_a_missing_time_is_that_of_the_entry_before() -> None:
    grown = timed(
        (1, user()), (2, calls("c1")), (3, result(LONG)), (None, answer()),
        (63, user()), (64, answer()),
    )  # fmt: skip
    assert int(pruned(grown).pruning.gap_ms[2]) == 60_000


def test_a_recording_without_times_is_never_pruned() -> None:
    grown = timed((None, user()), (None, answer()), (None, user()), (None, answer()))
    assert set(pruned(grown).pruning.reason) == {"cache_never_touched"}
