"""Writing a summary: what must be in it first, then by shares, until its room is used up."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from compaction_app.engine.compaction.ask_overlap import ask_overlap
from compaction_app.engine.compaction.identifiers import MAX_IDENTIFIERS
from compaction_app.engine.wording.cues import Kind
from compaction_app.engine.wording.sentences import clipped, key_of
from compaction_app.summarisers.extraction.carried import FAILED
from compaction_app.summarisers.extraction.findings import Findings
from compaction_app.summarisers.extraction.gathering import MAX_ASK
from compaction_app.summarisers.extraction.layouts import SHARES, Layout, Section
from compaction_app.summarisers.extraction.tool_use import READ
from sessions_app.tokens import javascript as js

BYTES_PER_TOKEN = 2
"""A text has fewer tokens than it has pairs of bytes, in any language and with any tokeniser in use."""

MAX_LATEST_ASK = 4000
MAX_WEIGHED_ASK = 20_000
"""Characters of the last ask: those quoted where a shorter quote would not do, those looked at."""

BULLET = "- "


@dataclass(slots=True)
class _Room:
    """What is left of a summary's characters and bytes."""

    chars: float
    bytes: float

    def take(self, line: str) -> bool:
        chars, size = js.utf16_len(line) + 1, js.utf8_len(line) + 1
        if chars > self.chars or size > self.bytes:
            return False
        self.chars -= chars
        self.bytes -= size
        return True


def write(found: Findings, layout: Layout, max_tokens: int) -> str:
    """The summary. Its headings stand also where they are all that fits."""
    return _Writer(found, layout, max_tokens).text()


class _Writer:
    def __init__(self, found: Findings, layout: Layout, max_tokens: int) -> None:
        self.layout = layout
        self.size = min(layout.max_chars, BYTES_PER_TOKEN * max_tokens)
        self.room = _Room(layout.max_chars, BYTES_PER_TOKEN * max_tokens)
        self.kinds = {kind for section in layout.sections for kind in section.kinds}
        self.chosen: dict[Kind, list[str]] = {kind: [] for kind in self.kinds}
        self.said: set[str] = set()
        for section in layout.sections:
            self.room.take(f"{section.heading}\n{section.empty}\n")
        self.latest = _latest_ask(found)
        self.waiting = {kind: self._candidates(kind, found) for kind in self.kinds}

    def text(self) -> str:
        """What the quality check asks for comes first, then every kind up to its share, then more."""
        self._choose("asks", self.size, count=1)
        self._choose("identifiers", self.size, count=MAX_IDENTIFIERS)
        for share in (True, False):
            for kind, part in SHARES:
                self._choose(kind, part * self.size if share else self.size)
        blocks = (self._section(section) for section in self.layout.sections)
        return js.concat(("\n\n".join(blocks),))

    def _choose(self, kind: Kind, limit: float, count: int | None = None) -> None:
        """Take what is next of a kind, until it has used up its limit or the room."""
        waiting = self.waiting.get(kind, deque())
        used, taken = 0, 0
        while waiting and taken != count and used + len(waiting[0]) <= limit:
            line = waiting.popleft()
            if not self._is_said(kind, line) and self.room.take(BULLET + line):
                self.said.add(key_of(line))
                self.chosen[kind].append(line)
                used += len(line)
                taken += 1

    def _is_said(self, kind: Kind, line: str) -> bool:
        """Whether it stands there already: an identifier inside another, a task in the last ask."""
        if kind == "identifiers":
            return any(line.removesuffix(READ) in other for other in self.chosen[kind])
        if kind == "todos" and self.latest and line in self.latest:
            return True
        # What must be kept to is looked for in its own section, also where the last ask says it.
        return kind != "constraints" and key_of(line) in self.said

    def _candidates(self, kind: Kind, found: Findings) -> deque[str]:
        lines = found.newest_first(kind)
        match kind:
            case "asks" if self.latest:
                lines = [self.latest, *lines]
            case "goal":
                lines.reverse()
                if not lines and self.layout.names_goal and found.first_ask:
                    lines = [found.first_ask]
            case "failures":
                lines = [FAILED + line for line in lines]
        return deque(lines)

    def _section(self, section: Section) -> str:
        lines = [BULLET + line for kind in section.kinds for line in self.chosen[kind]]
        return "\n".join((section.heading, *(lines or filter(None, (section.empty,)))))


def _latest_ask(found: Findings) -> str | None:
    """The last ask, long enough that the quality check finds it again."""
    ask = (found.latest_ask or "")[:MAX_WEIGHED_ASK]
    if not ask:
        return None
    short = clipped(ask, MAX_ASK)
    return short if ask_overlap(short, ask).reflected else clipped(ask, MAX_LATEST_ASK)
