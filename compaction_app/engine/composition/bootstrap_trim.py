"""How a workspace file that is too long is shortened for the prompt (spec compaction 5.2, profiles 3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from compaction_app.engine.composition.policy_digest import ELLIPSIS, policy_digest
from compaction_app.engine.pruning.cache_ttl_trim import without_half_pair
from sessions_app.tokens import javascript as js

MIN_FULL_MARKER_ROOM = 16
ROUNDS = 3
AGENTS_FILE = "AGENTS.md"


@dataclass(frozen=True, slots=True)
class Trim:
    """How a version shortens: the shares of head and tail.

    ``counts_marker``: whether the marker is part of the limit, or comes on top of it.
    ``digests_policy``: whether of AGENTS.md the lines with rules are kept as well; ``lead_ins``: and
    the line right before a list of them. ``keeps_pairs``: no cut splits a surrogate pair.
    """

    head: float
    tail: float
    counts_marker: bool
    digests_policy: bool
    lead_ins: bool = False
    keeps_pairs: bool = False


TRIM_2026_3 = Trim(0.7, 0.2, counts_marker=False, digests_policy=False)
TRIM_2026_4_20 = Trim(0.75, 0.25, counts_marker=True, digests_policy=False)
TRIM_2026_5_28 = Trim(0.75, 0.25, counts_marker=True, digests_policy=True)
TRIM_2026_9 = replace(TRIM_2026_5_28, lead_ins=True, keeps_pairs=True)

_AGENTS_HEAD, _AGENTS_TAIL, _AGENTS_DIGEST = 0.45, 0.15, 0.35


@dataclass(frozen=True, slots=True)
class TrimmedFile:
    """The text that goes into the prompt; ``original_length`` is without trailing white space."""

    content: str
    truncated: bool
    max_chars: float
    original_length: int


def trim_file(content: str, name: str, max_chars: float, rules: Trim) -> TrimmedFile:
    """Keep head and tail of a file longer than ``max_chars``, with a marker of what is missing."""
    text = js.trim_end(content)
    length = js.utf16_len(text)
    if length <= max_chars:
        return TrimmedFile(text, False, max_chars, length)
    if rules.digests_policy and name.lower() == AGENTS_FILE.lower():
        shortened = _with_digest(text, math.floor(max_chars), rules)
    elif rules.counts_marker:
        shortened = _within(text, name, math.floor(max_chars), rules)
    else:
        head, tail = math.floor(rules.head * max_chars), math.floor(rules.tail * max_chars)
        shortened = _joined(text, _full_marker(name, head, tail, length), head, tail, "\n", rules)
    return TrimmedFile(shortened, True, max_chars, length)


def clamp(text: str, budget: float) -> str:
    """At most ``budget`` characters, the last one an ellipsis; a surrogate pair is not split."""
    if budget <= 0:
        return ""
    if js.utf16_len(text) <= budget:
        return text
    limit = math.floor(budget)
    return safe_cut(text, limit) if limit <= 3 else safe_cut(text, limit - 1) + ELLIPSIS


def safe_cut(text: str, length: int) -> str:
    """The first ``length`` characters, one less where that would split a surrogate pair."""
    cut = js.utf16_slice(text, 0, length)
    split = cut and "\ud800" <= cut[-1] <= "\udbff" and js.utf16_len(text) > length
    return cut[:-1] if split else cut


def _full_marker(name: str, head: int, tail: int, length: int) -> str:
    return (
        f"\n[...truncated, read {name} for full content...]\n"
        f"…(truncated {name}: kept {head}+{tail} chars of {length})…\n"
    )


def _compact_marker(head: int, tail: int, length: int) -> str:
    return f"[…truncated {head}+{tail}/{length}]"


def _ends(text: str, head: int, tail: int, rules: Trim) -> tuple[str, str]:
    first, last = js.utf16_slice(text, 0, head), js.utf16_slice(text, -tail) if tail else ""
    return without_half_pair(first, last) if rules.keeps_pairs else (first, last)


def _joined(text: str, marker: str, head: int, tail: int, separator: str, rules: Trim) -> str:
    first, last = _ends(text, head, tail, rules)
    parts = (first, marker, last)
    return separator.join(part for part in parts if part)


def _within(text: str, name: str, limit: int, rules: Trim) -> str:
    """Head, marker and tail within the limit; the marker names the lengths it leaves room for."""
    length = js.utf16_len(text)
    full = limit - js.utf16_len(_full_marker(name, 0, 0, length)) - 2 >= MIN_FULL_MARKER_ROOM
    separator = "\n" if full else ""

    def marker(head: int, tail: int) -> str:
        return (
            _full_marker(name, head, tail, length) if full else _compact_marker(head, tail, length)
        )

    def used(head: int, tail: int) -> int:
        joints = len(separator) * ((head > 0) + (tail > 0))
        return js.utf16_len(marker(head, tail)) + joints

    head, tail = _balanced(limit, used, rules)
    while (over := head + tail + used(head, tail) - limit) > 0 and (head or tail):
        head, tail = (head, max(0, tail - over)) if tail else (max(0, head - over), 0)
    if not head and not tail and used(1, 0) + 1 <= limit:
        head = 1
    return safe_cut(_joined(text, marker(head, tail), head, tail, separator, rules), limit)


def _balanced(limit: int, used: Callable[[int, int], int], rules: Trim) -> tuple[int, int]:
    """Head and tail beside a marker whose own length depends on them: three rounds settle it."""
    head = tail = 0
    for _ in range(ROUNDS):
        room = max(0, limit - used(head, tail))
        settled = (head, tail)
        head, tail = math.floor(rules.head * room), math.floor(rules.tail * room)
        if settled == (head, tail):
            break
    return head, tail


def _with_digest(text: str, limit: int, rules: Trim) -> str:
    """AGENTS.md: head, the lines with rules, tail; shortened in the order tail, head, rules."""
    head = math.floor(_AGENTS_HEAD * limit)
    tail = math.floor(_AGENTS_TAIL * limit)
    digest = math.floor(_AGENTS_DIGEST * limit)
    result = _digested(text, head, tail, digest, rules)
    while (over := js.utf16_len(result) - limit) > 0 and (tail or head > 1 or digest):
        if tail:
            tail = max(0, tail - over)
        elif head > 1:
            head = max(1, head - over)
        else:
            digest = max(0, digest - over)
        result = _digested(text, head, tail, digest, rules)
    return safe_cut(result, limit)


def _digested(text: str, head: int, tail: int, budget: int, rules: Trim) -> str:
    digest = policy_digest(text, budget, lead_ins=rules.lead_ins)
    kept = f"{head}+policy {js.utf16_len(digest.text)}+{tail} chars of {js.utf16_len(text)}"
    omitted = digest.omitted_lines
    first, last = _ends(text, head, tail, rules)
    parts = (
        first,
        f"[...truncated, read {AGENTS_FILE} for full content...]",
        f"[Policy digest from {AGENTS_FILE}]" if digest.text else "",
        digest.text,
        f"[...{omitted} more policy lines omitted...]" if omitted else "",
        f"…(truncated {AGENTS_FILE}: kept {kept})…",
        last,
    )
    return "\n".join(part for part in parts if part)
