"""The hash chain of a window: each link is a digest over the link before and what was written.

Entries are linked by the bytes that were read and by the columns that stand beside them, so that a row
that is changed, left out, put in or moved no longer fits. The floor above links its records into
the same chain: a window counts both, and ``link`` is its last link.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

import orjson

from sessions_app.models import Entry as EntryRow
from sessions_app.models import Window

LINK_BYTES: Final = 32
LINKED: Final = (
    "seq", "line", "entry_id", "parent_seq", "kept_seq", "type", "role", "mark", "at_ms", "provider",
    "model", "stop_reason", "tool_name", "tokens", "thinking_tokens", "call_tokens", "pressure",
    "result_chars", "images", "pruner_chars", "view_chars", "is_wide", "usage_input", "usage_output",
    "usage_cache_read", "usage_cache_write", "tokens_before", "excerpt", "call_ids",
)  # fmt: skip
"""The columns that a link covers. Those that are counted anew (``exact``) are not among them."""


BEGINNING: Final = blake2b(b"contextlab entries 1", digest_size=LINK_BYTES).digest()
"""What every chain begins with: the same file has the same links, wherever it is imported."""


def entry_link(before: bytes, columns: Sequence[Any], digest: bytes, raw: bytes) -> bytes:
    """The link of an entry: ``columns`` are those of ``LINKED``, ``digest`` that of its content, ``raw``
    the bytes as they were read."""
    link = blake2b(before, digest_size=LINK_BYTES)
    link.update(orjson.dumps(columns))
    link.update(digest)
    link.update(raw)
    return link.digest()


def record_link(before: bytes, data: bytes) -> bytes:
    """The link of a record of the floor above; an entry's columns never begin like one."""
    return blake2b(before + b"record " + data, digest_size=LINK_BYTES).digest()


def row_bytes(value: Any) -> bytes:
    """What stands in a column of bytes; whoever edits a row by hand may leave a text there."""
    return value.encode() if isinstance(value, str) else bytes(value or b"")


class Chain:
    """The end of a window's chain while something is written behind it, under the window's lock.

    Where older entries wait for their links (``backfill``), new ones wait behind them.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self.link = row_bytes(window.link) or BEGINNING
        self.entries, self.records = window.linked_entries, window.linked_records

    @property
    def is_whole(self) -> bool:
        """Whether every entry that the window had is linked."""
        return self.entries == self._window.entry_count

    def cut(self, first: int) -> None:
        """Entries from number ``first`` on are about to be written anew."""
        if self.entries <= first:
            return
        kept = EntryRow.objects.filter(window=self._window, seq=first - 1)
        link = kept.values_list("link", flat=True).first() if first else None
        self.link = bytes(link) if link else BEGINNING
        self.entries = first

    def linked(self, rows: Iterable[tuple[Mapping[str, Any], bytes]]) -> Iterator[dict[str, Any]]:
        """The values of new entries (``rows.entry_values`` with their bytes) with their links, in order.

        Call :meth:`save` when all are through.
        """
        goes_on = self.is_whole
        for values, raw in rows:
            yield {**values, "link": self.add(values, raw) if goes_on else None}

    def add(self, values: Mapping[str, Any], raw: bytes) -> bytes:
        """The link of one more entry."""
        columns = [values[name] for name in LINKED]
        self.link = entry_link(self.link, columns, values["digest"], raw)
        self.entries += 1
        return self.link

    def add_record(self, data: bytes) -> bytes:
        """The link of one more record of the floor above."""
        self.link = record_link(self.link, data)
        self.records += 1
        return self.link

    def save(self) -> None:
        """Put the end of the chain into the window's row, which the caller saves."""
        window = self._window
        window.link, window.linked_entries, window.linked_records = (
            self.link, self.entries, self.records,
        )  # fmt: skip
