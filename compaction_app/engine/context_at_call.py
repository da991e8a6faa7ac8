"""What one recorded call sent, message by message: where each came from, what was cut, what is new.

Messages are traced to the entries they come from by what no rule changes: side, time, tool call.
Sizes are characters of text (UTF-16 units) and estimated tokens (``message_tokens``).
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from compaction_app.engine.pruning.change import Change, text_chars
from compaction_app.engine.turn.requests import Context
from sessions_app.tokens.message_tokens import MessageTokenRules, message_tokens
from sessions_app.transcripts.session_context import (
    COMPACTION_PREFIX,
    llm_message,
    messages_of_path,
)

Message = Mapping[str, Any]
Key = tuple[str, Any, str]
Kind = Literal["summary", "user", "assistant", "tool result", "other"]
Fate = Literal["same", "added", "changed", "removed"]
KINDS: Final[Mapping[str, Kind]] = {
    "compactionSummary": "summary",
    "user": "user",
    "assistant": "assistant",
    "toolResult": "tool result",
}
_NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Original:
    """A message as the session holds it, with the number of its entry."""

    seq: int
    message: Message


@dataclass(frozen=True, slots=True)
class SentPart:
    """One message of the request.

    ``sources`` are the entries it comes from, none for what the runtime adds by itself. ``before`` is
    the size of the text as stored, none without a source; ``changes`` are what the rules did to it.
    """

    position: int
    kind: Kind
    message: Message
    sources: tuple[int, ...]
    before: int | None
    after: int
    tokens: int
    changes: tuple[Change, ...] = ()
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """The messages of a call in order. ``left_out`` are entries of the context that were not sent."""

    parts: tuple[SentPart, ...]
    left_out: tuple[int, ...]

    @property
    def tokens(self) -> int:
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True, slots=True)
class Prefix:
    """How much of the call before is repeated word for word from the beginning.

    ``messages`` and ``tokens`` are of that part; ``broken_at`` is the position of the first message that
    the call before had otherwise, none where this call only adds to it; ``earlier`` is what stood there.
    """

    messages: int
    tokens: int
    broken_at: int | None
    earlier: SentPart | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """From one call to the next: the fate of each part of this one, and what is gone."""

    fates: tuple[Fate, ...]
    removed: tuple[SentPart, ...]
    prefix: Prefix


def originals_of(path: Sequence[tuple[int, Mapping[str, Any]]]) -> list[Original]:
    """The messages that a branch's entries put before the model, with the entries' numbers.

    ``path`` has number and record of each entry, root first.
    """
    places = range(len(path))
    last = next((n for n in reversed(places) if path[n][1].get("type") == "compaction"), None)
    if last is None:
        return [Original(seq, m) for seq, record in path for m in messages_of_path((record,))]
    seq, boundary = path[last]
    kept_id = boundary.get("firstKeptEntryId")
    kept = next((n for n in range(last) if path[n][1].get("id") == kept_id), last)
    rest = [
        item
        for item in (*path[kept:last], *path[last + 1 :])
        if item[1].get("type") != "compaction"
    ]
    return [
        *(Original(seq, message) for message in messages_of_path((boundary,))),
        *(Original(at, m) for at, record in rest for m in messages_of_path((record,))),
    ]


def request_of(
    context: Context, originals: Sequence[Original], rules: MessageTokenRules
) -> Request:
    """The request of a call with the entries that its messages come from."""
    sent = [m for m in context.messages if llm_message(m) is not None]
    sources = _sources(sent, originals)
    by_seq = {original.seq: original.message for original in originals}
    changes = _changes_by_place(context)
    parts = tuple(
        _part(place, message, sources[place], by_seq, tuple(changes[place]), rules)
        for place, message in enumerate(sent)
    )
    used = {seq for part in parts for seq in part.sources}
    return Request(parts, tuple(o.seq for o in originals if o.seq not in used))


def step_between(before: Request, now: Request) -> Step:
    """What is added, changed and removed against the call before, and where the prefix breaks."""
    earlier = _numbered(before.parts)
    own = _numbered(now.parts)
    fates: list[Fate] = []
    for key, part in own.items():
        other = earlier.get(key)
        same = other is not None and _said(other.message) == _said(part.message)
        fates.append("added" if other is None else "same" if same else "changed")
    removed = tuple(part for key, part in earlier.items() if key not in own)
    return Step(tuple(fates), removed, _prefix(before.parts, now.parts))


def _part(
    place: int,
    message: Message,
    sources: tuple[int, ...],
    by_seq: Mapping[int, Message],
    changes: tuple[Change, ...],
    rules: MessageTokenRules,
) -> SentPart:
    stored = [by_seq[seq] for seq in sources]
    role = stored[0].get("role") if stored else message.get("role")
    tool = message.get("toolName")
    return SentPart(
        position=place,
        kind=_kind(message, role, has_source=bool(stored)),
        message=message,
        sources=sources,
        before=sum(_chars(item) for item in stored) if stored else None,
        after=_chars(message),
        tokens=message_tokens(message, rules),
        changes=changes,
        tool=tool if isinstance(tool, str) else "",
    )


def _kind(message: Message, role: Any, *, has_source: bool) -> Kind:
    if _is_summary(message):
        return "summary"
    return KINDS.get(str(role), "other") if has_source or role != "user" else "other"


def _changes_by_place(context: Context) -> Mapping[int, list[Change]]:
    """The changes by the place of the message among those sent; rules name places before wording."""
    sent = [n for n, message in enumerate(context.stored) if llm_message(message) is not None]
    place_of = {stored: place for place, stored in enumerate(sent)}
    found: defaultdict[int, list[Change]] = defaultdict(list)
    for change in context.changes:
        if isinstance(change.position, int):
            found[place_of.get(change.position, change.position)].append(change)
    return found


def _sources(sent: Sequence[Message], originals: Sequence[Original]) -> list[tuple[int, ...]]:
    """For each message the entries it is made of: its own, and those that were joined to it."""
    waiting: defaultdict[Key, deque[Original]] = defaultdict(deque)
    for original in originals:
        waiting[_key(original.message)].append(original)
    found: list[tuple[int, ...]] = []
    for message in sent:
        own = waiting[_key(message)]
        found.append((own.popleft().seq,) if own else ())
    left = [original for queue in waiting.values() for original in queue]
    holders = _places_of_blocks(sent) if left else {}
    for original in left:
        first = next(iter(_blocks(llm_message(original.message) or {})), None)
        places = holders.get(_block_key(first), ()) if first is not None else ()
        place = next((n for n in places if _holds(sent[n], original.message)), None)
        if place is not None:
            found[place] = tuple(sorted({*found[place], original.seq}))
    return found


def _places_of_blocks(sent: Sequence[Message]) -> Mapping[Key, list[int]]:
    """Where each block of a message with several is sent."""
    found: defaultdict[Key, list[int]] = defaultdict(list)
    for place, message in enumerate(sent):
        blocks = _blocks(message)
        for block in blocks if len(blocks) > 1 else ():
            found[_block_key(block)].append(place)
    return found


def _block_key(block: Any) -> Key:
    """The same for equal blocks, and mostly another for others."""
    if not isinstance(block, Mapping):
        return "", None, str(type(block))
    texts = (block.get(name) for name in ("text", "thinking", "id", "data"))
    said = next((text for text in texts if isinstance(text, str)), "")
    return str(block.get("type")), None, said


def _holds(message: Message, other: Message) -> bool:
    """Whether a message of several blocks has all of those of another one of its side."""
    blocks, own = _blocks(llm_message(other) or {}), _blocks(message)
    is_longer = _side(message) == _side(other) and len(own) > len(blocks) > 0
    return is_longer and all(block in own for block in blocks)


def _numbered(parts: Iterable[SentPart]) -> dict[tuple[Key, int], SentPart]:
    """Parts by key, those of one key counted."""
    seen: defaultdict[Key, int] = defaultdict(int)
    found = {}
    for part in parts:
        key = _key(part.message)
        found[key, seen[key]] = part
        seen[key] += 1
    return found


def _prefix(before: Sequence[SentPart], now: Sequence[SentPart]) -> Prefix:
    pairs = zip(before, now, strict=False)
    same = next(
        (n for n, (a, b) in enumerate(pairs) if _said(a.message) != _said(b.message)),
        min(len(before), len(now)),
    )
    tokens = sum(part.tokens for part in now[:same])
    if same == len(before):
        return Prefix(same, tokens, None)
    return Prefix(same, tokens, same, before[same])


def _key(message: Message) -> Key:
    if _is_summary(message):
        return "summary", None, ""
    call = message.get("toolCallId")
    moment = message.get("timestamp")
    known = moment if isinstance(moment, int | float | str) else None
    return _side(message), known, _NOT_PLAIN.sub("", call) if isinstance(call, str) else ""


def _is_summary(message: Message) -> bool:
    """Whether a message is the summary of a compaction, also as it is worded for the model."""
    if message.get("role") == "compactionSummary":
        return True
    first = next(iter(_blocks(message)), None) if message.get("role") == "user" else None
    text = first.get("text") if isinstance(first, Mapping) else None
    return isinstance(text, str) and text.startswith(COMPACTION_PREFIX)


def _side(message: Message) -> str:
    role = message.get("role")
    return role if role in ("assistant", "toolResult") else "user"


def _said(message: Message) -> tuple[str, Any]:
    """What of a message is sent."""
    return _side(message), _blocks(llm_message(message) or {})


def _blocks(message: Message) -> list[Any]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _chars(message: Message) -> int:
    return text_chars(llm_message(message) or {})
