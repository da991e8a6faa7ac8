"""One walk over the messages of a session: which anchors each of them holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from compaction_app.engine.retention.anchors import Anchor, AnchorKind, Voice
from compaction_app.engine.retention.failures import has_failed, telling_line
from compaction_app.engine.retention.file_actions import (
    COMMAND_KEYS,
    PATH_KEYS,
    file_actions,
    first_of,
)
from compaction_app.engine.retention.identifiers import identifiers
from compaction_app.engine.retention.keys import key_of_identifier
from compaction_app.engine.wording.decisions import decides, reason_in
from compaction_app.engine.wording.demands import demands
from compaction_app.engine.wording.sentences import Sentence, clipped, key_of, sentences
from compaction_app.engine.wording.tasks import leaves_to_do, promises
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.measures import CALL_TYPES

Message = Mapping[str, Any]

MAX_ASK: Final = 320
MAX_CALL_JSON: Final = 400_000
_ESCAPES: Final = (("\\n", "  "), ("\\t", "  "), ("\\r", "  "), ('\\"', ' "'))


@dataclass(frozen=True, slots=True)
class Call:
    """A call whose result has not been read yet: on what it works, and what it does to files."""

    entry: int
    subject: tuple[str, str]
    actions: tuple[Anchor, ...]


class Extractor:
    """Takes the messages of one branch in their order; what was read once is not read again.

    A file action counts where its result says that it worked; it stands where it was called.
    ``resolved`` names for the entry of an error the entry in which the same call worked at last;
    ``calls`` are those without a result so far, ``failed`` the failures that nothing has mended.
    """

    def __init__(self) -> None:
        self.resolved: dict[int, int] = {}
        self.calls: dict[str, Call] = {}
        self.failed: dict[tuple[str, str], list[int]] = {}

    def add(self, entry: int, message: Message) -> list[Anchor]:
        """The anchors that a message adds, in the order of its blocks."""
        match message.get("role"):
            case "user":
                return list(_said(entry, message, "user"))
            case "assistant":
                return [*_said(entry, message, "agent"), *self._called(entry, message)]
            case "toolResult":
                return [*_named_in(entry, message, "tool"), *self._ended(entry, message)]
            case "custom" | "bashExecution":
                return list(_named_in(entry, message, "tool"))
        return []

    def _called(self, entry: int, message: Message) -> Iterator[Anchor]:
        for block, call in calls_of(message):
            given = call.get("arguments", call.get("input"))
            try:
                text = js.json_text(given)[:MAX_CALL_JSON]
            except js.NoJson:
                continue
            yield from _identifiers(entry, block, _without_escapes(text), "agent")
            identity, arguments = call.get("id"), given if isinstance(given, Mapping) else {}
            if isinstance(identity, str):
                name = str(call.get("name") or "")
                subject = (name, first_of(arguments, (*PATH_KEYS, *COMMAND_KEYS)))
                actions = tuple(_actions(entry, block, text, name, arguments))
                self.calls[identity] = Call(entry, subject, actions)

    def _ended(self, entry: int, message: Message) -> Iterator[Anchor]:
        call = self.calls.pop(str(message.get("toolCallId")), None)
        if not has_failed(message):
            if call is not None:
                for failed in self.failed.pop(call.subject, ()):
                    self.resolved[failed] = entry
                yield from call.actions
            return
        texts = texts_of_message(message)
        block, start, end = telling_line(texts)
        if end > start:
            line = dict(texts)[block][start:end]
            yield Anchor("error", key_of(line) or line, line, entry, block, start, end, "tool")
        if call is not None:
            self.failed.setdefault(call.subject, []).append(entry)


def _said(entry: int, message: Message, voice: Voice) -> Iterator[Anchor]:
    ends_turn = next(calls_of(message), None) is None
    for block, text in texts_of_message(message):
        yield from _identifiers(entry, block, text, voice)
        quotes = list(sentences(text))
        for quote, following in zip_longest(quotes, quotes[1:]):
            after = following.text if following else ""
            for kind, detail in _kinds(quote, after, voice, ends_turn=ends_turn):
                yield Anchor(
                    kind, key_of(quote.text), quote.text, entry, block, quote.start, quote.end, voice, detail
                )  # fmt: skip
    if voice == "user":
        yield from _ask(entry, message)


def _kinds(
    quote: Sentence, following: str, voice: Voice, *, ends_turn: bool
) -> Iterator[tuple[AnchorKind, str]]:
    """What a sentence is; it can be a demand and a decision at once."""
    text = quote.text
    if voice == "user" and demands(text):
        yield "constraint", ""
    if decides(text):
        yield "decision", reason_in(text, following)
    is_open = quote.kind == "todos" or leaves_to_do(text)
    if quote.kind != "done" and (is_open or (ends_turn and promises(text))):
        yield "promise", ""


def _ask(entry: int, message: Message) -> Iterator[Anchor]:
    texts = [(block, text) for block, text in texts_of_message(message) if not js.is_blank(text)]
    if texts:
        block, text = texts[0]
        quote = clipped(text, MAX_ASK)
        yield Anchor("ask", key_of(quote) or quote, quote, entry, block, 0, len(text), "user")


def _named_in(entry: int, message: Message, voice: Voice) -> Iterator[Anchor]:
    for block, text in texts_of_message(message):
        yield from _identifiers(entry, block, text, voice)


def _identifiers(entry: int, block: int, text: str, voice: Voice) -> Iterator[Anchor]:
    for start, end, kind in identifiers(text):
        name = text[start:end]
        yield Anchor(kind, key_of_identifier(kind, name), name, entry, block, start, end, voice)


def _actions(
    entry: int, block: int, text: str, name: str, arguments: Mapping[str, Any]
) -> Iterator[Anchor]:
    for path, action in file_actions(name, arguments):
        written = js.json_text(path)[1:-1]
        start = max(text.find(written), 0)
        key = f"{action} {key_of_identifier('path', path)}"
        yield Anchor(
            "file_action", key, path, entry, block, start, start + len(written), "agent", action
        )


def texts_of_message(message: Message) -> list[tuple[int, str]]:
    """The texts of a message that people and tools wrote, each with the number of its block."""
    content = message.get("content")
    if isinstance(content, str):
        return [(0, content)]
    found: list[tuple[int, str]] = []
    blocks = content if isinstance(content, list) else []
    for number, block in enumerate(blocks):
        if isinstance(block, Mapping) and block.get("type") == "text":
            text = block.get("text")
            found.append((number, text if isinstance(text, str) else ""))
    given = [message[key] for key in ("command", "output") if isinstance(message.get(key), str)]
    return [*found, *enumerate(given, len(blocks))]


def calls_of(message: Message) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The tool calls of a message, each with the number of its block."""
    content = message.get("content")
    for number, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, Mapping) and block.get("type") in CALL_TYPES:
            yield number, block


def _without_escapes(text: str) -> str:
    """JSON in which what stands for a line break is blank; every character stays in its place."""
    if "\\" in text:
        for escape, blank in _ESCAPES:
            text = text.replace(escape, blank)
    return text
