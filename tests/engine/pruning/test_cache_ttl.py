"""Which old tool results a model call sees shortened or cleared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.pruning.cache_ttl import (
    HARD_CLEAR,
    SOFT_TRIM,
    PrunedContext,
    assistant_cutoff,
    prune_call,
    prune_context,
)
from compaction_app.engine.pruning.cache_ttl_settings import CacheTtlSettings, HardClear
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28, RULE_SETS, RuleSet
from sessions_app.tokens.pruner_chars import pruner_context_chars
from tests.engine.pruning.messages import (
    IMAGE,
    answer,
    conversations,
    result,
    text_of,
    unchanged,
    user,
)

DEFAULT = CacheTtlSettings()
EAGER = CacheTtlSettings(keep_last_assistants=1, min_prunable_tool_chars=0)
TAIL = [answer(), answer(), answer()]
STEPS = st.floats(0, 1)
settings_drawn = st.builds(
    CacheTtlSettings,
    keep_last_assistants=st.integers(0, 3),
    soft_trim_ratio=STEPS,
    hard_clear_ratio=STEPS,
    min_prunable_tool_chars=st.integers(0, 3000),
)


def pruned(
    messages: list[Any],
    settings: CacheTtlSettings = DEFAULT,
    window: object = 1000,
    rules: RuleSet = OPENCLAW_2026_5_28,
    **options: Any,
) -> PrunedContext:
    return prune_context(messages, settings, rules, window_tokens=window, **options)


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=lambda rules: rules.id)
@given(messages=conversations, settings=settings_drawn, window=st.integers(1, 3000))
def test_only_old_results_behind_the_first_prompt_change_and_only_in_view(
    rules: RuleSet, messages: list[dict[str, Any]], settings: CacheTtlSettings, window: int
) -> None:
    before = unchanged(messages)
    done = pruned(messages, settings, window, rules)
    assert messages == before
    changed = {int(made.position) for made in done.changes}
    assert all(
        a is b or i in changed for i, (a, b) in enumerate(zip(messages, done.messages, strict=True))
    )
    assert (done.messages is messages) == (not changed) == (not done.decision.fired)
    cutoff = assistant_cutoff(messages, settings.keep_last_assistants)
    roles = [message["role"] for message in messages]
    for position in changed:
        assert roles[position] == "toolResult"
        assert "user" in roles[:position]
        assert cutoff is not None and position < cutoff
    assert pruned(messages, settings, window, rules) == done


@given(messages=conversations, settings=settings_drawn, window=st.integers(1, 3000))
def test_the_decision_s_numbers_are_those_of_the_context(
    messages: list[dict[str, Any]], settings: CacheTtlSettings, window: int
) -> None:
    done = pruned(messages, settings, window)
    steps = {step.name: step.value for step in done.decision.steps}
    chars = OPENCLAW_2026_5_28.pruning.cache_ttl.chars
    if steps:
        assert steps["contextChars"] == pruner_context_chars(messages, chars)
        assert steps["ratioAfter"] == pruner_context_chars(done.messages, chars) / (window * 4)
    if done.decision.reason == "cleared_enough":
        ratio = steps["ratioAfter"]
        assert isinstance(ratio, float) and ratio < settings.hard_clear_ratio


def test_a_context_at_the_ratio_is_trimmed_and_one_below_is_not() -> None:
    for length, fired in ((6994, True), (6993, False)):
        context = [user("u" * length), result("t" * 5000), answer({"type": "text", "text": "a1"})]
        context += [answer({"type": "text", "text": f"a{i}"}) for i in (2, 3)]
        assert pruned(context, window=10_000).decision.fired == fired


def test_a_trimmed_result_says_what_is_kept() -> None:
    done = pruned([user(), result("t" * 9000), *TAIL])
    assert text_of(done.messages[1]).endswith(
        "\n\n[Tool result trimmed: kept first 1500 chars and last 1500 chars of 9000 chars.]"
    )
    assert [made.rule for made in done.changes] == [SOFT_TRIM]
    assert done.decision.reason == "too_little_to_clear"


def test_clearing_stops_as_soon_as_the_context_is_small_enough() -> None:
    context = [user(), *(result("t" * 2000) for _ in range(4)), *TAIL]
    done = pruned(context, replace(EAGER, hard_clear_ratio=0.5, keep_last_assistants=3), 3000)
    assert [(made.position, made.rule) for made in done.changes] == [
        (1, HARD_CLEAR),
        (2, HARD_CLEAR),
    ]
    assert done.decision.reason == "cleared_enough"
    assert text_of(done.messages[1]) == "[Old tool result content cleared]"


def test_clearing_can_be_switched_off() -> None:
    settings = replace(EAGER, hard_clear=HardClear(enabled=False))
    done = pruned([user(), result("t" * 9000), answer()], settings, 100)
    assert [made.rule for made in done.changes] == [SOFT_TRIM]
    assert done.decision.reason == "hard_clear_off"


def test_a_string_content_is_cleared_but_never_trimmed() -> None:
    context = [user("u" * 4000), {**result(""), "content": "t" * 9000}, result("x" * 20), *TAIL]
    done = pruned(context, replace(DEFAULT, min_prunable_tool_chars=10))
    assert [made.rule for made in done.changes] == [HARD_CLEAR, HARD_CLEAR]


@pytest.mark.parametrize("window", [None, 0, -1, float("nan"), "1000"])
def test_without_a_window_nothing_is_pruned(window: object) -> None:
    context = [user(), result("t" * 9000), *TAIL]
    assert pruned(context, window=window).decision.reason == "no_window"
    own = pruned(context, window=window, model_window_tokens=1000)
    assert own.decision.fired


def test_too_few_answers_protect_everything() -> None:
    done = pruned([user(), result("t" * 9000), answer()])
    assert done.decision.reason == "too_few_answers"


def test_reasoning_that_is_not_sent_can_be_left_out_of_the_estimate() -> None:
    thinking = answer({"type": "thinking", "thinking": "h" * 9000})
    context = [user(), thinking, result("t" * 5000), *TAIL]
    assert pruned(context, window=6000).decision.fired
    assert not pruned(context, window=6000, drop_thinking_blocks=True).decision.fired
    earlier = RULE_SETS["openclaw-2026.3"]
    assert pruned(context, window=6000, rules=earlier, drop_thinking_blocks=True).decision.fired


def call(touched: float | None, now: float = 1000, **options: Any) -> PrunedContext:
    settings: CacheTtlSettings | None = options.pop("settings", replace(DEFAULT, ttl_ms=500))
    context = options.pop("context", [user(), result("t" * 9000), *TAIL])
    return prune_call(
        context,
        settings,
        OPENCLAW_2026_5_28,
        now_ms=now,
        touched_at_ms=touched,
        window_tokens=1000,
        **options,
    )


@pytest.mark.parametrize(
    ("touched", "options", "reason"),
    [
        (None, {}, "cache_never_touched"),
        (0, {}, "cache_never_touched"),
        (501, {}, "ttl_not_elapsed"),
        (500, {"settings": None}, "off"),
        (500, {"eligible": False}, "provider_not_eligible"),
        (500, {"context": [user(), {"role": "assistant"}, *TAIL]}, "malformed_message"),
        (500, {"settings": replace(DEFAULT, ttl_ms=0)}, "no_ttl"),
    ],
)
def test_a_call_waits(touched: float | None, options: dict[str, Any], reason: str) -> None:
    done = call(touched, **options)
    assert (done.decision.fired, done.decision.reason) == (False, reason)
    assert done.touched_at_ms == touched


def test_the_time_moves_only_when_something_was_pruned() -> None:
    assert call(500).touched_at_ms == 1000
    assert call(500, context=[user(), *TAIL]).touched_at_ms == 500


def test_an_image_is_replaced_in_view() -> None:
    message = {**result(""), "content": [IMAGE]}
    done = pruned([user(), message, *TAIL])
    assert text_of(done.messages[1]) == "[image removed during context pruning]"
