"""The memory page of an agent: its files, and for each note which flush wrote it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count

from compaction_app.memory import text_of
from compaction_app.models import FlushRecord, MemoryFile, MemoryNote
from sessions_app.hidden_secrets import showing, showing_row
from sessions_app.masking import mask
from sessions_app.models import Agent

NOTES_PER_PAGE = 50


def memory_context(agent: Agent, name: str, page: str) -> dict[str, Any] | None:
    """The page with one file open, the newest unless another is named; none for an unknown one."""
    files = list(
        MemoryFile.objects.filter(agent=agent).annotate(count=Count("notes")).order_by("-name")
    )
    shown = next((file for file in files if not name or file.name == name), None)
    if name and shown is None:
        return None
    context: dict[str, Any] = {"agent": agent, "files": files, "shown": shown}
    if shown is None:
        return context
    notes = MemoryNote.objects.filter(file=shown).select_related("session").order_by("pk")
    found = Paginator(notes, NOTES_PER_PAGE).get_page(page)
    records = _records(found.object_list)
    rows = [
        (note, _shown(note), _cycle(note), records.get((note.session_id, _cycle(note))))
        for note in found.object_list
    ]
    return {**context, "page": found, "notes": rows}


def _records(notes: Iterable[MemoryNote]) -> dict[tuple[int | None, int | None], FlushRecord]:
    """The flushes that wrote the notes, by session and cycle."""
    sessions = {note.session_id for note in notes if note.session_id is not None}
    written = FlushRecord.objects.filter(session__in=sessions, outcome=FlushRecord.WRITTEN)
    found = written.defer("dialogue", "calls").order_by("pk")
    return {(record.session_id, record.cycle): record for record in found}


def shown_memory(file: MemoryFile) -> str:
    """A whole file as a viewer may see it: what was found in any session that it is of is hidden."""
    text = text_of(file)
    notes = MemoryNote.objects.filter(file=file).exclude(session=None)
    for session in notes.order_by().values_list("session", flat=True).distinct():
        showing(session)
        text = mask(text)
    return mask(text)


def _shown(note: MemoryNote) -> str:
    showing_row(note)
    return mask(note.text)


def _cycle(note: MemoryNote) -> int | None:
    """After how many compactions the flush came, as its name says."""
    number = note.flush.rpartition(":")[2]
    return int(number) if number.isdecimal() else None
