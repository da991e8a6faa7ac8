"""Models behind the chat completions of OpenAI, and of every server that speaks them too.

Ollama, vLLM, LM Studio, llama.cpp and many hosted services do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

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

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk

OFFICIAL_HOST = "api.openai.com"


class OpenAICompatible:
    """One model of one server."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.name = endpoint.model

    async def answer(self, request: ChatRequest, on_text: OnText) -> ChatReply:
        """One streamed completion."""
        # Heavy, and not every process asks a model.
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        endpoint = self.endpoint
        client = AsyncOpenAI(
            api_key=endpoint.key or NO_KEY,
            base_url=endpoint.base_url,
            timeout=endpoint.stall_seconds,
            max_retries=0,
            # A key is for the server it was entered for, whatever that one says.
            http_client=DefaultAsyncHttpxClient(follow_redirects=False),
        )
        async with client:
            options = _options(request, endpoint)
            stream = await client.chat.completions.create(
                model=endpoint.model, stream=True, stream_options={"include_usage": True}, **options
            )
            async with stream:
                reading = _Reading(on_text)
                async for chunk in stream:
                    reading.take(chunk)
        return reading.reply()


class _Reading:
    """The pieces of a streamed completion, put together."""

    def __init__(self, on_text: OnText) -> None:
        self.text = Text(on_text)
        self.calls: dict[int, dict[str, str]] = {}
        self.usage = Usage()
        self.finished = False

    def take(self, chunk: ChatCompletionChunk) -> None:
        if chunk.usage is not None:
            details = chunk.usage.prompt_tokens_details
            self.usage = Usage(
                prompt=chunk.usage.prompt_tokens,
                output=chunk.usage.completion_tokens,
                cache_read=details.cached_tokens if details else None,
            )
        for choice in chunk.choices or ():
            self.text.add(choice.delta.content)
            for piece in choice.delta.tool_calls or ():
                call = self.calls.setdefault(piece.index, {"id": "", "name": "", "arguments": ""})
                call["id"] = piece.id or call["id"]
                if piece.function is not None:
                    call["name"] += piece.function.name or ""
                    call["arguments"] += piece.function.arguments or ""
            self.finished |= choice.finish_reason is not None

    def reply(self) -> ChatReply:
        """Raises :class:`BrokenOff` for a stream that ended before the answer did."""
        if not self.finished:
            begun = bool(str(self.text) or self.calls)
            what = "the server closed the stream in the middle of the answer"
            raise BrokenOff(what if begun else "the server sent no answer", again=begun)
        calls = (ToolUse(c["id"], c["name"], _object(c["arguments"])) for c in self.calls.values())
        return ChatReply(str(self.text), tuple(calls), self.usage)


def _options(request: ChatRequest, endpoint: Endpoint) -> dict[str, Any]:
    """OpenAI itself no longer takes ``max_tokens``; most others know nothing else."""
    official = urlsplit(endpoint.base_url).hostname == OFFICIAL_HOST
    limit = "max_completion_tokens" if official else "max_tokens"
    options: dict[str, Any] = {
        "messages": list(_worded(request)),
        limit: min(request.max_output, endpoint.max_output or request.max_output),
    }
    if request.tools:
        options["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in request.tools
        ]
    return options


def _worded(request: ChatRequest) -> Iterator[dict[str, Any]]:
    if request.system:
        yield {"role": "system", "content": request.system}
    yield from messages_of(request.messages)


def messages_of(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Messages of a transcript as this wire format has them; roles it does not know are left out."""
    for message in messages:
        text = texts_of(message.get("content"))
        match message.get("role"):
            case "user":
                yield {"role": "user", "content": text}
            case "toolResult":
                call = str(message.get("toolCallId", ""))
                yield {"role": "tool", "tool_call_id": call, "content": text}
            case "assistant":
                calls = [
                    {
                        "id": use.id,
                        "type": "function",
                        "function": {"name": use.name, "arguments": json.dumps(use.arguments)},
                    }
                    for use in tool_uses(message)
                ]
                if text or calls:
                    made = {"tool_calls": calls} if calls else {}
                    yield {"role": "assistant", "content": text or None, **made}


def _object(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
