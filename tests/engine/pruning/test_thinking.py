"""An assistant's old reasoning left out of what is sent."""

from __future__ import annotations

from compaction_app.engine.pruning.thinking import (
    THINKING_2026_3,
    THINKING_2026_4_20,
    THINKING_2026_5_28,
    drop_thinking,
)
from tests.engine.pruning.messages import answer, text_of, user

THOUGHT = {"type": "thinking", "thinking": "hm"}
TEXT = {"type": "text", "text": "x"}


def test_all_but_the_last_answer_lose_their_reasoning() -> None:
    messages = [
        answer(THOUGHT, TEXT),
        user(),
        answer(THOUGHT),
        {"role": "assistant", "content": "x"},
    ]
    done = drop_thinking(messages, THINKING_2026_5_28)
    assert done.messages[0] == answer(TEXT) and done.messages[2] is messages[2]
    assert [made.position for made in done.changes] == [0]


def test_an_emptied_answer_says_so() -> None:
    messages = [answer({"type": "redacted_thinking"}), answer()]
    assert text_of(drop_thinking(messages, THINKING_2026_5_28).messages[0]) == (
        "[assistant reasoning omitted]"
    )
    assert text_of(drop_thinking(messages, THINKING_2026_4_20).messages[0]) == ""
    assert drop_thinking(messages, THINKING_2026_3).messages is messages


def test_2026_3_does_not_spare_the_last_answer() -> None:
    assert text_of(drop_thinking([answer(THOUGHT)], THINKING_2026_3).messages[0]) == ""
