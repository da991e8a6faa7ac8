"""A stretch of a session's index as plain values, and back: so that no text has to be read twice.

A block holds what a stretch of entries added, and what the reader remembers behind it (calls without
their results, failures that nothing has mended yet), so that reading can go on from there.
"""

from __future__ import annotations

import json
from typing import Any, Final

from compaction_app.engine.retention.anchors import KINDS, Anchor, Voice
from compaction_app.engine.retention.extract import Call, Extractor
from compaction_app.engine.retention.session_index import MemoryRead, MemoryWrite, SessionIndex

_VOICES: Final[tuple[Voice, ...]] = ("user", "agent", "tool")
_KIND_NUMBERS: Final = {kind: number for number, kind in enumerate(KINDS)}


def block_of(index: SessionIndex, first: int) -> bytes:
    """What an index knows of the entries from ``first`` on, and its memory, as ASCII JSON."""
    reader = index.extractor
    anchors = [
        [seq, [_packed(anchor, seq) for anchor in found]]
        for seq, found in index.anchors.items()
        if seq >= first
    ]
    block = {
        "seen": index.seen,
        "anchors": anchors,
        "summaries": [[seq, text] for seq, text in index.summaries.items() if seq >= first],
        "writes": [[w.entry, w.path, w.text] for w in index.writes if w.entry >= first],
        "reads": [[r.entry, r.path] for r in index.reads if r.entry >= first],
        "resolved": [[failed, at] for failed, at in reader.resolved.items() if at >= first],
        "open": [[key, written] for key, written in index.open_writes.items()],
        "calls": [
            [key, call.entry, call.subject, [_packed(a, call.entry) for a in call.actions]]
            for key, call in reader.calls.items()
        ],
        "failed": [[subject, entries] for subject, entries in reader.failed.items()],
    }
    return json.dumps(block, separators=(",", ":")).encode("ascii")


def add_block(index: SessionIndex, stored: bytes) -> None:
    """Let an index know what a block holds, as if it had read those entries.

    Raises:
        ValueError, TypeError, LookupError: when it is no block.
    """
    block: dict[str, Any] = json.loads(stored)
    reader: Extractor = index.extractor
    for seq, packed in block["anchors"]:
        index.anchors[seq] = [_anchor(values, seq) for values in packed]
    index.summaries.update((seq, text) for seq, text in block["summaries"])
    index.writes += [MemoryWrite(*values) for values in block["writes"]]
    index.reads += [MemoryRead(*values) for values in block["reads"]]
    reader.resolved.update((failed, at) for failed, at in block["resolved"])
    index.open_writes = {
        key: [(path, text) for path, text in written] for key, written in block["open"]
    }
    reader.calls = {
        key: Call(entry, (name, what), tuple(_anchor(values, entry) for values in actions))
        for key, entry, (name, what), actions in block["calls"]
    }
    reader.failed = {(name, what): entries for (name, what), entries in block["failed"]}
    index.seen = block["seen"]


def _packed(anchor: Anchor, seq: int) -> list[Any]:
    """The anchor's values; what follows from the others is left out."""
    key = 0 if anchor.key == anchor.text else anchor.key
    values: list[Any] = [
        _KIND_NUMBERS[anchor.kind], anchor.text, key, anchor.block, anchor.start,
        anchor.end - anchor.start, _VOICES.index(anchor.voice), seq - anchor.entry,
    ]  # fmt: skip
    return [*values, anchor.detail] if anchor.detail else values


def _anchor(values: list[Any], seq: int) -> Anchor:
    kind, text, key, block, start, length, voice, before = values[:8]
    detail = values[8] if len(values) > 8 else ""
    return Anchor(
        KINDS[kind], text if key == 0 else key, text, seq - before, block, start, start + length,
        _VOICES[voice], detail,
    )  # fmt: skip
