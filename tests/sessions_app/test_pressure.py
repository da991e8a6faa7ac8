"""The estimate of the pre-prompt check."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.tokens.pressure import (
    message_pressure,
    plain_pre_prompt_pressure,
    pre_prompt_pressure,
    rendered_boundary_pressure,
    string_weight,
    text_tokens,
    tokens_from_chars,
)

# Beyond these, a few unassigned characters weigh 1 beside CJK and 2 without it.
SETTLED = st.characters(exclude_characters=[chr(c) for c in range(0x2FA20, 0x2FC00)])


@pytest.mark.parametrize(
    ("value", "weight"),
    [
        ("", 0),
        ("abc", 3),
        ("\u2e7f", 1),
        ("\u2e80\u9fff\ua000\ua4ff\uac00\ud7af\uf900\ufaff", 32),
        ("\ua500", 1),
        ("\ud7b0", 1),
        ("\ufb00", 1),
        ("\uff21", 1),
        ("\U00020000\U0002fa1f", 8),
        ("\U0002fa20", 2),
        ("\U0002fa20漢", 5),
        ("\U0002fbff漢", 5),
        ("\U0002fc00漢", 6),
        ("\U0001f600", 2),
        ("\U0001f600漢", 6),
        ("\ud840", 1),
        ("漢\ud840", 5),
    ],
)
def test_characters_of_cjk_scripts_weigh_four(value: str, weight: int) -> None:
    assert string_weight(value) == weight


@given(st.text(SETTLED), st.text(SETTLED))
def test_weight_adds_up_over_concatenation(first: str, second: str) -> None:
    assert string_weight(first + second) == string_weight(first) + string_weight(second)


@given(st.text())
def test_weight_is_never_below_the_number_of_characters(value: str) -> None:
    assert string_weight(value) >= len(value)


def test_tokens_of_characters_round_up_and_keep_nan() -> None:
    assert [tokens_from_chars(n) for n in (-5, 0, 4, 4.1)] == [0, 0, 1, 2]
    assert math.isnan(tokens_from_chars(math.nan))


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({}, 12),
        ({"role": "user"}, 12),
        ({"role": "user", "content": None}, 12 + 2),
        ({"role": "user", "content": True}, 12 + 2),
        ({"role": "user", "content": "abcde"}, 12 + 2),
        ({"role": "user", "content": ["abcde", [1], 7]}, 12 + 2 + 1 + 1),
        ({"role": "user", "content": [{"type": "text"}]}, 12 + 6 + 4),
        ({"role": "user", "content": [{"type": "thinking", "thinking": "abcde"}]}, 12 + 6 + 2),
        ({"role": "user", "content": [{"type": "image", "data": "x" * 9999}]}, 12 + 2000),
        (
            {"role": "toolResult", "content": "abcde", "toolName": None, "tool_name": "read"},
            12 + 3 + 2,
        ),
        ({"role": "tool", "content": None}, 12 + 2),
        ({"type": "toolResult", "content": [{"type": "text", "text": "abcde"}]}, 12 + 6 + 3),
        ({"role": "toolResult", "toolName": "", "tool_name": "read"}, 12),
        ({"role": "toolResult", "toolName": ["a"]}, 12 + 2),
        ({"role": "toolResult", "toolName": False}, 12 + 2),
        ({"role": "toolResult", "toolName": 1.0}, 12 + 1),
        ({"role": "assistant", "content": {"a": 1}}, 12 + 3),
        ({"role": "assistant", "content": [{"type": "tool_use", "name": "abcd"}]}, 12 + 6 + 2 + 1),
        (
            {
                "role": "assistant",
                "content": [{"type": "toolCall", "arguments": None, "input": [1]}],
            },
            12 + 6 + 1,
        ),
        ({"role": "assistant", "toolCalls": None, "tool_calls": [{"args": {}}]}, 12 + 6 + 1),
        ({"role": "assistant", "toolCalls": [[1, 2, 3], "ab", None]}, 12 + 3 + 2 + 2),
        ({"role": "assistant", "toolCalls": {"a": 1}, "tool_calls": ["abcd"]}, 12),
        ({"role": "bashExecution", "command": "x", "output": "y" * 999}, 12),
        ({"role": "compactionSummary", "summary": "y" * 999}, 12),
    ],
)
def test_each_shape_has_its_price(message: dict[str, Any], tokens: int) -> None:
    assert message_pressure(message) == tokens


def test_what_cannot_be_written_as_json_has_a_flat_price() -> None:
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    assert message_pressure({"role": "user", "content": cycle}) == 12 + 256


def test_the_margin_covers_history_system_prompt_and_prompt() -> None:
    history = [{"role": "user", "content": "x" * 400}]
    assert pre_prompt_pressure(history, "y" * 40, "z" * 80) == math.ceil((112 + 22 + 32) * 1.2)
    assert pre_prompt_pressure(history, "", " \ufeff") == math.ceil((112 + 12) * 1.2)
    assert rendered_boundary_pressure("y" * 40, None) == math.ceil(22 * 1.2)


def test_an_early_version_counted_by_length_and_no_system_prompt() -> None:
    history = [{"role": "user", "content": "漢" * 400}]
    assert plain_pre_prompt_pressure(history, "abcd", "z" * 4000) == math.ceil(101 * 1.2)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
)


@given(st.sampled_from(["user", "assistant", "toolResult", "custom"]), JSON)
def test_no_message_costs_less_than_its_overhead(role: str, content: object) -> None:
    assert message_pressure({"role": role, "content": content}) >= 12


@given(st.text(), st.integers(1, 4))
def test_fewer_characters_a_token_never_lower_the_estimate(value: str, divisor: int) -> None:
    assert text_tokens(value, divisor) >= text_tokens(value, divisor + 1)
