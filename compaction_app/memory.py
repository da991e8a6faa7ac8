"""Memory files of agents: flushes append notes, nothing overwrites them.

A file's text is that of its notes, one after the other. The number of a note within its flush is
unique, so a flush that is carried out again after a crash writes nothing twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from compaction_app.models import MemoryFile, MemoryNote
from sessions_app.models import Agent, Session
from sessions_app.rows import storable


@dataclass(frozen=True, slots=True)
class FlushOrigin:
    """Which flush writes: of which session, at which turn (counted from 1), after how many compactions."""

    session: Session
    compactions: int
    turn: int | None = None

    @property
    def name(self) -> str:
        """The same for every attempt at one flush, another one in the next compaction cycle."""
        return f"{self.session.uuid}:{self.compactions}"


def append_notes(
    agent: Agent, file_name: str, texts: Sequence[str], origin: FlushOrigin
) -> list[MemoryNote]:
    """Append the notes of a flush to a file, in order; those that are there already are left alone.

    Returns:
        The notes that were written now.
    """
    with transaction.atomic():
        file, _ = MemoryFile.objects.get_or_create(
            agent=agent, name=file_name, defaults={"team_id": agent.team_id}
        )
        file = MemoryFile.objects.select_for_update().get(pk=file.pk)
        known = set(MemoryNote.objects.filter(flush=origin.name).values_list("number", flat=True))
        added = [
            MemoryNote(
                file=file,
                text=storable(text, len(text)),
                session=origin.session,
                turn=origin.turn,
                flush=origin.name,
                number=number,
            )
            for number, text in enumerate(texts)
            if number not in known
        ]
        MemoryNote.objects.bulk_create(added)
        size = sum(len(_line(note.text).encode()) for note in added)
        if added:
            MemoryFile.objects.filter(pk=file.pk).update(
                size=F("size") + size, changed_at=timezone.now()
            )
    return added


def text_of(file: MemoryFile) -> str:
    """The file's whole text."""
    notes = file.notes.order_by("pk").values_list("text", flat=True)
    return "".join(map(_line, notes))


def _line(text: str) -> str:
    """A note as it stands in the file: it ends with a line end, so that the next begins a line."""
    return text if text.endswith("\n") else f"{text}\n"
