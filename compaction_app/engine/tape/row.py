"""What a replay must know of one entry: numbers, so that a context is a sum and never a list of texts.

Each number is what the rule named after it counts for the entry's message; how messages change on their
way to a call (joined, worded for a model) is in the numbers already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from compaction_app.engine.compaction.real_conversation import has_real_conversation
from compaction_app.engine.pruning.history_images import clean_message
from compaction_app.engine.pruning.persist import is_transcript_only
from compaction_app.engine.pruning.truncate import tool_result_text_chars
from compaction_app.engine.simulation.usage import with_prompt
from compaction_app.engine.turn.history import is_silent
from sessions_app.tokens import javascript as js
from sessions_app.tokens.loop_chars import loop_message_chars
from sessions_app.tokens.message_tokens import (
    message_chars,
    message_tokens,
    messages_tokens,
    tokens_of_chars,
)
from sessions_app.tokens.pressure import BLOCK_OVERHEAD, MESSAGE_OVERHEAD, message_pressure
from sessions_app.tokens.pruner_chars import pruner_message_chars
from sessions_app.transcripts.session_context import context_of_path, llm_message
from sessions_app.transcripts.timestamps import epoch_ms
from sessions_app.transcripts.usage import Usage, has_nonzero_usage, normalize_usage

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

Entry = Mapping[str, Any]
Message = Mapping[str, Any]
MASK: Final = (1 << 64) - 1
MALFORMED: Final = 1 << 60
"""Characters of a message on which the runtime's pruning fails; no sum of real ones reaches it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One entry. ``message`` is what it adds to a context, none where it adds nothing.

    ``context``: tokens by length, as cuts and estimates of compactions count them. ``sent``: tokens in
    the form in which a model gets it. ``pressure``: the pre-prompt check's. ``loop`` and ``pruner``:
    characters of the soft guard and of cache-TTL pruning. ``result``: text characters of a tool result.
    ``chars`` and ``is_text`` decide what it weighs when it is joined to the message before it.
    ``is_worded``: a model gets it at all.
    ``left_out``: an attempt does not take it over from the history. ``missing``: error results that an
    attempt writes behind it.
    """

    entry: Entry
    message: Message | None
    role: str
    type: str
    context: int
    recent: int
    sent: int
    pressure: int
    loop: int
    pruner: int
    result: int
    chars: int
    is_text: bool
    is_worded: bool
    left_out: bool
    has_media: bool
    is_real: bool
    key: int
    bytes: int
    usage: Usage | None
    has_usage: bool
    missing: tuple[Row, ...] = ()

    @property
    def at_ms(self) -> int | None:
        return epoch_ms(self.entry.get("timestamp"))

    @property
    def counted(self) -> int:
        """Tokens towards ``keepRecentTokens``: only entries of type message have any."""
        return self.context if self.type == "message" else 0

    @property
    def failed(self) -> bool:
        return self.role == "assistant" and (self.message or {}).get("stopReason") == "error"


class RowMaker:
    """Makes rows under one rule set; ``worded``: whether calls send messages as a model gets them."""

    def __init__(self, rules: RuleSet, worded: bool) -> None:
        self.rules, self.worded = rules, worded
        self.is_shaped = rules.routing is not None and rules.routing.weighs_shape
        self._forms: dict[Any, Row] = {}
        self._sizes: dict[tuple[int, str], int] = {}
        self._billed: dict[tuple[int, int], Row] = {}
        self._kept: list[Row] = []

    def row(self, entry: Entry, missing: tuple[Row, ...] = (), orphan: bool = False) -> Row:
        contributed = () if entry["type"] == "compaction" else context_of_path((entry,)).messages
        own = entry.get("message")
        raw = own if isinstance(own, Mapping) else {}
        usage = normalize_usage(raw.get("usage"), self.rules.usage)
        row = Row(
            entry=entry,
            message=contributed[0] if contributed else None,
            type=entry["type"],
            bytes=entry_bytes(entry),
            usage=usage,
            has_usage=usage is not None and has_nonzero_usage(usage),
            recent=self._recent(entry),
            missing=missing,
            **self.numbers(contributed[0] if contributed else None),
        )
        return replace(row, left_out=row.left_out or orphan) if orphan else row

    def message_row(self, message: Message) -> Row:
        """A message that no entry holds."""
        return self.row({"type": "message", "id": "", "message": message})

    def numbers(self, message: Message | None) -> dict[str, Any]:
        """All that is measured of a message."""
        if message is None:
            return dict.fromkeys(
                ("context", "sent", "pressure", "loop", "pruner", "result", "chars", "key"), 0
            ) | {
                "role": "",
                "is_text": False,
                "is_worded": False,
                "left_out": False,
                "has_media": False,
                "is_real": False,
            }
        rules, role = self.rules, str(message.get("role"))
        content = message.get("content")
        return {
            "role": role,
            "context": message_tokens(message, rules.message_tokens),
            "sent": self.sent(message),
            "pressure": message_pressure(message, rules.pressure)
            if self.is_shaped
            else message_tokens(message),
            "loop": loop_message_chars(message, rules.pruning.guard.cut.chars),
            "pruner": self._pruner(message),
            "result": tool_result_text_chars(message, rules.pruning.truncation),
            "chars": message_chars(message, rules.message_tokens),
            "is_text": isinstance(content, str),
            "is_worded": not self.worded or llm_message(message) is not None,
            "left_out": is_transcript_only(message) or is_silent(message, rules.silent_reply),
            "has_media": clean_message(message, rules.pruning.history_images) is not message,
            "is_real": has_real_conversation((message,), rules.compaction.conversation),
            "key": content_key(message),
        }

    def sent(self, message: Message) -> int:
        """Tokens of a message in a call's context."""
        worded = llm_message(message) if self.worded else message
        return messages_tokens((worded,), self.rules.message_tokens) if worded else 0

    def _pruner(self, message: Message) -> int:
        try:
            return pruner_message_chars(message, self.rules.pruning.cache_ttl.chars)
        except TypeError:
            return MALFORMED

    def form(self, row: Row, how: Any, change: Callable[[Message], Message | None]) -> Row:
        """A row whose message was changed; each form is made once. The same row where nothing changed."""
        known = self._forms.get((id(row), how))
        if known is None:
            message = row.message or {}
            new = change(message)
            known = row if new is None or new is message else self.with_message(row, new)
            self._forms[id(row), how] = known
            self._kept.append(row)  # so that its id stays its own
        return known

    def billed(self, row: Row, prompt: int) -> Row:
        """An answer under another bill: only its usage and its size in the file are others."""
        known = self._billed.get((id(row), prompt))
        if known is None:
            message = with_prompt(row.message or {}, prompt)
            usage = normalize_usage(message["usage"], self.rules.usage)
            known = replace(
                row,
                entry={**row.entry, "message": message},
                message=message,
                usage=usage,
                has_usage=usage is not None and has_nonzero_usage(usage),
                bytes=self.billed_bytes(row, prompt),
            )
            self._billed[id(row), prompt] = known
            self._kept.append(row)
        return known

    def billed_bytes(self, row: Row, prompt: int) -> int:
        """The bytes of an answer's line under another bill."""
        usage = (row.message or {}).get("usage")
        output = (usage.get("output") if isinstance(usage, Mapping) else 0) or 0
        digits = len(js.number_text(prompt)) + len(js.number_text(prompt + output))
        return self.unbilled_bytes(row) + digits

    def unbilled_bytes(self, row: Row) -> int:
        """The bytes of an answer's line, less the digits of its prompt and its total."""
        known = self._sizes.get((id(row), "unbilled"))
        if known is None:
            message = with_prompt(row.message or {}, 0)
            total = len(js.number_text(message["usage"]["totalTokens"]))
            known = entry_bytes({**row.entry, "message": message}) - 1 - total
            self._keep(row, "unbilled", known)
        return known

    def again_bytes(self, row: Row) -> int:
        """The bytes of a message's line when a rewrite appends it again."""
        known = self._sizes.get((id(row), "again"))
        if known is None:
            if row.message is row.entry.get("message"):
                known = AGAIN_BYTES + row.bytes - entry_bytes({**row.entry, "message": None})
            else:
                known = entry_bytes({**AGAIN, "message": row.message})
            self._keep(row, "again", known)
        return known

    def _keep(self, row: Row, what: str, size: int) -> None:
        self._sizes[id(row), what] = size
        self._kept.append(row)  # so that its id stays its own

    def with_message(self, row: Row, message: Message) -> Row:
        entry = {**row.entry, "message": message} if row.type == "message" else row.entry
        numbers = self.numbers(message)
        return replace(
            row,
            entry=entry,
            message=message,
            bytes=entry_bytes(entry),
            recent=self._recent(entry),
            **numbers,
        )

    def _recent(self, entry: Entry) -> int:
        """Tokens of an entry to a reader of the file."""
        own = entry.get("message")
        if not isinstance(own, Mapping):
            return 0
        return messages_tokens((own,), self.rules.message_tokens)


