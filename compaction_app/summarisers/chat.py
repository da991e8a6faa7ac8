"""What is asked of a model over HTTP and what it answers, whoever's wire format carries it.

Messages keep the form they have in a transcript (``user``, ``assistant`` with ``toolCall`` blocks,
``toolResult``); each client words them for its own server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol

from compaction_app.engine.compaction.failures import Failure

Message = Mapping[str, Any]
OnText = Callable[[str], None]
NO_KEY = "none"
"""Servers of one's own often want no key, but the client libraries want one."""
PER_TOKENS = Decimal(1_000_000)
MAX_ANSWER_CHARS = 400_000
"""An answer that is longer is broken off: no summary and no note is a book."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model on a server. ``max_output`` is the most tokens it writes, none where that is unknown;
    ``name`` is what the team calls it.

    Prices are in US dollars per million tokens. ``stall_seconds``: how long a server may send nothing.
    """

    base_url: str
    model: str
    key: str = field(default="", repr=False)
    max_output: int | None = None
    input_price: Decimal | None = None
    output_price: Decimal | None = None
    stall_seconds: float = 60.0
    name: str = ""

    def cost(self, usage: Usage) -> Decimal | None:
        """US dollars, none where a price or a count is unknown. Cached tokens count in full."""
        if None in (self.input_price, self.output_price, usage.prompt, usage.output):
            return None
        paid = Decimal(usage.prompt or 0) * (self.input_price or 0)
        return (paid + Decimal(usage.output or 0) * (self.output_price or 0)) / PER_TOKENS


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that is offered: its name, what it does, the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that the model called. Arguments that are no JSON object count as none."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call: at most ``max_output`` tokens are wanted back."""

    messages: Sequence[Message]
    max_output: int
    system: str = ""
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them; ``prompt`` is all of it. None where it did not say."""

    prompt: int | None = None
    output: int | None = None
    cache_read: int | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A whole answer."""

    text: str
    calls: tuple[ToolUse, ...] = ()
    usage: Usage = Usage()


class BrokenOff(Exception):
    """A server sent something that is no whole answer. ``again``: another try may help."""

    def __init__(self, message: str, *, again: bool) -> None:
        super().__init__(message)
        self.again = again


class ChatModel(Protocol):
    """A model that can be asked. ``answer`` makes one request and no second one.

    It raises what the client library raises, or :class:`BrokenOff`.
    """

    name: str
    endpoint: Endpoint

    async def answer(self, request: ChatRequest, on_text: OnText) -> ChatReply: ...


Stopped = Callable[[], Failure | None]
"""Why nobody waits for the answer any more; none while somebody does. Cheap, and needs no database."""


class Text:
    """An answer that grows piece by piece, up to the length that is still believed."""

    def __init__(self, on_text: OnText) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._on_text = on_text

    def add(self, piece: str | None) -> None:
        if not piece:
            return
        self._length += len(piece)
        if self._length > MAX_ANSWER_CHARS:
            raise BrokenOff(
                f"the answer is longer than {MAX_ANSWER_CHARS:,} characters", again=False
            )
        self._parts.append(piece)
        self._on_text(piece)

    def __str__(self) -> str:
        return "".join(self._parts)


def texts_of(content: Any) -> str:
    """The text of a message's content; images and unknown blocks are left out."""
    if isinstance(content, str):
        return content
    return "\n".join(
        block["text"]
        for block in blocks_of(content)
        if block.get("type") == "text" and isinstance(block.get("text"), str)
    )


def blocks_of(content: Any) -> Iterator[Mapping[str, Any]]:
    """The blocks of a message's content that are objects."""
    if isinstance(content, Iterable) and not isinstance(content, str | bytes | Mapping):
        yield from (block for block in content if isinstance(block, Mapping))


def tool_uses(message: Message) -> list[ToolUse]:
    """The calls in an assistant's message, as a transcript stores them."""
    found = []
    for block in blocks_of(message.get("content")):
        if block.get("type") == "toolCall":
            given = block.get("arguments")
            arguments = given if isinstance(given, Mapping) else {}
            found.append(ToolUse(str(block.get("id", "")), str(block.get("name", "")), arguments))
    return found
