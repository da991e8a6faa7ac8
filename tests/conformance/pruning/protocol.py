"""Encodings of the golden cases of the section "pruning" (spec pruning 0.3 and 0.4)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from compaction_app.engine.pruning.truncation_rules import Notice, constant_notice, recovery_notice
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.tokens import javascript as js

Adapter = Callable[[dict[str, Any], RuleSet], Any]
NOW_MS = 1_700_000_000_000


def expand(value: Any) -> Any:
    """Arguments with every generator replaced by what it stands for."""
    if isinstance(value, list):
        return [expand(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (name, arg), *_ = value.items()
        if name == "$repeat":
            return js.concat((expand(arg[0]) * arg[1],))
        if name == "$concat":
            return js.concat(expand(part) for part in arg)
        if name == "$seq":
            text, start, count = expand(arg[0]), arg[1], arg[2]
            return "".join(text.replace("{}", str(i)) for i in range(start, start + count))
        if name == "$num":
            return float(arg)
    return {key: expand(item) for key, item in value.items()}


def encode(value: Any) -> Any:
    """A result as the golden cases write it: long texts by their hash, no infinite numbers."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"$num": js.number_text(value)}
    return value


def _text(text: str) -> Any:
    length = js.utf16_len(text)
    if length <= 400:
        return text
    return {
        "$sha256": hashlib.sha256(text.encode("utf-16-le", "surrogatepass")).hexdigest(),
        "$len16": length,
        "$head": js.utf16_slice(text, 0, 80),
        "$tail": js.utf16_slice(text, -80),
    }


def notice(suffix: Any) -> Notice | None:
    """The notice that the argument ``suffix`` asks for; none for the version's own."""
    if isinstance(suffix, str):
        return constant_notice(suffix)
    if isinstance(suffix, Mapping) and suffix.get("$suffix") == "recovery":
        return recovery_notice
    return None


def by_position(messages: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """Messages that equal the one given at the same position become a reference to it."""
    return [
        {"$in": i} if i < len(given) and message == given[i] else encode(message)
        for i, message in enumerate(messages)
    ]


def by_equality(messages: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """Messages that equal any given one become a reference to the first such."""
    return [
        {"$in": given.index(message)} if message in given else encode(message)
        for message in messages
    ]


def one(message: Any, given: Any) -> dict[str, Any]:
    """A single message, and whether it is the very object given."""
    whole = {"$in": 0} if message is given else encode(message)
    return {"same": message is given, "message": whole}