def entry_bytes(entry: Entry) -> int:
    """What an entry takes in the file with its line end, its parent taken to be null."""
    return js.utf8_len(js.json_text({**entry, "parentId": None})) + 1


def content_key(message: Message) -> int:
    """Two messages of one key say the same to a model."""
    said = repr((message.get("role"), message.get("content"), message.get("summary")))
    return int.from_bytes(
        blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )


AGAIN: Final = {"type": "message", "id": "0" * 8, "timestamp": "0" * 24}
AGAIN_BYTES: Final = entry_bytes({**AGAIN, "message": None})
"""What a message's line takes when a rewrite appends it again, without the message itself."""


@dataclass(frozen=True, slots=True)
class Joined:
    """The message that an attempt joins rows of one side into: how it weighs so far."""

    role: str = ""
    chars: int = 0
    body: int = 0
    sent: int = 0
    pressure: int = 0

    def joins(self, row: Row) -> bool:
        return row.role in ("user", "assistant") and self.role == row.role

    @staticmethod
    def begun(row: Row, *, is_shaped: bool) -> Joined:
        return Joined(row.role, row.chars, _body(row, is_shaped), row.sent, row.pressure)

    def with_row(self, row: Row, *, is_shaped: bool) -> Joined:
        chars, body = self.chars + row.chars, self.body + _body(row, is_shaped)
        sent = tokens_of_chars(chars)
        return Joined(row.role, chars, body, sent, MESSAGE_OVERHEAD + body if is_shaped else sent)


def _body(row: Row, is_shaped: bool) -> int:
    """A message's pressure as blocks of another one: a text becomes a block."""
    if not is_shaped:
        return 0
    return row.pressure - MESSAGE_OVERHEAD + (BLOCK_OVERHEAD if row.is_text else 0)
