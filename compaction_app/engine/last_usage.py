"""What the last model call of a transcript used, read from the end of the file (spec budgets 5.6, 5.7).

Files grow to megabytes, so they are read backwards in chunks until a line with a usage turns up. The
reader is handed in; nothing here opens a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import MessageTokenRules, messages_tokens
from sessions_app.transcripts.json_lines import NotJson, parse_json, parse_json_lines
from sessions_app.transcripts.usage import (
    Number,
    Usage,
    UsageRules,
    has_nonzero_usage,
    normalize_usage,
    prompt_tokens,
)

CHUNK_BYTES: Final = 64 * 1024
BYTES_PER_TOKEN: Final = 4

ReadAt = Callable[[int, int], bytes]
"""``read(offset, size)``: that many bytes of the transcript file from that offset on."""

_LINE_ENDS = re.compile("\n+")


@dataclass(frozen=True, slots=True)
class LastUsage:
    """The last non-zero usage of a file of ``byte_size`` bytes, and how many bytes follow its line.

    ``trailing_bytes`` is None when there is no such usage.
    """

    byte_size: int
    usage: Usage | None = None
    trailing_bytes: int | None = None

    @property
    def prompt_tokens(self) -> Number | None:
        """What the call sent; None when unknown."""
        return prompt_tokens(self.usage)

    @property
    def output_tokens(self) -> Number | None:
        """What the call answered, when above 0."""
        output = self.usage.output if self.usage else None
        return output if js.is_finite(output) and output > 0 else None

    @property
    def is_known(self) -> bool:
        """Whether the usage says anything about the context's size."""
        return self.prompt_tokens is not None or self.output_tokens is not None

    @property
    def trailing_tokens(self) -> int:
        """The bytes behind the usage as tokens, at four bytes each, rounded up."""
        return -(-(self.trailing_bytes or 0) // BYTES_PER_TOKEN)


def read_last_usage(size: int, read: ReadAt, rules: UsageRules, floor: int = 0) -> LastUsage:
    """Search a file of ``size`` bytes backwards for the last usage that is not zero.

    What lies before byte ``floor`` is known to hold none, and is not read.

    The count of trailing bytes follows the runtime to the letter, with its slips: it adds one byte for
    every piece behind the usage, also for the empty one after a final line end.
    """
    position, partial = size, ""
    while position > floor:
        start = max(0, position - CHUNK_BYTES)
        chunk = read(start, position - start).decode("utf-8", "replace")
        pieces = _LINE_ENDS.split(chunk + partial)
        carried = pieces.pop(0) if start > 0 else ""
        for index in range(len(pieces) - 1, -1, -1):
            usage = _usage_of_line(pieces[index], rules)
            if usage is not None:
                behind = size - position - js.utf8_len(partial)
                trailing = max(0, behind) + _bytes_of(pieces[index + 1 :])
                return LastUsage(size, usage, trailing)
        position, partial = start, carried
    return LastUsage(size)


def _bytes_of(pieces: Sequence[str]) -> int:
    if all(js.is_blank(piece) for piece in pieces):
        return 0
    return js.utf8_len("\n".join(pieces)) + len(pieces)


def _usage_of_line(line: str, rules: UsageRules) -> Usage | None:
    try:
        value = parse_json(line)
    except NotJson:
        return None
    if not isinstance(value, Mapping):
        return None
    message = value.get("message")
    raw = message.get("usage") if isinstance(message, Mapping) else None
    usage = normalize_usage(value.get("usage") if raw is None else raw, rules)
    return usage if has_nonzero_usage(usage) else None


RECENT_MESSAGES: Final = 200
RECENT_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class TranscriptEstimate:
    """How large the context of a transcript is likely to be, in tokens, and the file in bytes."""

    prompt_tokens: Number | None
    output_tokens: Number | None = None
    byte_size: int | None = None

    @property
    def byte_tokens(self) -> int | None:
        """The whole file at four bytes a token, rounded up."""
        return None if self.byte_size is None else -(-self.byte_size // BYTES_PER_TOKEN)


def estimate_from_usage(
    last: LastUsage, recent: Iterable[Mapping[str, Any]], rules: MessageTokenRules
) -> TranscriptEstimate:
    """The last usage where it is the file's end, else at least what the recent messages weigh.

    ``recent`` are the last `RECENT_MESSAGES` messages of the last `RECENT_BYTES` bytes.
    """
    prompt, output = last.prompt_tokens, last.output_tokens
    if prompt is not None and output is not None and not last.trailing_bytes:
        return TranscriptEstimate(prompt, output, last.byte_size)
    weight = messages_tokens(recent, rules)
    if prompt is not None:
        return TranscriptEstimate(
            max(prompt + last.trailing_tokens, weight), output, last.byte_size
        )
    by_bytes = -(-last.byte_size // BYTES_PER_TOKEN)
    return TranscriptEstimate(weight or by_bytes, output, last.byte_size)


def estimate_from_messages(
    last: LastUsage, stored: Iterable[Mapping[str, Any]], rules: MessageTokenRules
) -> TranscriptEstimate:
    """Only what the stored messages weigh; None when they weigh nothing."""
    return TranscriptEstimate(messages_tokens(stored, rules) or None)


def stored_messages(content: bytes, *, recent_only: bool) -> list[Mapping[str, Any]]:
    """The messages of a transcript file, oldest first; or only its end, where nothing else is read."""
    if recent_only:
        return recent_messages(parse_json_lines(content[-RECENT_BYTES:]))
    return _messages(parse_json_lines(content))


def recent_messages(values: Sequence[Any]) -> list[Mapping[str, Any]]:
    """The last messages of a transcript's values, as many as the runtime estimates by."""
    return _messages(values)[-RECENT_MESSAGES:]


def _messages(values: Sequence[Any]) -> list[Mapping[str, Any]]:
    return [
        value["message"]
        for value in values
        if isinstance(value, Mapping) and isinstance(value.get("message"), Mapping)
    ]
