"""Messages of the Anthropic messages API, where answers of tools are blocks of a user's message.

Messages of the user's side that follow each other come back as one, as the API wants them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sessions_app.message_forms.blocks import (
    BadForm,
    blocks_of,
    image_of_url,
    is_call,
    objects,
    rest,
    text_field,
)

Json = dict[str, Any]
Message = Mapping[str, Any]


def to_stored(message: Message) -> list[Json]:
    """See the package; each tool's answer becomes a message, what else is said the last one."""
    role, content = message.get("role"), message.get("content")
    if role == "system":
        return []
    if role == "assistant":
        return [_answer(message)]
    if role != "user":
        raise BadForm(f"role {role!r} is neither user nor assistant.")
    if isinstance(content, str):
        return [{"role": "user", "content": content}]
    stored: list[Json] = []
    said: list[Json] = []
    for place, block in objects(content, "content"):
        if block["type"] != "tool_result":
            said.append(_block(place, block))
            continue
        if said:
            stored.append({"role": "user", "content": said})
            said = []
        stored.append(_result(place, block))
    return [*stored, {"role": "user", "content": said}] if said or not stored else stored


def from_stored(messages: Iterable[Message]) -> list[Json]:
    """See the package."""
    out: list[Json] = []
    for message in messages:
        role = message.get("role")
        if role == "assistant":
            out.append({"role": "assistant", "content": _answer_content(message)})
        elif role in ("user", "toolResult"):
            content = [_result_block(message)] if role == "toolResult" else _user_content(message)
            if out and out[-1]["role"] == "user":
                out[-1]["content"] = [*_as_blocks(out[-1]["content"]), *_as_blocks(content)]
            else:
                out.append({"role": "user", "content": content})
    return out


def _answer(message: Message) -> Json:
    content = message.get("content")
    blocks: Any = (
        content
        if isinstance(content, str)
        else [_answer_block(place, block) for place, block in objects(content, "content")]
    )
    calls = not isinstance(blocks, str) and any(map(is_call, blocks))
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks,
        "stopReason": "toolUse" if calls else "stop",
    }


def _answer_block(place: str, block: Message) -> Json:
    kind = block["type"]
    if kind == "thinking":
        made = {"type": "thinking", "thinking": text_field(block, "thinking", place)}
        signature = block.get("signature")
        more = {"thinkingSignature": signature} if isinstance(signature, str) else {}
        return {**made, **more, **rest(block, "type", "thinking", "signature")}
    if kind == "redacted_thinking":
        data = text_field(block, "data", place)
        redacted = {"type": "thinking", "thinking": "", "redacted": True, "thinkingSignature": data}
        return {**redacted, **rest(block, "type", "data")}
    if kind == "tool_use":
        call = {"type": "toolCall", "id": text_field(block, "id", place)}
        call |= {"name": text_field(block, "name", place), "arguments": block.get("input", {})}
        return {**call, **rest(block, "type", "id", "name", "input")}
    return _block(place, block)


def _block(place: str, block: Message) -> Json:
    if block["type"] == "text":
        text_field(block, "text", place)
        return dict(block)
    source = block.get("source")
    if block["type"] != "image":
        return dict(block)
    if not isinstance(source, Mapping):
        raise BadForm(f"{place}source must be an object.")
    more = rest(block, "type", "source")
    if source.get("type") == "base64":
        data, media = text_field(source, "data", place), text_field(source, "media_type", place)
        return {"type": "image", "data": data, "mimeType": media, **more}
    if source.get("type") == "url":
        return {**image_of_url(text_field(source, "url", place)), **more}
    return {"type": "image", "source": dict(source), **more}


def _result(place: str, block: Message) -> Json:
    content = block.get("content", [])
    blocks = (
        [{"type": "text", "text": content}]
        if isinstance(content, str)
        else [_block(inner, b) for inner, b in objects(content, f"{place}content")]
    )
    stored: Json = {
        "role": "toolResult",
        "toolCallId": text_field(block, "tool_use_id", place),
        "content": blocks,
        "isError": block.get("is_error") is True,
    }
    more = rest(block, "type", "tool_use_id", "content", "is_error")
    return {**stored, "anthropic": more} if more else stored


def _result_block(message: Message) -> Json:
    blocks = [_sent(block) for block in blocks_of(message)]
    content: Any = blocks
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        content = blocks[0]["text"]
    kept = message.get("anthropic")
    return {
        "type": "tool_result",
        "tool_use_id": str(message.get("toolCallId", "")),
        **({"content": content} if blocks else {}),
        **({"is_error": True} if message.get("isError") is True else {}),
        **(kept if isinstance(kept, Mapping) else {}),
    }


def _user_content(message: Message) -> Any:
    content = message.get("content")
    return content if isinstance(content, str) else [_sent(b) for b in blocks_of(message)]


def _answer_content(message: Message) -> Any:
    blocks = [_answer_sent(block) for block in blocks_of(message)]
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        return blocks[0]["text"]
    return blocks


def _as_blocks(content: Any) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _answer_sent(block: Message) -> Json:
    if block.get("type") == "thinking":
        signature = block.get("thinkingSignature")
        more = rest(block, "type", "thinking", "thinkingSignature", "redacted")
        if block.get("redacted") is True:
            return {"type": "redacted_thinking", "data": signature, **more}
        signed = {"signature": signature} if isinstance(signature, str) else {}
        return {"type": "thinking", "thinking": str(block.get("thinking", "")), **signed, **more}
    if is_call(block):
        made = {
            "type": "tool_use",
            "id": str(block.get("id", "")),
            "name": str(block.get("name", "")),
        }
        given = block.get("arguments", block.get("input", {}))
        more = rest(
            block, "type", "id", "name", "arguments", "input", "argumentsText", "thoughtSignature"
        )
        return {**made, "input": given, **more}
    return _sent(block)


def _sent(block: Message) -> Json:
    if block.get("type") == "text":
        return rest(block, "textSignature")
    if block.get("type") != "image" or "source" in block:
        return dict(block)
    more = rest(block, "type", "data", "mimeType", "url", "detail")
    if "url" in block:
        return {"type": "image", "source": {"type": "url", "url": block["url"]}, **more}
    source = {"type": "base64", "media_type": block.get("mimeType"), "data": block.get("data")}
    return {"type": "image", "source": source, **more}
