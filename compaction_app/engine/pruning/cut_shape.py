"""What a cut left of a tool result: how much of its head and of its tail, and what it wrote itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.pruning.change import block_text
from compaction_app.engine.pruning.truncation_rules import MIDDLE_MARKER, Notice

_MOST_DIGITS: Final = 12
_PAIR = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class CutShape:
    """UTF-16 units of a result's texts together.

    ``head`` and ``tail`` are kept, ``total`` is what stands there afterwards with marker and notice.
    ``ends_line``: every head ends where a line of the text does. An uncut result is all head.
    """

    head: int
    tail: int
    total: int
    ends_line: bool
    is_cut: bool

    @property
    def written(self) -> int:
        """What the cut wrote: marker and notice."""
        return self.total - self.head - self.tail


def shape_of(old: Mapping[str, Any], new: Mapping[str, Any], notice: Notice) -> CutShape:
    """How ``new`` came from ``old`` by a cut that ends each text with ``notice``.

    Where the cut joined the texts into one, they are compared joined.
    """
    before, after = _texts(old), _texts(new)
    total = sum(map(len, after))
    if new is old:
        return CutShape(total, 0, total, ends_line=False, is_cut=False)
    if len(after) < len(before):
        before = ["\n".join(before)]
    parts = [_parts(b, a, notice) for b, a in zip(before, after, strict=False)]
    cut = [(b, part) for b, a, part in zip(before, after, parts, strict=False) if a != b]
    return CutShape(
        head=sum(head for head, _ in parts),
        tail=sum(tail for _, tail in parts),
        total=total,
        ends_line=bool(cut) and all(b[head : head + 1] == "\n" for b, (head, _) in cut),
        is_cut=True,
    )


def _texts(message: Mapping[str, Any]) -> list[str]:
    content = message.get("content")
    blocks: Sequence[Any] = content if isinstance(content, list) else ()
    texts = [content] if isinstance(content, str) else [block_text(block) for block in blocks]
    return [_units(text) for text in texts if text is not None]


def _units(text: str) -> str:
    """``text`` with one character a UTF-16 unit, so that a place in it counts as the runtime's does."""
    return text if text.isascii() else _PAIR.sub(_halves, text)


def _halves(pair: re.Match[str]) -> str:
    over = ord(pair[0]) - 0x10000
    return chr(0xD800 + (over >> 10)) + chr(0xDC00 + (over & 0x3FF))


def _parts(old: str, new: str, notice: Notice) -> tuple[int, int]:
    """Units of the head and of the tail that ``new`` keeps of ``old``."""
    if new == old:
        return len(new), 0
    kept = _without_notice(old, new, notice)
    at = kept.find(MIDDLE_MARKER)
    while at != -1:
        behind = at + len(MIDDLE_MARKER)
        if not old.startswith(kept[:behind]):  # a marker in the text itself is no cut of this one
            return at, len(kept) - behind
        at = kept.find(MIDDLE_MARKER, at + 1)
    return _head(old, kept), 0


def _head(old: str, kept: str) -> int:
    """Units of a head behind which a piece of the marker may stand, where the limit was tight."""
    for piece in range(min(len(MIDDLE_MARKER), len(kept) + 1)):
        head = len(kept) - piece
        if MIDDLE_MARKER.startswith(kept[head:]) and old.startswith(kept[:head]):
            return head
    return 0


def _without_notice(old: str, new: str, notice: Notice) -> str:
    """``new`` without the notice that counts what is gone; nothing where not even that fits."""
    for digits in range(1, _MOST_DIGITS):
        kept = len(new) - len(notice(10**digits - 1))
        if kept >= 0 and new.endswith(notice(max(1, len(old) - kept))):
            return new[:kept]
    return ""
