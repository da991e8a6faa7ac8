"""One planted fact, or a decoy: a text of the same kind that holds none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from compaction_app.engine.retention.anchors import AnchorKind

Message = Mapping[str, Any]
Part = Literal["build", "held out"]
PARTS: Final[tuple[Part, Part]] = ("build", "held out")


@dataclass(frozen=True, slots=True)
class Plant:
    """Messages with one fact in them, or with a decoy of its kind: ``text`` is none then.

    The fact stands in the message ``at``, in its block ``block`` from ``start`` to ``end``.
    """

    kind: AnchorKind
    language: str
    messages: tuple[Message, ...]
    text: str | None
    at: int = 0
    block: int = 0
    start: int = 0
    end: int = 0


def spoken(role: str, text: str) -> Message:
    """A message of a person or an agent that is one text."""
    message: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": text}]}
    if role == "assistant":
        message["stopReason"] = "stop"
    return message


def called(name: str, arguments: Mapping[str, Any], identity: str) -> Message:
    """A message of an agent that is one tool call."""
    call = {"type": "toolCall", "id": identity, "name": name, "arguments": arguments}
    return {"role": "assistant", "content": [call], "stopReason": "toolUse"}


def answered(name: str, text: str, identity: str, *, failed: bool = False) -> Message:
    """The result of a tool call."""
    return {
        "role": "toolResult",
        "toolCallId": identity,
        "toolName": name,
        "content": [{"type": "text", "text": text}],
        "isError": failed,
    }
