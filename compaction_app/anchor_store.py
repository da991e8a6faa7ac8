"""The anchors of a window: what was read before comes from the database, the rest from the texts.

Only whole stretches of entries are stored, so that a session that grows rewrites nothing, and one that
is short writes nothing at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import structlog
import zstandard
from django.db import DatabaseError, transaction

from compaction_app.anchor_models import AnchorBlock
from compaction_app.engine.retention.anchors import RULES_VERSION
from compaction_app.engine.retention.session_index import SessionIndex
from compaction_app.engine.retention.stored_form import add_block, block_of
from sessions_app.models import Entry, Window
from sessions_app.rows import entries_at
from sessions_app.transcripts import transcript

BLOCK: Final = 512
"""Entries of a block. What is behind the last whole block is read anew by each process."""

_DIGEST_BYTES: Final = 16

log = structlog.get_logger("contextlab.retention")


@dataclass(slots=True)
class Also:
    """A second reader of the entries that are read for their anchors; ``seen`` is how far it came."""

    add: Callable[[transcript.Entry], None]
    seen: int

    def watching(self, entries: Iterable[transcript.Entry]) -> Iterator[transcript.Entry]:
        """The entries, each handed on first that is the next one for the second reader."""
        for entry in entries:
            if entry.seq == self.seen:
                self.add(entry)
                self.seen += 1
            yield entry


def read_on(index: SessionIndex, window: Window, also: Also | None = None) -> None:
    """Let an index know all entries of a window, and keep what had to be read; ``also`` reads that along."""
    whole = window.entry_count - window.entry_count % BLOCK
    digests: list[bytes] = []
    if index.seen < whole:
        digests = list(_digests(window, whole))
        _take_stored(index, window, digests)
    while index.seen < window.entry_count:
        first = index.seen
        end = min(first - first % BLOCK + BLOCK, window.entry_count)
        entries = entries_at(window, range(first, end))
        index.add(also.watching(entries) if also else entries)
        if index.seen == first:
            return  # the window says that it has more entries than are stored
        if first % BLOCK == 0 and index.seen % BLOCK == 0:
            _store(index, window, first, digests[first // BLOCK])


def _take_stored(index: SessionIndex, window: Window, digests: list[bytes]) -> None:
    """Blocks that follow on what the index knows, up to the first one that is missing or another's."""
    if index.seen % BLOCK:
        return
    rows = AnchorBlock.objects.filter(window=window, number__gte=index.seen // BLOCK)
    for row in rows.order_by("number").iterator(chunk_size=16):
        number = index.seen // BLOCK
        if row.number != number or number >= len(digests) or bytes(row.digest) != digests[number]:
            return
        try:
            add_block(index, zstandard.decompress(bytes(row.payload)))
        except (ValueError, TypeError, LookupError, zstandard.ZstdError) as error:
            log.warning("a block of anchors is read again", block=row.pk, error=str(error))
            return


def _store(index: SessionIndex, window: Window, first: int, digest: bytes) -> None:
    """Keep a whole block. A database that is busy or read-only only costs the next process some time."""
    payload = zstandard.compress(block_of(index, first))
    try:
        with transaction.atomic():
            AnchorBlock.objects.update_or_create(
                window=window,
                number=first // BLOCK,
                defaults={"digest": digest, "payload": payload},
            )
    except DatabaseError as error:
        log.warning("anchors are not kept", window=str(window.uuid), error=str(error))


def _digests(window: Window, whole: int) -> Iterator[bytes]:
    """For each whole block the digest of everything up to its end, and of the rules."""
    rows = Entry.objects.filter(window=window, seq__lt=whole).order_by("seq")
    hasher = hashlib.blake2b(str(RULES_VERSION).encode(), digest_size=_DIGEST_BYTES)
    found = rows.values_list("entry_id", "mark", "digest").iterator(chunk_size=5_000)
    for number, (identity, mark, digest) in enumerate(found, 1):
        hasher.update(f"{identity}\0{mark}\0".encode("utf-8", "surrogatepass") + bytes(digest))
        if number % BLOCK == 0:
            yield hasher.digest()
