"""The numbers of one entry that charts and rules need, so that they never load its text.

Estimates are those of rule set openclaw-2026.5.28: characters / 4 (spec budgets 4.1), the token
pressure of the pre-prompt check (4.3) and the characters of cache-TTL pruning (spec pruning 12.2). Entries that the context never holds measure 0
(spec budgets 7.4, buildSessionContext).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sessions_app.tokens import exact, message_tokens, pressure, pruner_chars
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.transcript import Entry, JsonObject
from sessions_app.transcripts.usage import Usage, has_nonzero_usage, normalize_usage

CALL_TYPES = ("toolCall", "toolUse", "functionCall")
EXCERPT_CHARS = 200
_PRUNER = pruner_chars.OPENCLAW_2026_5_28


@dataclass(frozen=True, slots=True)
class Measures:
    """Tokens are estimates unless named ``exact``; usage is what the provider billed, if anything.

    ``tokens`` of a compaction or a branch summary are those of its summary. ``thinking_tokens`` and
    ``call_tokens`` are parts of ``tokens``.

    ``pruner_chars`` is what cache-TTL pruning counts, none where the runtime's pruning fails on the
    message; ``view_chars`` is how long a soft trim finds a tool result, ``is_wide`` whether its texts
    weigh more than their UTF-16 units.
    """

    tokens: int
    thinking_tokens: int
    call_tokens: int
    pressure: int
    exact: int | None
    result_chars: int
    images: int
    pruner_chars: int | None
    view_chars: int
    is_wide: bool
    usage: Usage | None
    tokens_before: int | None
    excerpt: str


def measure(entry: Entry, encoding: str | None = None) -> Measures:
    """All numbers of an entry; ``exact`` only when an ``encoding`` is given."""
    message = context_message(entry.type, entry.record)
    raw_usage = normalize_usage(entry.message.get("usage"))
    thinking = js.utf16_len("".join(texts_of(message, "thinking")))
    asked = list(_call_texts(message))
    calls = sum(map(js.utf16_len, asked))
    before = entry.record.get("tokensBefore")
    texts = [*_said(message), *asked]
    parts = _view_parts(message)
    return Measures(
        tokens=_tokens(message),
        thinking_tokens=message_tokens.tokens_of_chars(thinking),
        call_tokens=message_tokens.tokens_of_chars(calls),
        pressure=pressure.message_pressure(message) if message else 0,
        exact=sum(exact.count(t, encoding) for t in texts) if encoding else None,
        result_chars=_result_chars(message),
        images=message_tokens.image_count(message),
        pruner_chars=_pruner_chars(message),
        view_chars=pruner_chars.view_length(parts),
        is_wide=any(_PRUNER.weight(part) != js.utf16_len(part) for part in parts),
        usage=raw_usage if has_nonzero_usage(raw_usage) else None,
        tokens_before=_count(before),
        excerpt=_excerpt(entry, texts),
    )


def exact_tokens(entry_type: str, record: JsonObject, encoding: str) -> int:
    """Tokens of all texts that an entry adds to the context, by a vocabulary."""
    return sum(exact.count(t, encoding) for t in all_texts(context_message(entry_type, record)))


def context_message(entry_type: str, record: JsonObject) -> JsonObject:
    """The message an entry adds to the context, empty when it adds none."""
    if entry_type == "message":
        message = record.get("message")
        return message if isinstance(message, js.OBJECT) else {}
    if entry_type == "custom_message":
        return {
            "role": "custom",
            "customType": record.get("customType"),
            "content": record.get("content"),
        }
    if entry_type in ("compaction", "branch_summary") and js.is_truthy(record.get("summary")):
        role = "compactionSummary" if entry_type == "compaction" else "branchSummary"
        return {"role": role, "summary": record.get("summary")}
    return {}


def texts_of(message: JsonObject, kind: str) -> Iterator[str]:
    """The texts of all blocks of one kind (``text`` or ``thinking``)."""
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if (
            isinstance(block, dict)
            and block.get("type") == kind
            and isinstance(block.get(kind), str)
        ):
            yield block[kind]


def all_texts(message: JsonObject) -> Iterator[str]:
    """Every text of a message that a model reads: content, thinking, calls, summary, output."""
    yield from _said(message)
    yield from _call_texts(message)


def _said(message: JsonObject) -> Iterator[str]:
    """The texts but for the calls, which have to be written first."""
    for key in ("content", "summary", "command", "output"):
        if isinstance(message.get(key), str):
            yield message[key]
    yield from texts_of(message, "text")
    yield from texts_of(message, "thinking")


def _call_texts(message: JsonObject) -> Iterator[str]:
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in CALL_TYPES:
            yield str(block.get("name") or "")
            yield _json(block.get("arguments", block.get("input")))


def _json(value: Any) -> str:
    try:
        return js.json_text(value)
    except js.NoJson:
        return ""


def _tokens(message: JsonObject) -> int:
    if message_tokens.is_runtime_context(message):
        return 0
    return message_tokens.message_tokens(message)


def _count(value: object) -> int | None:
    """A count as the runtime could hold it, none for what is no count."""
    if not js.is_finite(value) or value < 0:
        return None
    return min(int(value), js.MAX_SAFE_INTEGER)


def _result_chars(message: JsonObject) -> int:
    if message.get("role") != "toolResult":
        return 0
    return sum(map(js.utf16_len, texts_of(message, "text")))


def _pruner_chars(message: JsonObject) -> int | None:
    try:
        return pruner_chars.pruner_message_chars(message, _PRUNER) if message else 0
    except TypeError:
        return None


def _view_parts(message: JsonObject) -> list[str]:
    if message.get("role") != "toolResult":
        return []
    try:
        return pruner_chars.view_parts(message, _PRUNER)
    except TypeError:
        return []


def _excerpt(entry: Entry, texts: list[str]) -> str:
    """The beginning of what the entry says, on one line."""
    if entry.type == "model_change":
        names = (entry.record.get(key) for key in ("provider", "modelId"))
        return "/".join(name for name in names if isinstance(name, str))[:EXCERPT_CHARS]
    head = next((text for text in texts if js.trim(text)), "")
    return " ".join(head[: 4 * EXCERPT_CHARS].split())[:EXCERPT_CHARS]
