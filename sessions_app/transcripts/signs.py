"""What the texts of a session tell and its columns do not, entry by entry.

Columns hold numbers only; a verdict also needs to know that a summary is a notice of failure, that a
reply was an apology of the gateway, or that a flush wrote nothing. These few facts are taken from the
texts once, as an import goes, so that no page has to load them again.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from sessions_app.importers.answers import call_ids
from sessions_app.importers.marks import first_text
from sessions_app.tokens import javascript as js
from sessions_app.tokens.pressure import CJK_WEIGHT, string_weight
from sessions_app.transcripts.measures import CALL_TYPES, all_texts, context_message, texts_of
from sessions_app.transcripts.timestamps import epoch_ms
from sessions_app.transcripts.transcript import Entry, JsonObject

NAMED_RESULT_CHARS: Final = 2_000
"""Smaller tool results are under every cap, so their tool's name is not kept."""

LONG_WAIT_MS: Final = 30_000
"""A shorter wait of a user's message before it was stored is nothing to speak of."""

TEXT_CHARS: Final = 500
CACHE_TOUCH: Final = "openclaw.cache-ttl"
READ_ONLY_TOOLS: Final = frozenset({"read", "grep", "find", "ls", "memory_search", "memory_get"})

_CUT = re.compile(r"\[\.\.\. (\d[\d,]*) more characters truncated[^\]]*\]?")


@dataclass(frozen=True, slots=True)
class ResultSign:
    """A tool result of some size; ``chars`` as the tool returned it, also where it was cut since."""

    seq: int
    line: int
    tool: str
    chars: int


@dataclass(frozen=True, slots=True)
class SummarySign:
    """A compaction: how its summary begins, the headings in it, and what its content is known by."""

    seq: int
    line: int
    from_hook: bool
    head: str
    headings: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class FlushSign:
    """A memory-flush turn: the last text the model answered, and whether a tool changed a file.

    ``answered`` is false while no answer is on record.
    """

    seq: int
    line: int
    answered: bool = False
    answer: str = ""
    wrote: bool = False
    writes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextSign:
    """A text worth knowing: a reply the gateway wrote, or the error of a call that failed."""

    seq: int
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class WaitSign:
    """A user's message that waited ``wait_ms`` from its arrival until it was stored."""

    seq: int
    line: int
    arrived_ms: int
    wait_ms: int


@dataclass(frozen=True, slots=True)
class TouchSign:
    """A mark that the provider's prompt cache was used then."""

    seq: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class Signs:
    """All signs in file order. ``seen`` entries were read; ``breaks`` are (entry, line minus entry)
    wherever that distance changes; ``chars`` and ``cjk`` count the texts of all messages."""

    seen: int = 0
    breaks: tuple[tuple[int, int], ...] = ()
    chars: int = 0
    cjk: int = 0
    results: tuple[ResultSign, ...] = ()
    summaries: tuple[SummarySign, ...] = ()
    flushes: tuple[FlushSign, ...] = ()
    replies: tuple[TextSign, ...] = ()
    failures: tuple[TextSign, ...] = ()
    waits: tuple[WaitSign, ...] = ()
    touches: tuple[TouchSign, ...] = ()

    def line_of(self, seq: int) -> int | None:
        """The line of an entry in the file, none when it was not read."""
        at = bisect_right(self.breaks, seq, key=lambda known: known[0]) - 1
        return seq + self.breaks[at][1] if at >= 0 and seq < self.seen else None

    @property
    def cjk_share(self) -> float:
        """The share of Chinese, Japanese and Korean characters, from 0 to 1."""
        return self.cjk / self.chars if self.chars else 0.0


_KINDS: Final[Mapping[str, Any]] = {
    "results": ResultSign,
    "summaries": SummarySign,
    "flushes": FlushSign,
    "replies": TextSign,
    "failures": TextSign,
    "waits": WaitSign,
    "touches": TouchSign,
}


def signs_of(entries: Iterable[Entry], before: Signs | None = None) -> Signs:
    """The signs of a transcript; ``before`` are those of the entries that were read earlier."""
    reader = SignReader(before)
    for entry in entries:
        reader.add(entry)
    return reader.signs()


def signs_to_json(signs: Signs) -> dict[str, Any]:
    """As plain values that every database takes."""
    return asdict(signs)


def signs_from_json(value: Any) -> Signs | None:
    """The signs that ``signs_to_json`` wrote; none for anything else."""
    if not isinstance(value, Mapping):
        return None
    try:
        lists = {
            name: tuple(kind(**_tuples(item)) for item in value[name])
            for name, kind in _KINDS.items()
        }
        breaks = tuple((int(seq), int(distance)) for seq, distance in value["breaks"])
        return Signs(value["seen"], breaks, value["chars"], value["cjk"], **lists)
    except (KeyError, TypeError, ValueError):
        return None


def _tuples(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in item.items()}


