"""How a tool result is shown once it was shown: the forms a session remembers (spec profiles 5.6).

Since 2026.9 what a model has seen of a result stays as it was, so that the provider's prompt cache
holds. A state says in which form each result is shown, and which results were sent at all; both are
named by keys, because messages carry no ids. Nothing here changes a state in place.
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from compaction_app.engine.pruning.cache_touch import CACHE_TTL_ENTRY
from compaction_app.engine.pruning.change import block_text
from sessions_app.tokens import javascript as js

Mode = Literal["soft", "hard", "none"]
Message = Mapping[str, Any]

_MARK_MODES: Final = ("soft", "hard")


@dataclass(frozen=True, slots=True)
class Replacement:
    """The form a result is shown in: its content, and what gave it that form ("none" is a plain cut)."""

    content: Any
    mode: Mode


@dataclass(frozen=True, slots=True)
class Mark:
    """A form that a session's marker names, to be made again from the result itself."""

    mode: Mode
    placeholder: str | None = None


@dataclass(frozen=True, slots=True)
class ProjectionState:
    """What a session remembers.

    ``replacements``, ``frozen`` (results already sent) and ``hashes`` (of their texts) go by key;
    ``ambiguous`` are base keys that several results share; ``restored`` marks wait for their results.
    """

    replacements: Mapping[str, Replacement] = field(default_factory=dict)
    frozen: frozenset[str] = frozenset()
    ambiguous: frozenset[str] = frozenset()
    hashes: Mapping[str, str] = field(default_factory=dict)
    restored: Mapping[str, Mark] = field(default_factory=dict)


def texts_of(message: Message) -> list[str]:
    """The texts of a result's text blocks; a string content is one text."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else ()
    return [text for block in blocks if (text := block_text(block)) is not None]


def source_hash(message: Message) -> str:
    """What tells whether a result is still the one that was sent."""
    return _hash(js.json_text(texts_of(message)))


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


def base_key(message: Any) -> str | None:
    """A result's key as far as the result alone gives one."""
    if not isinstance(message, Mapping) or message.get("role") != "toolResult":
        return None
    call_id, moment = message.get("toolCallId"), message.get("timestamp")
    when = js.number_text(moment) if js.is_finite(moment) else ""
    if isinstance(call_id, str) and call_id:
        return f"tool:{call_id}:{when}" if when else f"tool:{call_id}"
    return f"timestamp:{when}" if when else None


@dataclass(frozen=True, slots=True)
class Keys:
    """The key of each result of one list by position, and the base keys now known to be shared."""

    by_position: Mapping[int, str]
    ambiguous: frozenset[str]


def keys_of(messages: Sequence[Any], known: frozenset[str] = frozenset()) -> Keys:
    """Name the results of a list. Results that share a base key are told apart by their ids or texts."""
    bases = {i: base for i, m in enumerate(messages) if (base := base_key(m)) is not None}
    counts = Counter(bases.values())
    ambiguous = known | {base for base, count in counts.items() if count > 1}
    seen: Counter[str] = Counter()
    named = {}
    for position, base in bases.items():
        if base in ambiguous:
            fallback = f"fallback:{base}:{_telling(messages[position])}"
            seen[fallback] += 1
            named[position] = f"{fallback}:{seen[fallback]}"
        else:
            named[position] = base
    return Keys(named, ambiguous)


def _telling(message: Message) -> str:
    own = message.get("id")
    return f"id:{own}" if isinstance(own, str) and own else f"text:{source_hash(message)}"


def shown(message: Message, replacement: Replacement) -> Message:
    """A result in its remembered form; the same object where that cannot be applied."""
    if replacement.mode != "none":
        return {**message, "content": replacement.content}
    content = message.get("content")
    if not isinstance(content, list) or len(texts_of(message)) != len(replacement.content):
        return message
    texts = iter(replacement.content)
    blocks = [
        {**block, "text": next(texts)} if block_text(block) is not None else block
        for block in content
    ]
    return {**message, "content": blocks}


def record(before: Message, after: Message, mode: Mode) -> Replacement:
    """What to remember of a result that is shown in another form."""
    return Replacement(after["content"] if mode != "none" else tuple(texts_of(after)), mode)


# --- the marker in the session ----------------------------------------------------------------------
def marker_data(state: ProjectionState) -> dict[str, Any]:
    """What a session's marker says of the state; plain cuts are remembered by their texts."""
    pruned = []
    for key in _sorted(state.replacements):
        held = state.replacements[key]
        if held.mode == "none":
            continue
        row: dict[str, Any] = {"key": key, "mode": held.mode}
        if held.mode == "hard":
            row["placeholder"] = "".join(texts_of({"content": held.content}))
        pruned.append(row)
    return {
        "prunedToolResults": pruned,
        "ambiguousToolResultBaseKeys": _sorted(state.ambiguous),
        "frozenToolResults": [_frozen_row(state, key) for key in _sorted(state.frozen)],
    }


def _frozen_row(state: ProjectionState, key: str) -> dict[str, Any]:
    row: dict[str, Any] = {"key": key, "sourceHash": state.hashes.get(key)}
    held = state.replacements.get(key)
    if held is not None and held.mode == "none":
        row["texts"] = list(held.content)
    return row


def _sorted(keys: Iterable[str]) -> list[str]:
    return sorted(keys, key=js.utf16_sort_key)


def restored_state(entries: Sequence[Any]) -> ProjectionState:
    """The state that the last valid marker of a branch tells."""
    data = restored_marker(entries)
    return ProjectionState() if data is None else _read(data, data["prunedToolResults"])


def restored_marker(entries: Sequence[Any]) -> Mapping[str, Any] | None:
    """What the last valid marker of a branch says; a reset ends the search."""
    for entry in reversed(entries):
        if not isinstance(entry, Mapping):
            continue
        if entry.get("type") == "reset":
            break
        data = entry.get("data")
        is_marker = entry.get("type") == "custom" and entry.get("customType") == CACHE_TTL_ENTRY
        if not is_marker or not isinstance(data, Mapping):
            continue
        if isinstance(data.get("prunedToolResults"), list):
            return data
    return None


def _read(data: Mapping[str, Any], rows: Sequence[Any]) -> ProjectionState:
    marks = {}
    for row in rows:
        key, mode = (row.get("key"), row.get("mode")) if isinstance(row, Mapping) else (None, None)
        if isinstance(key, str) and mode in _MARK_MODES:
            words = row.get("placeholder")
            marks[key] = Mark(mode, words if isinstance(words, str) else None)
    replacements, hashes = {}, {}
    frozen = set(marks)
    for row in _list(data.get("frozenToolResults")):
        key = row.get("key") if isinstance(row, Mapping) else None
        if not isinstance(key, str):
            continue
        frozen.add(key)
        if isinstance(row.get("sourceHash"), str):
            hashes[key] = row["sourceHash"]
        texts = row.get("texts")
        if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
            replacements[key] = Replacement(tuple(texts), "none")
    shared = (key for key in _list(data.get("ambiguousToolResultBaseKeys")))
    return ProjectionState(
        replacements=replacements,
        frozen=frozenset(frozen),
        ambiguous=frozenset(key for key in shared if isinstance(key, str)),
        hashes=hashes,
        restored=marks,
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
