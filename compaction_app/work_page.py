"""What the pages about one compaction and one flush show, from their records."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.reasons import sentence
from compaction_app.models import CompactionRecord, FlushRecord
from sessions_app.entries import Block, blocks_of
from sessions_app.listing import copies_of
from sessions_app.models import Entry, Session
from sessions_app.payload import record_of

SHOWN_RECORDS = 20


def compaction_page(record: CompactionRecord) -> dict[str, Any]:
    """A compaction: figures, portions, calls, checks, and the summary as it is stored."""
    whole = record.record
    return {
        "record": record,
        "session": record.session,
        "reason": sentence(record.reason),
        "whole": whole,
        "portions": [
            {"pass": summary, "chunk": chunk, "number": number}
            for summary in whole.get("summaries", ())
            for table in summary.get("passes", ())
            for number, chunk in enumerate(table.get("chunks", ()), 1)
        ],
        "blocks": list(_blocks(record)),
        "entry": _entry(record),
    }


def flush_page(record: FlushRecord) -> dict[str, Any]:
    """A flush: figures, calls, and what was said in its silent turn."""
    said = [(m.get("role", ""), list(blocks_of({"message": m}))) for m in record.dialogue]
    return {
        "record": record,
        "session": record.session,
        "reason": sentence(record.reason),
        "said": said,
    }


def work_of(session: Session) -> dict[str, Any]:
    """The newest compactions and flushes of a session, and the copies that jobs have made of it."""
    compactions = CompactionRecord.objects.filter(session=session).order_by("-pk")
    flushes = FlushRecord.objects.filter(session=session).order_by("-pk")
    made: list[tuple[str, CompactionRecord | FlushRecord]] = []
    made += [("compaction", one) for one in compactions.defer("record", "calls")[:SHOWN_RECORDS]]
    made += [("flush", one) for one in flushes.defer("dialogue", "calls")[:SHOWN_RECORDS]]
    made.sort(key=lambda pair: pair[1].finished_at, reverse=True)
    return {"works": made[:SHOWN_RECORDS], "copies": copies_of(session)[:SHOWN_RECORDS]}


def _entry(record: CompactionRecord) -> Entry | None:
    found = Entry.objects.filter(window=record.window, entry_id=record.entry_id or None)
    return found.order_by("-seq").first()


def _blocks(record: CompactionRecord) -> list[Block]:
    entry = _entry(record)
    if entry is None:
        return []
    return [block for block in blocks_of(record_of(entry.payload)) if block.kind == "summary"]
