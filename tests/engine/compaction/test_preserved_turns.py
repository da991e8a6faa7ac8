"""Turns kept beside a summary (spec compaction 3.1, 3.2)."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.compaction.preserved_turns import recent_turns, split_preserved_turns
from compaction_app.engine.compaction.turns_section import preserved_turns_section
from compaction_app.engine.pruning.pairing import PAIRING_2026_5_28
from tests.engine.compaction.driving import assistant, result, user

TURNS = [m for i in range(4) for m in (user(f"q{i}"), assistant("", str(i)), result(str(i)))]


def split(messages: list[Any], turns: object) -> tuple[list[Any], list[int]]:
    found = split_preserved_turns(messages, turns, PAIRING_2026_5_28, 0)
    return list(found.summarizable), list(found.preserved)


def test_a_preserved_turn_keeps_its_calls_and_their_results() -> None:
    rest, kept = split(TURNS, 1)
    assert (rest, kept) == (TURNS[:9], [9, 10, 11])


def test_with_fewer_turns_than_asked_the_end_is_filled_up_to_twice_as_many_messages() -> None:
    messages = [assistant("a"), assistant("b"), assistant("c"), user("q"), assistant("d")]
    assert split(messages, 2)[1] == [1, 2, 3, 4]


def test_custom_messages_always_stay_to_be_summarised() -> None:
    note = {"role": "custom", "customType": "x", "content": "note"}
    assert split([user("q"), note, assistant("a")], 3) == ([note], [0, 2])


def test_nothing_is_preserved_for_zero_turns_or_without_conversation() -> None:
    assert split(TURNS, 0) == (TURNS, [])
    assert split([result("x")], 3) == ([result("x")], [])


def test_a_call_left_behind_without_its_result_gets_an_error_result() -> None:
    rest, kept = split([user("q"), assistant("", "a"), user("r"), result("a")], 1)
    assert kept == [2]
    assert [m["role"] for m in rest] == ["user", "assistant", "toolResult"]


@given(st.integers(-3, 20))
def test_every_message_of_whole_turns_is_either_summarised_or_preserved(turns: int) -> None:
    rest, kept = split(TURNS, turns)
    assert [*rest, *(TURNS[i] for i in kept)] == TURNS
    assert len(kept) == 3 * min(max(turns, 0), 4)


def test_the_setting_is_a_whole_number_from_0_to_12() -> None:
    values = (None, "5", float("nan"), -4, 2.7, 13)
    assert [recent_turns(value) for value in values] == [3, 3, 3, 0, 2, 12]


def test_a_message_without_text_is_shown_by_what_it_holds() -> None:
    images = {"role": "user", "content": [{"type": "image"}, {"type": "image"}, {"x": 1}]}
    section = preserved_turns_section([images, assistant("", "a")])
    assert section.endswith(
        "- User: [non-text content: image x2, unknown]\n- Assistant: [non-text content: toolCall]"
    )


def test_a_long_turn_is_cut_to_600_characters() -> None:
    assert preserved_turns_section([user("x" * 601)]).endswith("x" * 600 + "...")
    assert preserved_turns_section([user("  ")]) == ""
