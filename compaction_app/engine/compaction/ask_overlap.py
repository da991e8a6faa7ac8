"""Whether a summary still speaks of what the user asked last (spec compaction 3.3)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from compaction_app.engine.compaction.keywords import keywords, words
from compaction_app.engine.compaction.stop_words import is_stop_word
from sessions_app.tokens import javascript as js

MAX_ASK_TOKENS = 12
STRICT_FROM_TOKENS = 3
"""From this many checked words on, two of them have to be found instead of one."""


@dataclass(frozen=True, slots=True)
class AskOverlap:
    """The words of the ask that were looked for, those found, and how many were needed."""

    checked: tuple[str, ...]
    found: tuple[str, ...]
    required: int

    @property
    def reflected(self) -> bool:
        return len(self.found) >= self.required


def overlap_tokens(text: str) -> list[str]:
    """The keywords of a text, or all its words when it has no keyword."""
    normalised = js.trim(unicodedata.normalize("NFKC", text).lower())
    return keywords(normalised) or words(normalised)


def ask_overlap(summary: str, latest_ask: str | None) -> AskOverlap:
    """Look for the words of the last ask in the summary; no ask and no words need nothing."""
    tokens = list(dict.fromkeys(overlap_tokens(latest_ask or "")))[:MAX_ASK_TOKENS]
    telling = [t for t in tokens if js.utf16_len(t) > 1 and not is_stop_word(t)]
    checked = tuple(telling or tokens)
    if not checked:
        return AskOverlap((), (), 0)
    present = set(overlap_tokens(summary))
    found = tuple(token for token in checked if token in present)
    return AskOverlap(checked, found, 2 if len(checked) >= STRICT_FROM_TOKENS else 1)
