"""What became of each anchor of a removed part: where it survived, and in which form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from compaction_app.engine.retention.anchors import KINDS, SENTENCES, Anchor, AnchorKind, Voice
from compaction_app.engine.retention.places import Form, Place

PlaceName = Literal["tail", "summary", "workspace", "memory", ""]
IN_CONTEXT: Final[tuple[PlaceName, ...]] = ("tail", "summary", "workspace")
LAST_ASKS: Final = 3
_VOICES: Final[tuple[Voice, ...]] = ("user", "agent", "tool")
_RANK: Final = {kind: rank for rank, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Fate:
    """An anchor of the removed part and what became of it.

    ``anchor`` is its last occurrence, that of the user before the agent's and a tool's, ``first`` the first one, ``count`` how many there were, ``position``
    where in the removed part the last one stood, from 0 to 1, none where it came from an earlier summary.
    ``place`` is where it survived: in the tail anyway, in the summary, in a workspace file that is injected
    again, or only in a memory file; "" nowhere. ``resembled`` says that the summary speaks of it in other
    words. ``outcome`` is the entry in which a failed call worked.
    """

    anchor: Anchor
    first: Anchor
    count: int
    position: float | None
    place: PlaceName
    form: Form
    saved: bool = False
    resembled: bool = False
    outcome: int | None = None

    @property
    def is_lost(self) -> bool:
        """Whether it is no longer in the context; it may stand in a memory file."""
        return self.place not in IN_CONTEXT


@dataclass(frozen=True, slots=True)
class Counts:
    """How many anchors there were, how many are still in the context, and how many only in memory."""

    anchors: int = 0
    tail: int = 0
    summary: int = 0
    workspace: int = 0
    memory: int = 0

    @property
    def kept(self) -> int:
        return self.tail + self.summary + self.workspace

    @property
    def lost(self) -> int:
        """Those that left the context, saved in memory or not."""
        return self.anchors - self.kept

    @property
    def share(self) -> float | None:
        """The share that is still in the context, none without anchors."""
        return self.kept / self.anchors if self.anchors else None


def fates_of(
    found: Sequence[Sequence[Anchor]],
    tail: Place,
    summary: Place,
    memory: Place,
    workspace: Place,
    resolved: Mapping[int, int],
    carried: Sequence[Fate] = (),
) -> list[Fate]:
    """What became of the anchors of the removed messages, one list of ``found`` for each of them.

    ``carried`` are those of earlier compactions that only a summary held, which is removed, too.
    """
    grouped = _grouped(found)
    here = {(fate.anchor.kind, fate.anchor.key) for fate in grouped}
    earlier = (
        replace(fate, position=None)
        for fate in carried
        if (fate.anchor.kind, fate.anchor.key) not in here
    )
    places: tuple[tuple[PlaceName, Place], ...] = (
        ("tail", tail), ("summary", summary), ("workspace", workspace), ("memory", memory),
    )  # fmt: skip
    return [_judged(fate, places, resolved) for fate in (*earlier, *grouped)]


def _grouped(found: Sequence[Sequence[Anchor]]) -> list[Fate]:
    """Each anchor once, with its count; of the asks only the last ones."""
    last = max(len(found) - 1, 1)
    asked = [number for number, some in enumerate(found) if any(a.kind == "ask" for a in some)]
    first_ask = asked[-LAST_ASKS] if len(asked) > LAST_ASKS else 0
    groups: dict[tuple[AnchorKind, str], Fate] = {}
    for number, some in enumerate(found):
        for anchor in some:
            if anchor.kind == "ask" and number < first_ask:
                continue
            known = groups.get((anchor.kind, anchor.key))
            loudest = anchor
            if known is not None and _VOICES.index(known.anchor.voice) < _VOICES.index(
                anchor.voice
            ):
                loudest = known.anchor
            groups[anchor.kind, anchor.key] = Fate(
                anchor=loudest,
                first=known.first if known else anchor,
                count=known.count + 1 if known else 1,
                position=number / last,
                place="",
                form="",
            )
    return list(groups.values())


def _judged(
    fate: Fate, places: Sequence[tuple[PlaceName, Place]], resolved: Mapping[int, int]
) -> Fate:
    outcome = resolved.get(fate.anchor.entry) if fate.anchor.kind == "error" else None
    summary, memory = places[1][1], places[-1][1]
    for name, place in places:
        form = place.form_of(fate.anchor)
        if form:
            saved = name == "memory" or bool(memory.form_of(fate.anchor))
            return replace(
                fate, place=name, form=form, saved=saved, resembled=False, outcome=outcome
            )
    resembled = fate.anchor.kind in SENTENCES and summary.resembles(fate.anchor)
    return replace(fate, place="", form="", saved=False, resembled=resembled, outcome=outcome)


def counts_of(fates: Iterable[Fate]) -> Counts:
    """How many of them survived where."""
    numbers: dict[PlaceName, int] = {}
    for fate in fates:
        numbers[fate.place] = numbers.get(fate.place, 0) + 1
    return Counts(
        anchors=sum(numbers.values()),
        tail=numbers.get("tail", 0),
        summary=numbers.get("summary", 0),
        workspace=numbers.get("workspace", 0),
        memory=numbers.get("memory", 0),
    )


def gravity(fate: Fate) -> tuple[int, int, int, int]:
    """By what the lost are ordered: by kind, changes of files first, by who said it, the newest first."""
    anchor = fate.anchor
    is_change = anchor.kind == "file_action" and anchor.detail != "read"
    return (
        _RANK[anchor.kind],
        not is_change,
        _VOICES.index(anchor.voice),
        -anchor.entry,
    )
