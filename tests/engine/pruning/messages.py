"""Messages for the tests of pruning: builders with plain values, and strategies for any of them."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

Message = dict[str, Any]

IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}


def user(content: Any = "go on") -> Message:
    return {"role": "user", "content": content, "timestamp": 1}


def answer(*blocks: Any, stop: str = "stop") -> Message:
    content = list(blocks) or [{"type": "text", "text": "ok"}]
    return {"role": "assistant", "content": content, "stopReason": stop, "timestamp": 1}


def call(call_id: str, name: str = "read") -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": {"path": "x"}}


def calls(*call_ids: str, stop: str = "toolUse") -> Message:
    return answer(*map(call, call_ids), stop=stop)


def result(text: str, call_id: str = "c1", name: str = "read", **more: Any) -> Message:
    block = {"type": "text", "text": text}
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": name,
        "content": [block],
        "isError": False,
        "timestamp": 1,
        **more,
    }


def text_of(message: Message) -> str:
    return str(message["content"][0]["text"])


def unchanged(value: Any) -> Any:
    """A copy to compare with afterwards."""
    return copy.deepcopy(value)


# Narrow, wide and half characters, line ends, and words that make a tail important.
_FRAGMENTS = [
    *("a", "log line\n", "\n", " ", "汉字", "😀", "\ud83d", "\ude00", "İ", "\u2028", "\x00"),
    *("error", "done.", "}", "exit code 1", "[media attached: x]", "token=abcdefghijklmnop"),
]
texts = st.lists(st.tuples(st.sampled_from(_FRAGMENTS), st.integers(1, 200)), max_size=5).map(
    lambda parts: "".join(fragment * count for fragment, count in parts)
) | st.text(max_size=20)

_ids = st.sampled_from(["c1", "c2", "c3"])
_names = st.sampled_from(["read", "exec", "browser", " read "])
_text_blocks = texts.map(lambda text: {"type": "text", "text": text})
_blocks = st.one_of(_text_blocks, st.just(IMAGE), st.just({"type": "json", "v": 1}))
_thinking = texts.map(lambda text: {"type": "thinking", "thinking": text})
_calls = st.builds(call, _ids, _names)

users = st.builds(user, texts | st.lists(_blocks, max_size=2))
answers = st.builds(
    lambda blocks, stop: answer(*blocks, stop=stop),
    st.lists(st.one_of(_text_blocks, _thinking, _calls), min_size=1, max_size=3),
    st.sampled_from(["stop", "toolUse", "error", "aborted"]),
)
results = st.builds(
    lambda call_id, name, content: {**result("", call_id, name), "content": content},
    _ids,
    _names,
    st.lists(_blocks, max_size=3) | texts,
)
single_results = st.builds(result, texts, _ids, _names)
conversations = st.lists(st.one_of(users, answers, results), max_size=10)
