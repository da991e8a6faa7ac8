"""Memory files as files in a folder, for agents and people who want to read them there.

The database is the truth. Notes are appended in their order, each once: one that was written right
before a crash is recognised at the end of the file. What else the file holds is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils.text import slugify

from compaction_app.models import MemoryFile, MemoryNote
from sessions_app.models import Agent


def folder_of(agent: Agent) -> Path | None:
    """Where the agent's files are mirrored; none where no folder is configured."""
    if not settings.MEMORY_FOLDER:
        return None
    return Path(settings.MEMORY_FOLDER) / f"{slugify(agent.name)[:60]}-{str(agent.uuid)[:8]}"


def mirror(agent: Agent | None, tell: Callable[[str, str], None]) -> None:
    """Append all notes of the agent that are not mirrored yet, those of a worker that died before it
    came to it included. A folder that cannot be written to is told of and changes nothing: the next
    flush tries again."""
    folder = folder_of(agent) if agent is not None else None
    if folder is None:
        return
    missing = MemoryFile.objects.filter(agent=agent, notes__is_mirrored=False).distinct()
    try:
        for name in missing.order_by("name").values_list("name", flat=True):
            with transaction.atomic():
                file = MemoryFile.objects.select_for_update().get(agent=agent, name=name)
                notes = file.notes.filter(is_mirrored=False).order_by("pk")
                _append(folder / file.name, list(notes))
    except OSError as error:
        tell(f"the memory folder cannot be written to: {error.strerror or error}", "warning")


def _append(path: Path, notes: list[MemoryNote]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        for note in notes:
            data = (note.text if note.text.endswith("\n") else f"{note.text}\n").encode()
            if not _ends_with(file.fileno(), data):
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            MemoryNote.objects.filter(pk=note.pk).update(is_mirrored=True)


def _ends_with(handle: int, data: bytes) -> bool:
    size = os.fstat(handle).st_size
    return size >= len(data) and os.pread(handle, len(data), size - len(data)) == data
