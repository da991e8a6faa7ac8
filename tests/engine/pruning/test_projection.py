"""Results keep the form in which a model has seen them."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.pruning.cache_ttl_settings import CacheTtlSettings
from compaction_app.engine.pruning.projecting import (
    Projected,
    project_prompt,
    project_pruning,
    without_lost,
)
from compaction_app.engine.pruning.projection import (
    ProjectionState,
    keys_of,
    marker_data,
    restored_state,
)
from compaction_app.engine.rule_sets import OPENCLAW_2026_9
from tests.engine.pruning.messages import answer, conversations, result, unchanged, user

WINDOW = 20_000
EMPTY = ProjectionState()


def _talk(*sizes: int, answers: int = 3) -> list[dict[str, Any]]:
    messages = [user()]
    for number, size in enumerate(sizes):
        messages += [
            answer(),
            result("x" * size) | {"toolCallId": f"c{number}", "timestamp": number},
        ]
    return messages + [answer() for _ in range(answers)]


def _pruned(
    messages: list[Any], state: ProjectionState = EMPTY, now: int = 10**9, **options: Any
) -> Projected:
    return project_pruning(
        messages, state, CacheTtlSettings(), OPENCLAW_2026_9,
        now_ms=now, touched_at_ms=1, window_tokens=WINDOW, **options,
    )  # fmt: skip


def test_a_trimmed_result_stays_trimmed_while_the_cache_is_warm() -> None:
    messages = _talk(9000, 9000, 9000)
    first = _pruned(messages)
    again = _pruned(messages, first.state, now=2)
    assert first.pruned and not again.pruned
    assert again.messages == first.messages != messages


def test_a_new_round_starts_from_the_originals() -> None:
    messages = _talk(*[3900] * 20)
    first = _pruned(messages)
    assert {held.mode for held in first.state.replacements.values()} == {"hard"}
    assert _pruned(messages, first.state).messages == first.messages


def test_no_round_starts_where_the_server_clears() -> None:
    done = _pruned(_talk(9000, 9000, 9000), new_rounds=False)
    assert not done.pruned and done.decision is not None
    assert done.decision.reason == "server_clears"


def test_a_result_that_was_sent_is_not_cut_for_the_aggregate() -> None:
    grown = _talk(*[12_000] * 6)
    first = project_prompt(grown[:7], EMPTY, OPENCLAW_2026_9, window_tokens=WINDOW)
    assert first.messages == grown[:7]
    second = project_prompt(grown, first.state, OPENCLAW_2026_9, window_tokens=WINDOW)
    assert second.messages[:7] == grown[:7]
    assert second.messages[7:] != grown[7:]


def test_results_behind_the_last_answer_are_spared() -> None:
    messages = _talk(*[16_000] * 6, answers=0)
    done = project_prompt(messages, EMPTY, OPENCLAW_2026_9, window_tokens=WINDOW)
    assert done.plan is not None and done.plan.over_aggregate_budget
    assert done.messages[-1] == messages[-1]


@settings(max_examples=40)
@given(messages=conversations, window=st.integers(500, 30_000))
def test_what_was_sent_once_is_sent_again(messages: list[Any], window: int) -> None:
    before = unchanged(messages)
    first = project_prompt(messages, EMPTY, OPENCLAW_2026_9, window_tokens=window)
    again = project_prompt(messages, first.state, OPENCLAW_2026_9, window_tokens=window)
    assert again.messages == first.messages
    assert messages == before


@settings(max_examples=40)
@given(messages=conversations)
def test_a_marker_restores_what_was_trimmed(messages: list[Any]) -> None:
    first = _pruned(messages)
    marker = {"type": "custom", "customType": "openclaw.cache-ttl"}
    entry = marker | {"data": marker_data(first.state)}
    assert _pruned(messages, restored_state([entry]), now=2).messages == first.messages
    assert restored_state([entry, {"type": "reset"}]) == EMPTY


def test_a_result_that_changed_is_shown_as_it_is() -> None:
    messages = _talk(9000, 9000, 9000)
    first = _pruned(messages)
    changed = [*messages[:2], result("new") | {"toolCallId": "c0", "timestamp": 0}, *messages[3:]]
    assert _pruned(changed, first.state, now=2).messages[2] is changed[2]


def test_results_that_share_a_key_are_told_apart_by_their_text() -> None:
    twice = [result(text) | {"toolCallId": "c", "timestamp": 1} for text in ("a", "b", "a")]
    keys = keys_of(twice)
    assert len(set(keys.by_position.values())) == 3
    assert keys.ambiguous == {"tool:c:1"}


def test_after_a_compaction_only_what_is_left_is_remembered() -> None:
    messages = _talk(9000, 9000, 9000)
    state = without_lost(_pruned(messages).state, messages[3:])
    assert sorted(state.replacements) == ["tool:c1:1", "tool:c2:2"]
    assert state.frozen == {"tool:c1:1", "tool:c2:2"}
