"""Tokens of a message by length alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    context_tokens,
    image_count,
    message_chars,
    message_tokens,
    messages_tokens,
    usage_tokens,
)

IMAGE = {"type": "image", "data": "x"}


def text(value: object) -> dict[str, object]:
    return {"type": "text", "text": value}


@pytest.mark.parametrize(
    ("message", "chars"),
    [
        ({"role": "user", "content": "漢字\U0001f600"}, 4),
        ({"role": "user", "content": [text("abc"), IMAGE, {"type": "text"}, text("")]}, 3),
        ({"role": "user", "content": 5}, 0),
        ({"role": "user"}, 0),
        ({"role": "toolResult", "content": [text("ab"), IMAGE]}, 4802),
        ({"role": "custom", "content": [IMAGE, IMAGE, {"type": "file", "name": "x"}]}, 9600),
        ({"role": "custom", "content": "abc"}, 3),
        ({"role": "assistant", "content": "plain"}, 0),
        (
            {"role": "assistant", "content": [text("ab"), {"type": "thinking", "thinking": "abc"}]},
            5,
        ),
        ({"role": "assistant", "content": [IMAGE, {"type": "redacted_thinking", "data": "x"}]}, 0),
        (
            {
                "role": "assistant",
                "content": [{"type": "toolCall", "name": "ls", "arguments": None}],
            },
            6,
        ),
        ({"role": "bashExecution", "command": "ls", "output": "abc"}, 5),
        ({"role": "branchSummary", "summary": "abc"}, 3),
        ({"role": "compactionSummary", "summary": "abc"}, 3),
        ({"role": "system", "content": "abc"}, 0),
        ({"role": "tool", "content": "abc"}, 0),
    ],
)
def test_each_role_counts_its_own_fields(message: dict[str, Any], chars: int) -> None:
    assert message_chars(message) == chars
    assert message_tokens(message) == -(-chars // 4)


def test_arguments_count_as_the_json_a_runtime_would_write() -> None:
    call = {"type": "toolCall", "name": "x", "arguments": {"10": 1.0, "2": "é\n", "f": 1e21}}
    chars = message_chars({"role": "assistant", "content": [call]})
    assert chars == 1 + len('{"2":"é\\n","10":1,"f":1e+21}')


def test_arguments_that_cannot_be_written_count_as_a_fixed_word() -> None:
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    call = {"type": "toolCall", "name": "", "arguments": cycle}
    assert message_chars({"role": "assistant", "content": [call]}) == len("[unserializable]")


def test_missing_arguments_are_a_word_now_and_were_a_failure_before() -> None:
    message = {"role": "assistant", "content": [{"type": "toolCall", "name": "x"}]}
    assert message_chars(message, OPENCLAW_2026_5_28) == len("xundefined")
    for rules in (OPENCLAW_2026_3, OPENCLAW_2026_4_20):
        with pytest.raises(TypeError):
            message_tokens(message, rules)


def test_a_sum_rounds_every_message_up_and_leaves_runtime_context_out() -> None:
    hidden = {"role": "custom", "customType": "openclaw.runtime-context", "content": "x" * 40}
    result = {"role": "toolResult", "content": [text("a")], "details": {"big": "y" * 4000}}
    messages = [{"role": "user", "content": "a"}, hidden, result]
    assert messages_tokens(messages, OPENCLAW_2026_5_28) == 2
    assert messages_tokens(messages, OPENCLAW_2026_4_20) == 12


def test_a_usage_total_of_zero_gives_way_to_the_parts() -> None:
    parts = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}
    assert usage_tokens({**parts, "totalTokens": 7}) == 7
    assert usage_tokens({**parts, "totalTokens": 0}) == 10
    assert usage_tokens(parts) == 10


def test_a_context_is_its_last_trustworthy_usage_and_the_messages_behind_it() -> None:
    def answer(stop: str, total: int) -> dict[str, Any]:
        usage = {"input": total, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": total}
        return {"role": "assistant", "content": [text("abcd")], "stopReason": stop, "usage": usage}

    user = {"role": "user", "content": "abcde"}
    messages = [user, answer("stop", 100), answer("error", 900), answer("aborted", 800), user]
    found = context_tokens(messages)
    assert (found.tokens, found.usage_tokens) == (104, 100)
    assert (found.trailing_tokens, found.last_usage_index) == (4, 1)
    assert context_tokens([user, {"role": "assistant", "content": []}]).last_usage_index is None
    assert context_tokens([answer("stop", 0), user]).last_usage_index == 0


def test_images_are_counted_wherever_they_stand() -> None:
    assert image_count({"role": "user", "content": [IMAGE, text("a"), IMAGE, None]}) == 2
    assert image_count({"role": "user", "content": "image"}) == 0


@given(st.text())
def test_a_user_text_costs_a_quarter_of_its_units_rounded_up(value: str) -> None:
    tokens = message_tokens({"role": "user", "content": value})
    assert 4 * tokens - 3 <= js.utf16_len(value) <= 4 * tokens
