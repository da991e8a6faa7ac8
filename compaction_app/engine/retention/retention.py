"""What a compaction lost: every anchor of the removed part, and where it survived.

Surface survival: an anchor counts as kept where it stands, as it was or in another form. It is an upper
bound of what a model will recall.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.retention.anchors import KINDS, RULES_VERSION, TITLES, AnchorKind
from compaction_app.engine.retention.extract import Extractor, Message, texts_of_message
from compaction_app.engine.retention.fates import Counts, Fate, counts_of, fates_of, gravity
from compaction_app.engine.retention.places import Place, place_of
from sessions_app.tokens.message_tokens import messages_tokens

POSITION_BINS: Final = 10

UPPER_BOUND: Final = (
    "Surface survival is an upper bound on what the model recalls: searched for, 83 to 93 % of the facts "
    "were still there, recalled were 0 to 18 % of those in the compacted part when it was compacted to "
    "25 to 50 % (published figures)."
)


@dataclass(frozen=True, slots=True)
class Retention:
    """One compaction. Tokens are estimates of the messages removed and of the summary."""

    fates: tuple[Fate, ...]
    removed_messages: int
    removed_tokens: int
    summary_tokens: int
    has_memory: bool

    @property
    def lost(self) -> tuple[Fate, ...]:
        """What left the context, the gravest first: by kind, by who said it, the newest first."""
        return tuple(sorted((f for f in self.fates if f.is_lost), key=gravity))

    @property
    def counts(self) -> Counts:
        return counts_of(self.fates)

    @property
    def by_kind(self) -> dict[AnchorKind, Counts]:
        """Counts for every kind that occurred."""
        found: dict[AnchorKind, list[Fate]] = {}
        for fate in self.fates:
            found.setdefault(fate.anchor.kind, []).append(fate)
        return {kind: counts_of(found[kind]) for kind in KINDS if kind in found}

    @property
    def by_position(self) -> list[Counts]:
        """Counts in ten parts of what was removed, from old to new."""
        bins: list[list[Fate]] = [[] for _ in range(POSITION_BINS)]
        for fate in self.fates:
            if fate.position is not None:
                bins[min(int(fate.position * POSITION_BINS), POSITION_BINS - 1)].append(fate)
        return [counts_of(part) for part in bins]

    @property
    def tokens_per_lost(self) -> float | None:
        """Tokens freed for each anchor lost, none where none was lost."""
        lost = self.counts.lost
        return (self.removed_tokens - self.summary_tokens) / lost if lost else None

    @property
    def flush_coverage(self) -> float | None:
        """The share of what left the context that stands in a memory file; none without either."""
        counts = self.counts
        return counts.memory / counts.lost if self.has_memory and counts.lost else None

    def to_json(self, most_lost: int = 200) -> dict[str, Any]:
        """As plain values. The list of what was lost ends after ``most_lost``; the counts are whole."""
        lost = self.lost
        return {
            "rulesVersion": RULES_VERSION,
            "note": UPPER_BOUND,
            "removedMessages": self.removed_messages,
            "removedTokens": self.removed_tokens,
            "summaryTokens": self.summary_tokens,
            "counts": _counts_json(self.counts),
            "byKind": {kind: _counts_json(counts) for kind, counts in self.by_kind.items()},
            "byPosition": [_counts_json(counts) for counts in self.by_position],
            "tokensFreedPerAnchorLost": self.tokens_per_lost,
            "flushCoverage": self.flush_coverage,
            "lost": [fate_json(fate) for fate in lost[:most_lost]],
            "lostNotListed": max(len(lost) - most_lost, 0),
        }


def retention(
    removed: Sequence[tuple[int, Message]],
    summary: str,
    tail: Sequence[tuple[int, Message]] = (),
    memory: Iterable[str] = (),
    workspace: Iterable[str] = (),
) -> Retention:
    """What of the removed messages is still there.

    Args:
        removed: the messages that the summary stands for, each with the number of its entry.
        summary: the text that stands for them, "" for pruning, which puts nothing in their place.
        tail: the messages that stay as they were.
        memory: what memory files say, for example what memory flushes wrote.
        workspace: files that every run is given again.
    """
    extractor = Extractor()
    found = [extractor.add(entry, message) for entry, message in removed]
    kept = Place()
    for entry, message in tail:
        kept.add_anchors(extractor.add(entry, message))
        add_spoken(kept, message)
    memories = list(memory)
    fates = fates_of(
        found,
        kept,
        place_of([summary]),
        place_of(memories),
        place_of(workspace),
        extractor.resolved,
    )
    return Retention(
        fates=tuple(fates),
        removed_messages=len(removed),
        removed_tokens=messages_tokens(message for _, message in removed),
        summary_tokens=-(-len(summary) // 4),
        has_memory=bool(memories),
    )


def add_spoken(place: Place, message: Message) -> None:
    """Add the sentences of a person or an agent, so that a demand said again is found."""
    if message.get("role") in ("user", "assistant"):
        for _, text in texts_of_message(message):
            place.add_words(text)


def fate_json(fate: Fate) -> dict[str, Any]:
    """One anchor as plain values."""
    anchor = fate.anchor
    return {
        "kind": anchor.kind,
        "title": TITLES[anchor.kind],
        "text": anchor.text,
        "detail": anchor.detail,
        "voice": anchor.voice,
        "count": fate.count,
        "entry": anchor.entry,
        "block": anchor.block,
        "start": anchor.start,
        "end": anchor.end,
        "firstEntry": fate.first.entry,
        "position": fate.position,
        "place": fate.place,
        "form": fate.form,
        "inMemory": fate.saved,
        "resembled": fate.resembled,
        "resolvedInEntry": fate.outcome,
    }


def _counts_json(counts: Counts) -> dict[str, Any]:
    return {
        "anchors": counts.anchors, "tail": counts.tail, "summary": counts.summary,
        "workspace": counts.workspace, "memory": counts.memory, "lost": counts.lost,
    }  # fmt: skip
