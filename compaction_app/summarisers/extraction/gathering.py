"""One walk over the messages of a call: what in them is worth quoting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from compaction_app.engine.compaction.identifiers import MAX_IDENTIFIERS, identifiers_in_their_words
from compaction_app.engine.compaction.instructions import asks_to_merge
from compaction_app.engine.compaction.message_text import Message, latest_user_ask, readable_text
from compaction_app.engine.compaction.real_conversation import is_meaningful
from compaction_app.engine.compaction.requests import ModelCall
from compaction_app.engine.compaction.safeguard_attempts import IDENTIFIER_MESSAGES
from compaction_app.engine.wording.cues import (
    Kind,
    gives_reason,
    is_promise,
    kind_of_sentence,
)
from compaction_app.engine.wording.sentences import Sentence, clipped, sentences
from compaction_app.summarisers.extraction.carried import carry_on, summary_in_message
from compaction_app.summarisers.extraction.findings import Findings
from compaction_app.summarisers.extraction.tool_use import tool_use
from sessions_app.importers.marks import FLUSH_USER_TEXT

MAX_ASK = 600
MAX_DONE_ASK = 160
MAX_OUTCOME = 300
ARROW = " → "
MAX_NAMED_BEFORE = 40
MAX_LINE = 300
"""An identifier longer than this is kept only where the quality check asks for it."""


def gather(call: ModelCall) -> Findings:
    """Everything worth quoting in the call's messages and in the summaries they continue."""
    found = Findings()
    carried, messages = _apart(call)
    for summary in carried:
        carry_on(summary, found)
    _Walk(found).over(messages)
    used = tool_use(messages)
    for failure in used.failures:
        found.of("failures").add(failure)
    found.identifiers.insert(0, _identifiers(messages, used.files))
    found.mixed = len(messages) < IDENTIFIER_MESSAGES
    found.latest_ask = latest_user_ask(messages)
    return found


def _apart(call: ModelCall) -> tuple[list[str], list[Message]]:
    """The earlier summaries, the oldest first, and the messages that are no summaries."""
    carried = [call.previous_summary] if call.previous_summary else []
    merging = asks_to_merge(call.instructions)
    messages: list[Message] = []
    for message in call.messages:
        text = readable_text(message) if message.get("role") == "user" else ""
        if message.get("role") in ("compactionSummary", "branchSummary"):
            carried.append(str(message.get("summary") or ""))
        elif (wrapped := summary_in_message(text)) is not None:
            carried.append(wrapped)
        elif merging and text:
            carried.append(text)
        else:
            messages.append(message)
    return carried, messages


class _Walk:
    """Goes from message to message and remembers what is still open."""

    def __init__(self, found: Findings) -> None:
        self.found = found
        self.ask = ""
        self.outcome = ""

    def over(self, messages: Sequence[Message]) -> None:
        for message in messages:
            match message.get("role"):
                case "user" | "custom":
                    self._asked(message)
                case "assistant":
                    self._answered(message)
        self._close()

    def _asked(self, message: Message) -> None:
        text = readable_text(message)
        if message.get("display") is False or not is_meaningful(text):
            return
        if text == FLUSH_USER_TEXT:
            self._close()
            return
        for sentence in sentences(text):
            kind = sentence.kind or kind_of_sentence(sentence.text, from_user=True)
            if kind is not None:
                self.found.of(kind).add(sentence.text)
        if message.get("role") == "user":
            self._close()
            self.ask = text

    def _answered(self, message: Message) -> None:
        text = readable_text(message)
        if not is_meaningful(text):
            return
        ends_turn = not _has_calls(message)
        quotes = list(sentences(text))
        for kind, quote in _said(quotes, ends_turn=ends_turn):
            self.found.of(kind).add(quote)
        if ends_turn and quotes:
            self.outcome = clipped(" ".join(quote.text for quote in quotes[:2]), MAX_OUTCOME)

    def _close(self) -> None:
        """The end of a turn: an ask that was answered is done, another stays open."""
        if not self.ask:
            if self.outcome:
                self.found.of("done").add(self.outcome)
        elif self.outcome:
            self.found.of("done").add(f"{clipped(self.ask, MAX_DONE_ASK)}{ARROW}{self.outcome}")
        else:
            self.found.of("asks").add(clipped(self.ask, MAX_ASK))
        if self.ask and self.found.first_ask is None:
            self.found.first_ask = clipped(self.ask, MAX_ASK)
        self.ask = self.outcome = ""


def _said(quotes: Sequence[Sentence], *, ends_turn: bool) -> Iterator[tuple[Kind, str]]:
    """What the agent decided, and what it left to be done; a decision with its reason behind it.

    What it announces before a tool call is done at once and no promise.
    """
    reason_given = False
    for quote, after in zip_longest(quotes, quotes[1:]):
        kind = quote.kind or kind_of_sentence(quote.text, from_user=False)
        if kind is None and ends_turn and is_promise(quote.text):
            kind = "todos"
        if reason_given:
            reason_given = False
        elif kind == "decisions" and after is not None and gives_reason(after.text):
            reason_given = True
            yield kind, clipped(f"{quote.text} {after.text}", 2 * MAX_OUTCOME)
        elif kind is not None:
            yield kind, quote.text


def _has_calls(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return any(isinstance(b, Mapping) and b.get("type") == "toolCall" for b in blocks)


def _identifiers(messages: Sequence[Message], files: Sequence[str]) -> list[str]:
    """By urgency: those of the last messages, touched files, those named before; files once, marked."""
    marked = {file.rpartition(" ")[0]: file for file in reversed(files)}
    named = (*_urgent(messages), *files, *_named_before(messages[:-IDENTIFIER_MESSAGES]))
    return list(dict.fromkeys(marked.get(name, name) for name in named))


def _urgent(messages: Sequence[Message]) -> list[str]:
    """Those a quality check asks for, whichever of the last messages it sees beside others."""
    recent = [
        identifiers_in_their_words(readable_text(message))
        for message in messages[-IDENTIFIER_MESSAGES:]
    ]
    urgent: dict[str, None] = {}
    for start in range(len(recent)):
        seen: dict[str, str] = {}
        for words in recent[start:]:
            for identifier, word in words.items():
                seen.setdefault(identifier, word)
        urgent.update(dict.fromkeys(list(seen.values())[:MAX_IDENTIFIERS]))
    return list(urgent)


def _named_before(messages: Sequence[Message]) -> list[str]:
    """Those that people and agents wrote, the newest first; no results of tools."""
    found: dict[str, None] = {}
    for message in reversed(messages):
        if message.get("role") in ("user", "assistant"):
            words = identifiers_in_their_words(readable_text(message)).values()
            found.update(dict.fromkeys(word for word in words if len(word) <= MAX_LINE))
            if len(found) >= MAX_NAMED_BEFORE:
                break
    return list(found)
