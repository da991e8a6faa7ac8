"""Every tool call followed by its result."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from compaction_app.engine.pruning.pairing import (
    PAIRING_2026_3,
    PAIRING_2026_4_20,
    PAIRING_2026_5_28,
    PairingRules,
    RepairedPairing,
    repair_pairing,
)
from compaction_app.engine.pruning.tool_calls import result_id, tool_calls
from tests.engine.pruning.messages import answer, calls, conversations, result, unchanged, user

ALL = [PAIRING_2026_3, PAIRING_2026_4_20, PAIRING_2026_5_28]


def repaired(messages: list[Any], rules: PairingRules = PAIRING_2026_5_28) -> RepairedPairing:
    return repair_pairing(messages, rules, 7)


@pytest.mark.parametrize("rules", ALL)
@given(messages=conversations)
def test_afterwards_every_result_answers_a_call_before_it_and_only_once(
    rules: PairingRules, messages: list[dict[str, Any]]
) -> None:
    before = unchanged(messages)
    done = repaired(messages, rules)
    assert messages == before
    if not done.changed:
        assert done.messages is messages
        return
    called: set[str] = set()
    answered: set[str] = set()
    for message in done.messages:
        called.update(found.id for found in tool_calls(message))
        if message["role"] == "toolResult":
            name = result_id(message, rules.calls)
            assert name in called and name not in answered
            answered.add(name)


@pytest.mark.parametrize("rules", ALL)
@given(messages=conversations)
def test_the_changes_tell_what_was_added_and_dropped(
    rules: PairingRules, messages: list[dict[str, Any]]
) -> None:
    done = repaired(messages, rules)
    reasons = [made.reason for made in done.changes]
    assert reasons.count("missing_result") == len(done.added)
    assert reasons.count("orphan_result") == done.dropped_orphans
    assert reasons.count("duplicate_result") == done.dropped_duplicates


def test_a_result_behind_a_user_message_moves_up() -> None:
    messages = [calls("A"), user(), result("r", "A")]
    assert list(repaired(messages).messages) == [messages[0], messages[2], messages[1]]


def test_a_plain_answer_ends_the_search_only_in_earlier_versions() -> None:
    messages = [calls("A"), answer(), result("r", "A")]
    assert repaired(messages).added == ()
    assert len(repaired(messages, PAIRING_2026_4_20).added) == 1


def test_a_result_without_an_id_takes_that_of_the_only_call() -> None:
    nameless = {"role": "toolResult", "content": [], "isError": False}
    done = repaired([calls("A"), nameless])
    assert done.messages[1]["toolCallId"] == "A" and done.messages[1]["isError"] is True
    other = {**nameless, "toolName": "exec"}
    assert repaired([calls("A"), other]).dropped_orphans == 1
    assert repaired([calls("A", "B"), nameless]).dropped_orphans == 1


def test_a_failed_turn_gets_no_results_made_up() -> None:
    turn = [calls("A", "B", stop="error"), result("r", "A"), user()]
    assert repaired(turn).messages is turn
    dropped = repair_pairing(turn, PAIRING_2026_5_28, 7, errored_policy="drop")
    assert list(dropped.messages) == [turn[2]]
    kept = repair_pairing(turn, PAIRING_2026_4_20, 7, errored_policy="drop")
    assert list(kept.messages) == [turn[0], turn[2]]
    assert repaired(turn, PAIRING_2026_3).dropped_orphans == 1


def test_a_reused_id_leaves_the_later_turn_without_a_result() -> None:
    turn = [calls("A"), result("1", "A")]
    done = repaired([*turn, calls("A"), result("2", "A")])
    assert [message["role"] for message in done.messages] == [
        "assistant",
        "toolResult",
        "assistant",
    ]
    assert len(done.added) == 1 and done.dropped_duplicates == 2


def test_what_is_no_object_is_kept() -> None:
    messages = [None, calls("A"), "x", result("r", "A")]
    assert list(repaired(messages).messages) == [None, messages[1], messages[3], "x"]
