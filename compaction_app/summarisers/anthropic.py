"""Models behind Anthropic's messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compaction_app.summarisers.chat import (
    NO_KEY,
    BrokenOff,
    ChatReply,
    ChatRequest,
    Endpoint,
    Message,
    OnText,
    Text,
    ToolUse,
    Usage,
    texts_of,
    tool_uses,
)


class Anthropic:
    """One model of one server."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.name = endpoint.model

    async def answer(self, request: ChatRequest, on_text: OnText) -> ChatReply:
        """One streamed message."""
        # Heavy, and not every process asks a model.
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

        endpoint = self.endpoint
        client = AsyncAnthropic(
            api_key=endpoint.key or NO_KEY,
            base_url=endpoint.base_url,
            timeout=endpoint.stall_seconds,
            max_retries=0,
            # A key is for the server it was entered for, whatever that one says.
            http_client=DefaultAsyncHttpxClient(follow_redirects=False),
        )
        text, finished = Text(on_text), False
        async with client:
            opened = client.messages.stream(model=endpoint.model, **_options(request, endpoint))
            async with opened as stream:
                async for event in stream:
                    if event.type == "text":
                        text.add(event.text)
                    finished |= event.type == "message_stop"
                if not finished:
                    begun = bool(str(text))
                    what = "the server closed the stream in the middle of the answer"
                    raise BrokenOff(what if begun else "the server sent no answer", again=begun)
                message = await stream.get_final_message()
        calls = (
            ToolUse(block.id, block.name, block.input if isinstance(block.input, dict) else {})
            for block in message.content
            if block.type == "tool_use"
        )
        return ChatReply(str(text), tuple(calls), _usage(message.usage))


def _usage(given: Any) -> Usage:
    """All of the prompt: what was fresh, what was written to the cache and what was read from it."""
    read, written = given.cache_read_input_tokens or 0, given.cache_creation_input_tokens or 0
    return Usage(given.input_tokens + read + written, given.output_tokens, read)


def _options(request: ChatRequest, endpoint: Endpoint) -> dict[str, Any]:
    options: dict[str, Any] = {
        "messages": messages_of(request.messages),
        "max_tokens": min(request.max_output, endpoint.max_output or request.max_output),
    }
    if request.system:
        options["system"] = request.system
    if request.tools:
        options["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
    return options


def messages_of(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages of a transcript as this wire format has them: roles take turns, results are the user's."""
    worded: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.get("role") == "assistant" else "user"
        blocks = list(_blocks(message))
        if worded and worded[-1]["role"] == role:
            worded[-1]["content"] += blocks
        elif blocks:
            worded.append({"role": role, "content": blocks})
    return worded


def _blocks(message: Message) -> Iterator[Mapping[str, Any]]:
    text = texts_of(message.get("content"))
    match message.get("role"):
        case "toolResult":
            call = str(message.get("toolCallId", ""))
            yield {"type": "tool_result", "tool_use_id": call, "content": text or "(nothing)"}
        case "user":
            if text.strip():
                yield {"type": "text", "text": text}
        case "assistant":
            if text.strip():
                yield {"type": "text", "text": text}
            for use in tool_uses(message):
                arguments = dict(use.arguments)
                yield {"type": "tool_use", "id": use.id, "name": use.name, "input": arguments}
