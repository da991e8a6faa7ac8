"""The character estimate of the guard inside a tool loop."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.tokens.loop_chars import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    loop_message_chars,
)


@pytest.mark.parametrize(
    ("message", "chars"),
    [
        (None, 0),
        ("text", 0),
        ({"role": "user", "content": "漢\U0001f600"}, 3),
        ({"role": "user", "type": "toolResult", "content": "abc"}, 3),
        ({"role": "user", "content": ["abc", None, {"type": "image"}, {"a": 1}]}, 3 + 4 + 8000 + 7),
        ({"role": "user", "content": 5}, 0),
        ({"role": "assistant", "content": "abc"}, 0),
        ({"role": "assistant", "content": [{"type": "toolCall", "arguments": "ab"}, "x", 5]}, 4),
        ({"role": "assistant", "content": [{"type": "toolCall", "arguments": None}]}, 2),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": 5}]}, 32),
        ({"role": "assistant", "content": [{"type": "image"}]}, 16),
        ({"role": "tool", "content": "abc"}, 6),
        (
            {"role": "toolResult", "content": [{"type": "text", "text": "abc"}, {"type": "image"}]},
            16006,
        ),
        ({"role": "toolResult", "content": {"a": 1}}, 0),
        ({"role": "compactionSummary", "summary": "x" * 999}, 256),
        ({}, 256),
    ],
)
def test_each_role_has_its_measure(message: object, chars: int) -> None:
    assert loop_message_chars(message) == chars


@pytest.mark.parametrize(
    ("details", "chars"), [({"a": 1}, 7), (None, 4), ("text", 4), (5, 1), ([1, 2], 5)]
)
def test_details_of_a_result_weighed_in_early_versions(details: object, chars: int) -> None:
    message = {"role": "toolResult", "content": "abc", "details": details}
    assert loop_message_chars(message, OPENCLAW_2026_5_28) == 6
    assert loop_message_chars(message, OPENCLAW_2026_4_20) == 2 * (3 + chars)
    assert loop_message_chars(message, OPENCLAW_2026_3) == 2 * (3 + chars)


def test_a_text_block_without_text_was_a_failure_in_early_versions() -> None:
    message: dict[str, Any] = {"role": "toolResult", "content": [{"type": "text"}]}
    assert loop_message_chars(message, OPENCLAW_2026_5_28) == 2 * len('{"type":"text"}')
    for rules in (OPENCLAW_2026_3, OPENCLAW_2026_4_20):
        with pytest.raises(TypeError):
            loop_message_chars(message, rules)


def test_what_cannot_be_written_as_json_has_a_flat_size() -> None:
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    call = {"type": "toolCall", "arguments": cycle}
    assert loop_message_chars({"role": "assistant", "content": [call]}) == 128
    assert loop_message_chars({"role": "user", "content": [cycle]}) == 256
