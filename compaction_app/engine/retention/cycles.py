"""The recorded compactions of a session, one after the other: what each lost, and what is left."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from compaction_app.engine.retention.anchors import IDENTIFIERS, AnchorKind, Voice
from compaction_app.engine.retention.extract import Message
from compaction_app.engine.retention.fates import Fate, fates_of
from compaction_app.engine.retention.places import Place, place_of
from compaction_app.engine.retention.retention import Retention, add_spoken
from compaction_app.engine.retention.session_index import SessionIndex, first_read
from sessions_app.transcripts.columns import MARKS, USER, Ints
from sessions_app.transcripts.timeline import Timeline

READ_BACK_TURNS: Final = 3
"""Within so many turns behind a compaction the memory file has to be read to have helped."""

_NAMES: Final = IDENTIFIERS - {"quantity"}
"""A quantity that occurs again can be another one of the same size."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What an agent had beside its transcript when a session was compacted.

    ``workspace`` are the files that every run is given, as they are given; ``notes`` what memory flushes
    had written by then, each with its file; ``cycle_files`` the files that were written in this cycle.
    """

    workspace: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    cycle_files: tuple[str, ...] = ()


NOTHING_BESIDE: Final = Beside()


@dataclass(frozen=True, slots=True)
class Instead:
    """Another summary for a recorded compaction, and where its kept tail begins on the branch."""

    number: int
    summary: str
    kept: int


Messages = Callable[[Sequence[int]], Iterable[Message]]
"""Loads the messages of entries by their numbers."""

BesideOf = Callable[[int, int], Beside]
"""What stood beside the transcript at a compaction: its entry, and how many came before it."""


def nothing_beside(entry: int, before: int) -> Beside:
    """What is known of a session that is only a transcript."""
    return NOTHING_BESIDE


@dataclass(frozen=True, slots=True)
class Cycle:
    """One recorded compaction.

    ``entry`` is its own, ``removed`` the first and last entry that its summary stands for (none when it
    removed nothing), ``call`` the call behind it. ``memory_files`` are those that flushes of this cycle
    wrote; ``read_back`` is the entry that read one of them soon after, none where none did.
    ``used_again`` names for anchors that were lost the entry that used them again. ``first_left`` is the
    share of the first compaction's anchors that is still in the context, from 0 to 1; of
    ``workspace_files`` texts that every run is given again it is known what they say.
    """

    number: int
    entry: int
    call: int
    removed: tuple[int, int] | None
    retention: Retention
    memory_files: tuple[str, ...]
    read_back: int | None
    used_again: Mapping[tuple[AnchorKind, str], int]
    first_left: float | None
    workspace_files: int = 0

    def to_json(self, most_lost: int = 200) -> dict[str, Any]:
        """As plain values."""
        return {
            "number": self.number,
            "entry": self.entry,
            "call": self.call,
            "removedEntries": self.removed,
            "memoryFiles": list(self.memory_files),
            "readBackInEntry": self.read_back,
            "firstCycleLeft": self.first_left,
            "workspaceFiles": self.workspace_files,
            **self.retention.to_json(most_lost),
        }


def cycles_of(
    index: SessionIndex, grown: Timeline, messages: Messages, beside: BesideOf = nothing_beside
) -> list[Cycle]:
    """Every compaction on the branch of a timeline, in order."""
    return list(_Walk(index, grown, messages, beside).cycles())


def cycle_instead(
    index: SessionIndex,
    grown: Timeline,
    messages: Messages,
    instead: Instead,
    beside: BesideOf = nothing_beside,
) -> Cycle | None:
    """A recorded compaction with another summary or cut; those before it as they were. None where
    the branch has no compaction of that number."""
    walk = _Walk(index, grown, messages, beside, instead)
    return next((cycle for cycle in walk.cycles() if cycle.number == instead.number), None)


class _Walk:
    """Goes from compaction to compaction and remembers what only a summary still holds."""

    def __init__(
        self,
        index: SessionIndex,
        grown: Timeline,
        messages: Messages,
        beside: BesideOf,
        instead: Instead | None = None,
    ) -> None:
        self._index, self._grown, self._messages = index, grown, messages
        self._beside, self._instead = beside, instead
        self._branch: list[int] = grown.branch.tolist()
        self._on_branch = frozenset(self._branch)
        rows = grown.columns
        self._persons: Ints = np.flatnonzero((rows.kind == USER) & (rows.mark == MARKS.index("")))
        self._tokens = np.concatenate(([0], np.cumsum(np.where(rows.tokens > 0, rows.tokens, 0))))
        self._later = _later_uses(index, self._branch)
        self._carried: list[Fate] = []
        self._first: list[Fate] = []

    def cycles(self) -> Iterable[Cycle]:
        found = self._grown.compactions
        start = previous = 0
        spans = zip(
            found.place.tolist(), found.kept.tolist(), found.before_call.tolist(), strict=True
        )
        for number, (place, kept, call) in enumerate(spans, 1):
            if self._instead is not None and self._instead.number == number:
                kept = min(self._instead.kept, place)
            kept = max(kept, start)
            yield self._cycle(number, start, kept, place, previous, call)
            start, previous = kept, place

    def _cycle(
        self, number: int, start: int, kept: int, place: int, previous: int, call: int
    ) -> Cycle:
        index, entry = self._index, self._branch[place]
        writes = [w for w in index.writes if w.entry < entry and w.entry in self._on_branch]
        tail = self._tail(kept, place)
        told = self._instead if self._instead and self._instead.number == number else None
        text = told.summary if told else index.summaries.get(entry, "")
        summary = place_of([text])
        beside = self._beside(entry, number - 1)
        notes = [*((w.path, w.text) for w in writes), *beside.notes]
        memory = place_of(text for _, text in notes)
        removed = [index.anchors.get(seq, []) for seq in self._branch[start:kept]]
        fates = fates_of(
            removed, tail, summary, memory, place_of(beside.workspace), index.resolved, self._carried,
        )  # fmt: skip
        retention = Retention(
            fates=tuple(fates),
            removed_messages=int((self._grown.columns.kind[start:kept] > 0).sum()),
            removed_tokens=int(self._tokens[kept] - self._tokens[start]),
            summary_tokens=-(-len(text) // 4)
            if told
            else max(int(self._grown.columns.tokens[place]), 0),
            has_memory=bool(notes),
        )
        if not self._first:
            self._first = [fate for fate in fates if fate.anchor.kind != "ask"]
        self._carried = [fate for fate in fates if fate.place == "summary"]
        written = [w.path for w in writes if w.entry > self._branch[previous]]
        files = tuple(dict.fromkeys((*written, *beside.cycle_files)))
        return Cycle(
            number=number,
            entry=entry,
            call=call,
            removed=(self._branch[start], self._branch[kept - 1]) if kept > start else None,
            retention=retention,
            memory_files=files,
            read_back=self._read_back([path for path, _ in notes], place),
            used_again=self._used_again(retention.lost, entry),
            first_left=self._first_left(tail, summary),
            workspace_files=len(beside.workspace),
        )

    def _tail(self, kept: int, place: int) -> Place:
        """What stays word for word; its sentences are read again, for a demand may be said in other words."""
        tail = Place()
        seqs = self._branch[kept:place]
        for seq in seqs:
            tail.add_anchors(self._index.anchors.get(seq, ()))
        for message in self._messages(seqs):
            add_spoken(tail, message)
        return tail

    def _read_back(self, written: Sequence[str], place: int) -> int | None:
        """Whether a memory file was read within the next turns."""
        following = self._persons[self._persons > place]
        end = following[READ_BACK_TURNS] if len(following) > READ_BACK_TURNS else len(self._branch)
        last = self._branch[int(end) - 1] + 1
        return (
            first_read(self._index.reads, written, self._branch[place], last) if written else None
        )

    def _used_again(self, lost: Sequence[Fate], entry: int) -> dict[tuple[AnchorKind, str], int]:
        """What was needed again: named next by the user, or by the agent without having seen it again.

        An agent finds paths again by looking, and file names are said in passing: of paths only those with
        a folder count that the user had to say twice.
        """
        found: dict[tuple[AnchorKind, str], int] = {}
        for fate in lost:
            key = (fate.anchor.kind, fate.anchor.key)
            uses = self._later.get(key, []) if fate.anchor.voice != "tool" else []
            at = bisect_right(uses, entry, key=lambda use: use[0])
            if at < len(uses):
                seq, voice = uses[at]
                said_twice = voice == fate.anchor.voice == "user" and "/" in fate.anchor.key
                if said_twice if fate.anchor.kind == "path" else voice != "tool":
                    found[key] = seq
        return found

    def _first_left(self, tail: Place, summary: Place) -> float | None:
        if not self._first:
            return None
        left = sum(bool(tail.form_of(f.anchor) or summary.form_of(f.anchor)) for f in self._first)
        return left / len(self._first)


def _later_uses(
    index: SessionIndex, branch: Sequence[int]
) -> dict[tuple[AnchorKind, str], list[tuple[int, Voice]]]:
    """For every identifier the entries that name it, in order, each with who does."""
    uses: dict[tuple[AnchorKind, str], list[tuple[int, Voice]]] = {}
    for seq in branch:
        for anchor in index.anchors.get(seq, ()):
            if anchor.kind in _NAMES:
                uses.setdefault((anchor.kind, anchor.key), []).append((seq, anchor.voice))
    return uses