class SignReader:
    """Collects signs; the last flush stays open until another turn begins."""

    def __init__(self, before: Signs | None = None) -> None:
        before = before or Signs()
        self._seen, self._chars, self._cjk = before.seen, before.chars, before.cjk
        self._breaks = list(before.breaks)
        self._lists: dict[str, list[Any]] = {name: list(getattr(before, name)) for name in _KINDS}

    def signs(self) -> Signs:
        lists = {name: tuple(found) for name, found in self._lists.items()}
        return Signs(self._seen, tuple(self._breaks), self._chars, self._cjk, **lists)

    def add(self, entry: Entry) -> None:
        self._seen = entry.seq + 1
        distance = entry.line - entry.seq
        if not self._breaks or self._breaks[-1][1] != distance:
            self._breaks.append((entry.seq, distance))
        for text in all_texts(context_message(entry.type, entry.record)):
            length = js.utf16_len(text)
            self._chars += length
            if not text.isascii():
                self._cjk += (string_weight(text) - length) // (CJK_WEIGHT - 1)
        if entry.type == "compaction":
            self._lists["summaries"].append(_summary(entry))
        elif entry.type == "custom":
            self._touch(entry)
        elif entry.role:
            self._message(entry)

    def _message(self, entry: Entry) -> None:
        message = entry.message
        if entry.role == "toolResult":
            self._result(entry)
        elif entry.role == "user":
            self._user(entry)
        elif entry.mark == "injected":
            self._lists["replies"].append(_text_sign(entry, first_text(message)))
        elif entry.role == "assistant":
            self._answer(entry)

    def _user(self, entry: Entry) -> None:
        if entry.mark == "flush":
            self._lists["flushes"].append(FlushSign(entry.seq, entry.line))
        arrived = epoch_ms(entry.message.get("timestamp"))
        if arrived is not None and entry.timestamp_ms is not None:
            waited = entry.timestamp_ms - arrived
            if waited >= LONG_WAIT_MS:
                self._lists["waits"].append(WaitSign(entry.seq, entry.line, arrived, waited))

    def _answer(self, entry: Entry) -> None:
        message = entry.message
        if message.get("stopReason") in ("error", "aborted"):
            error = message.get("errorMessage")
            self._lists["failures"].append(
                _text_sign(entry, error if isinstance(error, str) else "")
            )
        if entry.mark == "flush" and self._lists["flushes"]:
            flushes = self._lists["flushes"]
            flushes[-1] = _answered(flushes[-1], message)

    def _result(self, entry: Entry) -> None:
        message = entry.message
        texts = list(texts_of(message, "text"))
        chars = sum(map(js.utf16_len, texts))
        cut = _CUT.search(texts[-1][-TEXT_CHARS:]) if texts else None
        before = chars + (int(cut[1].replace(",", "")) - len(cut[0]) if cut else 0)
        if before >= NAMED_RESULT_CHARS or cut:
            tool = message.get("toolName")
            self._lists["results"].append(
                ResultSign(entry.seq, entry.line, tool if isinstance(tool, str) else "", before)
            )
        flushes = self._lists["flushes"]
        if entry.mark == "flush" and flushes and message.get("toolCallId") in flushes[-1].writes:
            wrote = flushes[-1].wrote or message.get("isError") is not True
            flushes[-1] = replace(flushes[-1], wrote=wrote)

    def _touch(self, entry: Entry) -> None:
        data = entry.record.get("data")
        at = data.get("timestamp") if isinstance(data, Mapping) else None
        if entry.record.get("customType") == CACHE_TOUCH and js.is_finite(at) and at:
            self._lists["touches"].append(TouchSign(entry.seq, int(at)))


def _answered(flush: FlushSign, message: JsonObject) -> FlushSign:
    """The flush after one more answer; a call that may change a file counts once its result says so."""
    content = message.get("content")
    names = [
        str(block.get("name"))
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, Mapping) and block.get("type") in CALL_TYPES
    ]
    calls = tuple(call_ids(message))
    changing = tuple(
        call for call, name in zip(calls, names, strict=False) if name not in READ_ONLY_TOOLS
    )
    texts = list(texts_of(message, "text"))
    text = content if isinstance(content, str) else "\n".join(texts)
    failed = message.get("stopReason") in ("error", "aborted")
    return replace(
        flush,
        answered=flush.answered or not failed,
        answer=text[:TEXT_CHARS] if not names and not failed else flush.answer,
        writes=(*flush.writes, *changing),
    )


def _summary(entry: Entry) -> SummarySign:
    text = entry.record.get("summary")
    summary = text if isinstance(text, str) else ""
    headings = (js.trim(line) for line in summary.split("\n"))
    return SummarySign(
        entry.seq,
        entry.line,
        entry.record.get("fromHook") is True,
        summary[:TEXT_CHARS],
        tuple(dict.fromkeys(line[:80] for line in headings if line.startswith("## ")))[:20],
        hashlib.blake2b(summary.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(),
    )


def _text_sign(entry: Entry, text: str) -> TextSign:
    return TextSign(entry.seq, entry.line, text[:TEXT_CHARS])
