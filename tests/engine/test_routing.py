"""The route of a prompt."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.route_status import route_status
from compaction_app.engine.routing import (
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    Prompt,
    PromptRoute,
    RoutingRules,
    cli_turn_compacts,
    prompt_budget,
    route_prompt,
    truncation_threshold_chars,
)
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28 as RULES

TOKENS = st.integers(0, 10**6)


def user(chars: int) -> dict[str, Any]:
    return {"role": "user", "content": "u" * chars}


def result(chars: int) -> dict[str, Any]:
    return {"role": "toolResult", "content": [{"type": "text", "text": "x" * chars}]}


def route(
    prompt: Prompt,
    window: float = 50_000,
    reserve: float = 20_000,
    cap: float | None = None,
    rules: RoutingRules = OPENCLAW_2026_5_28,
) -> PromptRoute:
    return route_prompt(rules, RULES.pruning.recovery, "rules", prompt, window, reserve, cap)


def boundary(tokens: object, source: object = None, messages: Any = (), **more: Any) -> Prompt:
    given = {"estimatedPromptTokens": tokens, "source": source}
    return Prompt(messages, boundary=given, **more)


def test_a_prompt_at_its_budget_fits_and_one_above_does_not() -> None:
    assert route(boundary(30_000)).route == "fits"
    above = route(boundary(30_001))
    assert (above.route, above.overflow_tokens, above.should_compact) == ("compact_only", 1, True)


@pytest.mark.parametrize(
    ("overflow", "needed"), [(0, 2_048), (1, 2_052), (1_023, 6_140), (1_024, 6_144), (1_025, 6_150)]
)
def test_truncation_must_save_the_overflow_with_a_margin(overflow: int, needed: int) -> None:
    assert truncation_threshold_chars(overflow) == needed


def test_truncation_alone_is_taken_at_the_threshold_and_not_one_token_above() -> None:
    """A result of 24000 chars can be cut to the cap of 16000: 8000 chars are saved."""
    messages = [result(24_000)]
    enough = 30_000 + 8_000 // 6
    assert route(boundary(enough, messages=messages)).route == "truncate_tool_results_only"
    more = route(boundary(enough + 1, messages=messages))
    assert (more.route, more.reducible_chars) == ("compact_then_truncate", 8_000)
    assert more.should_compact
    assert not route(boundary(enough, messages=messages)).should_compact


def test_the_live_cap_tells_what_truncation_saves() -> None:
    prompt = boundary(30_001, messages=[result(24_000)])
    assert route(prompt, cap=24_000).route == "compact_only"
    assert route(prompt, cap=20_000).reducible_chars == 4_000


@given(st.floats(0, 10**6), st.floats(-100, 10**6))
def test_a_reserve_leaves_half_a_small_window_to_the_prompt(window: float, reserve: float) -> None:
    budget = prompt_budget(window, reserve)
    assert budget.prompt >= max(1, min(8_000, math.floor(budget.window / 2)))
    assert 0 <= budget.effective_reserve <= max(0, budget.reserve)
    assert budget.prompt + budget.effective_reserve == budget.window


@given(TOKENS, TOKENS, TOKENS)
def test_a_larger_reserve_never_enlarges_the_prompts_budget(
    window: int, low: int, add: int
) -> None:
    assert prompt_budget(window, low + add).prompt <= prompt_budget(window, low).prompt


@given(TOKENS, TOKENS, st.integers(0, 3), st.integers(0, 40_000))
def test_the_route_depends_on_its_inputs_alone_and_is_explained(
    tokens: int, window: int, results: int, chars: int
) -> None:
    prompt = boundary(tokens, messages=[result(chars)] * results)
    first, second = route(prompt, window), route(prompt, window)
    assert first == second
    assert first.decision.outcome == first.route
    assert first.decision.fired == (first.overflow_tokens > 0)
    assert first.decision.inputs["estimatedPromptTokens"] == tokens


@given(TOKENS, TOKENS, TOKENS)
def test_a_larger_estimate_never_turns_an_overflow_into_a_fit(
    window: int, tokens: int, add: int
) -> None:
    assert route(boundary(tokens), window).route == "fits" or (
        route(boundary(tokens + add), window).route != "fits"
    )


def test_a_window_that_is_no_number_always_fits() -> None:
    found = route(Prompt([user(10**6)]), window=math.nan)
    assert found.route == "fits" and math.isnan(found.overflow_tokens)


@pytest.mark.parametrize(
    ("tokens", "source", "estimate", "named"),
    [
        (12.1, " engine ", 13, "engine"),
        (-4, "  ", 0, "rendered_llm_boundary"),
        (7, None, 7, "rendered_llm_boundary"),
        (math.nan, "engine", 15, "transcript_estimate"),
        ("9", "engine", 15, "transcript_estimate"),
        (None, "engine", 15, "transcript_estimate"),
    ],
)
def test_a_rendered_prompts_estimate_is_taken_when_it_is_a_number(
    tokens: object, source: object, estimate: int, named: str
) -> None:
    found = route(boundary(tokens, source))
    assert (found.estimated_prompt_tokens, found.source) == (estimate, named)


def test_the_whole_history_counts_when_it_weighs_more() -> None:
    sent, whole = [user(40)], [user(200_000), result(24_000)]
    found = route(Prompt(sent, unwindowed=whole))
    assert found.source == "unwindowed_transcript_estimate"
    assert (found.route, found.reducible_chars) == ("compact_then_truncate", 8_000)
    assert route(Prompt(whole, unwindowed=sent)).source == "transcript_estimate"
    assert route(Prompt(sent, unwindowed=list(sent))).source == "transcript_estimate"
    assert route(boundary(10**6, messages=sent, unwindowed=whole)).reducible_chars == 0


def test_the_list_itself_is_not_estimated_twice() -> None:
    asked: list[Any] = []

    def estimate(messages: Any, text: str, system: object) -> int:
        asked.append(messages)
        return 1

    sent = [user(4)]
    route(Prompt(sent, unwindowed=sent), rules=RoutingRules(estimate, True, weighs_shape=True))
    assert len(asked) == 1


def test_an_earlier_version_looked_at_the_messages_alone() -> None:
    prompt = boundary(10**6, messages=[user(400)], unwindowed=[user(10**6)], system="s" * 400)
    found = route(prompt, rules=OPENCLAW_2026_4_20)
    assert (found.estimated_prompt_tokens, found.source, found.route) == (120, None, "fits")


def test_a_cli_turn_compacts_on_its_route_or_on_a_stored_total_above_the_budget() -> None:
    fits = route(boundary(10))
    assert not cli_turn_compacts(fits, 30_000)
    assert cli_turn_compacts(fits, 30_001)
    assert cli_turn_compacts(route(boundary(30_001)), 0)


def test_the_status_keeps_whole_numbers_that_are_not_negative() -> None:
    status = route_status(
        route(boundary(40_000)),
        now_ms=5,
        provider="p",
        model="m",
        context_tokens=50_000.9,
        reserve_tokens=-1,
        message_count=3.7,
        session_id="",
    )
    assert (status.context_tokens, status.reserve_tokens, status.remaining_tokens) == (50_000, 0, 0)
    assert (status.message_count, status.unwindowed_message_count) == (3, 3)
    assert status.session_id is None
