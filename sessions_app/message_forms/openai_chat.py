"""Messages of the OpenAI chat completions API.

Thinking stands in ``reasoning_content``, as servers that show it write it. A tool's answer holds text
only there, so images of results follow in a user message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sessions_app.message_forms.blocks import (
    BadForm,
    arguments_text,
    blocks_of,
    call_block,
    image_of_url,
    is_call,
    joined_text,
    objects,
    rest,
    text_field,
    url_of_image,
)

Json = dict[str, Any]
Message = Mapping[str, Any]
KEPT: Final = "openai"
"""Where a stored message keeps fields that only this form knows."""

IMAGES_TEXT: Final = "(see attached image)"
IMAGES_INTRO: Final = "Attached image(s) from tool result:"


def to_stored(message: Message) -> list[Json]:
    """See the package; the roles are those of the API."""
    role = message.get("role")
    if role in ("system", "developer"):
        return []
    if role == "user":
        return [_with_rest({"role": "user", "content": _parts(message)}, message, "content")]
    if role == "assistant":
        return [_answer(message)]
    if role == "tool":
        return [_result(message)]
    raise BadForm(f"role {role!r} is none of system, developer, user, assistant, tool.")


def from_stored(messages: Iterable[Message]) -> list[Json]:
    """See the package; results keep their order, their images stand behind the last of them."""
    out: list[Json] = []
    images: list[Json] = []
    for message in messages:
        if message.get("role") == "toolResult":
            blocks = blocks_of(message)
            found = [_image_part(b) for b in blocks if b.get("type") == "image"]
            out.append(_tool_message(message, blocks, bool(found)))
            images += found
            continue
        if images:
            out.append(_images_message(images))
            images = []
        if message.get("role") == "user":
            out.append(_user_message(message))
        elif message.get("role") == "assistant":
            out.append(_assistant_message(message))
    return [*out, _images_message(images)] if images else out


def _with_rest(stored: Json, message: Message, *known: str) -> Json:
    left = rest(message, "role", *known)
    return {**stored, KEPT: left} if left else stored


def _parts(message: Message) -> Any:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return [_block(place, part) for place, part in objects(content, "content")]


def _block(place: str, part: Message) -> Json:
    kind = part["type"]
    if kind == "text":
        return {"type": "text", "text": text_field(part, "text", place)}
    if kind == "image_url":
        image = part.get("image_url")
        if not isinstance(image, Mapping):
            raise BadForm(f'{place}image_url must be an object with a "url".')
        block = image_of_url(text_field(image, "url", f"{place}image_url."))
        return {**block, **rest(image, "url")}
    return dict(part)


def _answer(message: Message) -> Json:
    blocks: list[Json] = []
    thinking = message.get("reasoning_content")
    if isinstance(thinking, str) and thinking:
        blocks.append({"type": "thinking", "thinking": thinking})
    content = message.get("content")
    if isinstance(content, str):
        blocks += [{"type": "text", "text": content}] if content else []
    elif content is not None:
        blocks += [_block(place, part) for place, part in objects(content, "content")]
    calls = message.get("tool_calls") or []
    for place, call in objects(calls, "tool_calls"):
        function = call.get("function")
        if not isinstance(function, Mapping):
            raise BadForm(f"{place}function must be an object.")
        name = text_field(function, "name", f"{place}function.")
        arguments = text_field(function, "arguments", f"{place}function.")
        blocks.append(call_block(text_field(call, "id", place), name, arguments))
    stored: Json = {
        "role": "assistant",
        "content": blocks,
        "stopReason": "toolUse" if calls else "stop",
    }
    return _with_rest(stored, message, "content", "tool_calls", "reasoning_content")


def _result(message: Message) -> Json:
    content = message.get("content")
    blocks = (
        [{"type": "text", "text": content}]
        if isinstance(content, str)
        else [_block(place, part) for place, part in objects(content, "content")]
    )
    stored: Json = {
        "role": "toolResult",
        "toolCallId": text_field(message, "tool_call_id", ""),
        "content": blocks,
        "isError": False,
    }
    return _with_rest(stored, message, "content", "tool_call_id")


def _user_message(message: Message) -> Json:
    content = message.get("content")
    parts = content if isinstance(content, str) else [_part(b) for b in blocks_of(message)]
    return {"role": "user", "content": parts, **_kept(message)}


def _part(block: Message) -> Json:
    if block.get("type") == "text":
        return {"type": "text", "text": str(block.get("text", ""))}
    return _image_part(block) if block.get("type") == "image" else dict(block)


def _image_part(block: Message) -> Json:
    more = rest(block, "type", "data", "mimeType", "url")
    return {"type": "image_url", "image_url": {"url": url_of_image(block), **more}}


def _assistant_message(message: Message) -> Json:
    blocks = blocks_of(message)
    said = [b for b in blocks if b.get("type") != "thinking" and not is_call(b)]
    calls = [
        {
            "id": str(block.get("id", "")),
            "type": "function",
            "function": {"name": str(block.get("name", "")), "arguments": arguments_text(block)},
        }
        for block in blocks
        if is_call(block)
    ]
    thinking = joined_text(blocks, "thinking")
    return {
        "role": "assistant",
        "content": _said(said),
        **({"reasoning_content": thinking} if thinking else {}),
        **({"tool_calls": calls} if calls else {}),
        **_kept(message),
    }


def _said(blocks: list[Message]) -> Any:
    if not blocks:
        return None
    if len(blocks) == 1 and blocks[0].get("type") == "text":
        return str(blocks[0].get("text", ""))
    return [_part(block) for block in blocks]


def _tool_message(message: Message, blocks: list[Message], has_images: bool) -> Json:
    texts = [b for b in blocks if b.get("type") == "text"]
    content: Any = joined_text(texts)
    if len(texts) > 1:
        content = [_part(block) for block in texts]
    elif not content and has_images:
        content = IMAGES_TEXT
    return {
        "role": "tool",
        "tool_call_id": str(message.get("toolCallId", "")),
        "content": content,
        **_kept(message),
    }


def _images_message(images: list[Json]) -> Json:
    return {"role": "user", "content": [{"type": "text", "text": IMAGES_INTRO}, *images]}


def _kept(message: Message) -> Json:
    kept = message.get(KEPT)
    return dict(kept) if isinstance(kept, Mapping) else {}
