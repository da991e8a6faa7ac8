"""Messages as the tests of retention need them."""

from __future__ import annotations

from typing import Any

Message = dict[str, Any]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def agent(text: str) -> Message:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"}


def call(name: str, identity: str = "c1", **arguments: Any) -> Message:
    block = {"type": "toolCall", "id": identity, "name": name, "arguments": arguments}
    return {"role": "assistant", "content": [block], "stopReason": "toolUse"}


def result(text: str, identity: str = "c1", *, failed: bool = False, **more: Any) -> Message:
    return {
        "role": "toolResult",
        "toolCallId": identity,
        "toolName": "exec",
        "content": [{"type": "text", "text": text}],
        "isError": failed,
        **more,
    }


def numbered(*messages: Message, start: int = 0) -> list[tuple[int, Message]]:
    return list(enumerate(messages, start))
