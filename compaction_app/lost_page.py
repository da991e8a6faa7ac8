"""What the recorded compactions lost, as its page shows it: the list first, then the counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode
from uuid import UUID

from django.urls import reverse

from compaction_app.engine.retention.anchors import TITLES, AnchorKind
from compaction_app.engine.retention.cycles import Cycle
from compaction_app.engine.retention.fates import Counts, Fate
from compaction_app.engine.retention.losses import loss_of
from compaction_app.engine.retention.retention import UPPER_BOUND
from compaction_app.lost import cycles_for, recorded_tally
from compaction_app.lost_offers import offers
from compaction_app.planting.published import published
from sessions_app.entries import sendable
from sessions_app.masking import mask
from sessions_app.models import Session, Window

SHOWN: Final = 12
LISTED: Final = 200
LINK_CHARS: Final = 60
BAR_HEIGHT: Final = 24
TITLE_OF_ONE: Final[Mapping[AnchorKind, str]] = {
    "constraint": "constraint", "file_action": "file", "decision": "decision", "promise": "open task", "ask": "ask",
    "error": "error", "path": "path", "uuid": "UUID", "hash": "hash", "url": "URL", "host_port": "host",
    "version": "version", "ticket": "ticket", "quantity": "quantity",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Item:
    """One anchor that was lost; ``address`` leads to its place in the transcript."""

    kind: AnchorKind
    title: str
    text: str
    detail: str
    address: str
    entry: int
    first: int
    block: int
    start: int
    end: int
    count: int
    saved: bool
    resembled: bool
    used_again: int | None


@dataclass(frozen=True, slots=True)
class Choice:
    """A compaction that can be looked at; ``constraints`` says that it lost any."""

    number: int
    address: str
    constraints: bool


@dataclass(frozen=True, slots=True)
class KindRow:
    title: str
    counts: Counts

    @property
    def nowhere(self) -> int:
        return self.counts.lost - self.counts.memory


@dataclass(frozen=True, slots=True)
class Bar:
    """A tenth of the removed part, in the units of the drawing; the share is none without anchors."""

    x: int
    y: str
    height: str
    kept: int
    anchors: int
    share: float | None


def lost_context(session: Session, window: Window, values: Mapping[str, str]) -> dict[str, Any]:
    """The compaction that was asked for by its number or its entry, else the last that lost a constraint, else the last."""
    leaf = _number(values.get("leaf"))
    cycles = cycles_for(window, leaf)
    wanted, entry = _number(values.get("compaction")), _number(values.get("entry"))
    asked = (c for c in cycles if wanted == c.number or entry == c.entry)
    cycle = next(asked, _most_telling(cycles))
    context: dict[str, Any] = {
        "cycle": cycle,
        "codes": loss_of(cycle).codes if cycle else (),
        "cycles": [_choice(c, leaf) for c in cycles],
        "in_all": recorded_tally(window, leaf),
        "upper_bound": UPPER_BOUND,
        "published": published(),
        "figures": [
            {"title": TITLES[kind], **steps} for kind, steps in published()["kinds"].items()
        ],
    }
    if cycle is None:
        return context
    return context | _cycle_context(session.uuid, cycle) | {"offers": offers(session, cycle)}


def _most_telling(cycles: Sequence[Cycle]) -> Cycle | None:
    telling = [cycle for cycle in cycles if _lost_constraints(cycle)]
    return (telling or [*cycles])[-1] if cycles else None


def _lost_constraints(cycle: Cycle) -> bool:
    kinds = cycle.retention.by_kind
    return "constraint" in kinds and kinds["constraint"].lost > 0


def _cycle_context(session: UUID, cycle: Cycle) -> dict[str, Any]:
    done = cycle.retention
    lost = _without_twins(done.lost)
    items = [
        item_of(session, fate, cycle.used_again.get((fate.anchor.kind, fate.anchor.key)))
        for fate in lost[:LISTED]
    ]
    return {
        "counts": done.counts,
        "removed_messages": done.removed_messages,
        "twins": len(done.lost) - len(lost),
        "has_memory": done.has_memory,
        "per_lost": done.tokens_per_lost,
        "first_left": cycle.first_left,
        "lost": items[:SHOWN],
        "more_lost": items[SHOWN:],
        "not_listed": max(len(lost) - LISTED, 0),
        "kinds": [KindRow(TITLES[kind], counts) for kind, counts in done.by_kind.items()],
        "positions": _bars(done.by_position),
        "memory_files": cycle.memory_files,
        "coverage": done.flush_coverage,
        "read_back": cycle.read_back,
    }


def _without_twins(lost: Sequence[Fate]) -> list[Fate]:
    """A path is not listed beside what was done to its file; both are counted."""
    done = {f.anchor.key.partition(" ")[2] for f in lost if f.anchor.kind == "file_action"}
    return [f for f in lost if f.anchor.kind != "path" or f.anchor.key not in done]


def _choice(cycle: Cycle, leaf: int | None) -> Choice:
    query = {"compaction": cycle.number} | ({} if leaf is None else {"leaf": leaf})
    return Choice(cycle.number, urlencode(query), _lost_constraints(cycle))


def item_of(session: UUID, fate: Fate, used_again: int | None = None) -> Item:
    """An anchor with what is shown of it."""
    anchor = fate.anchor
    detail = anchor.detail if anchor.detail not in anchor.text else ""
    if anchor.kind == "error":
        worked = fate.outcome
        detail = "never resolved" if worked is None else f"worked in entry {worked}"
    return Item(
        kind=anchor.kind,
        title=TITLE_OF_ONE[anchor.kind],
        text=sendable(anchor.text),
        detail=sendable(detail),
        address=address_of(session, fate),
        entry=anchor.entry,
        first=fate.first.entry,
        block=anchor.block,
        start=anchor.start,
        end=anchor.end,
        count=fate.count,
        saved=fate.saved,
        resembled=fate.resembled,
        used_again=used_again,
    )


def address_of(session: UUID, fate: Fate) -> str:
    """The entry's page, at the block, with the text marked by browsers that can.

    What the viewer may not see is not in the address either.
    """
    anchor = fate.anchor
    page = reverse("entry", args=(session, anchor.entry))
    text = sendable(anchor.text).removesuffix("…")
    if mask(text) != text:
        return f"{page}#block-{anchor.block}"
    if len(text) > LINK_CHARS:
        text = text[:LINK_CHARS].rpartition(" ")[0] or text[:LINK_CHARS]
    marked = quote(text.strip(), safe="").replace("-", "%2D")
    return f"{page}#block-{anchor.block}:~:text={marked}"


def _bars(parts: Sequence[Counts]) -> list[Bar]:
    bars = []
    for number, counts in enumerate(parts):
        height = BAR_HEIGHT * (counts.share or 0)
        bars.append(
            Bar(
                10 * number, f"{BAR_HEIGHT - height:.1f}", f"{height:.1f}", counts.kept, counts.anchors, counts.share
            )
        )  # fmt: skip
    return bars


def _number(value: str | None) -> int | None:
    is_number = value is not None and value.isascii() and value.isdigit() and len(value) < 10
    return int(value) if is_number and value is not None else None
