"""How many characters is a message to cache-TTL pruning."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.tokens.pruner_chars import (
    OPENCLAW_2026_3,
    OPENCLAW_2026_5_28,
    pruner_context_chars,
    pruner_message_chars,
)

IMAGE = {"type": "image", "data": "x"}


@pytest.mark.parametrize(
    ("message", "now", "then"),
    [
        ({"role": "user", "content": "ab汉"}, 6, 3),
        ({"role": "user", "content": [{"type": "text", "text": "ab"}, IMAGE, {}, 1]}, 8002, 8002),
        ({"role": "toolResult", "content": [{"type": "text", "text": "ab"}]}, 2, 2),
        ({"role": "toolResult", "content": "ab"}, 0, 0),
        ({"role": "assistant", "content": "ab"}, 0, 0),
        ({"role": "assistant", "content": [{"type": "text"}, None]}, 0, 0),
        ({"role": "assistant", "content": [{"type": "toolCall"}]}, 2, 2),
        ({"role": "assistant", "content": [{"type": "toolCall", "arguments": {"p": "汉"}}]}, 9, 9),
        ({"role": "assistant", "content": [{"type": "toolCall", "arguments": {1}}]}, 128, 128),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "ab", "thinkingSignature": "c"},
                    {"type": "redacted_thinking", "data": "d"},
                ],
            },
            *(4, 2),
        ),
        ({"role": "custom"}, 256, 256),
        (None, 256, 256),
    ],
)
def test_estimates(message: Any, now: int, then: int) -> None:
    assert pruner_message_chars(message, OPENCLAW_2026_5_28) == now
    assert pruner_message_chars(message, OPENCLAW_2026_3) == then


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"role": "user"}, "content is not iterable"),
        ({"role": "assistant", "content": 5}, "message.content is not iterable"),
    ],
)
def test_no_content_fails_in_the_runtime_s_words(message: Any, words: str) -> None:
    with pytest.raises(TypeError, match=f"^{words}$"):
        pruner_message_chars(message, OPENCLAW_2026_5_28)


@pytest.mark.parametrize(
    ("block", "chars", "words"),
    [
        ({"type": "text", "n": 1}, 21, "undefined (reading 'length')"),
        ({"type": "text", "text": None}, 27, "null (reading 'length')"),
        (None, 0, "null (reading 'type')"),
    ],
)
def test_a_malformed_block_failed_only_early_on(block: Any, chars: int, words: str) -> None:
    message = {"role": "user", "content": [block]}
    assert pruner_message_chars(message, OPENCLAW_2026_5_28) == chars
    with pytest.raises(TypeError) as error:
        pruner_context_chars([message], OPENCLAW_2026_3)
    assert str(error.value) == f"Cannot read properties of {words}"
