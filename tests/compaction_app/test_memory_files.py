"""Where the notes of a flush are kept: files by day, mirrored to a folder, never overwritten."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from compaction_app.compaction_jobs import request_compaction
from compaction_app.flush_jobs import request_flush
from compaction_app.memory import text_of
from compaction_app.models import (
    MemoryNote,
)
from compaction_app.tasks import compact_session
from sessions_app.models import Job, Session
from tests.compaction_app.compacting import at
from tests.compaction_app.flushing import done, fill, flushed
from tests.compaction_app.live import live_session
from tests.conftest import Person, Settings

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: Person) -> Session:
    """A session at its flush line: the next turn begins with a flush."""
    made = live_session(alice)
    fill(made)
    return made


def test_the_day_is_that_of_the_agent(alice: Person) -> None:
    names = set()
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):  # 25 hours apart
        session = live_session(alice, name=zone, time_zone=zone)
        fill(session)
        names.add(flushed(session).file)
    assert len(names) == 2


def test_notes_are_mirrored_to_a_folder_and_nothing_there_is_overwritten(
    session: Session, settings: Settings, tmp_path: Path
) -> None:
    settings.MEMORY_FOLDER = str(tmp_path)
    record = flushed(session)
    (file,) = tmp_path.rglob("*.md")
    assert file.relative_to(file.parents[1]).as_posix() == record.file
    note = MemoryNote.objects.get()
    assert file.read_text() == f"{note.text}\n" and note.is_mirrored
    MemoryNote.objects.update(is_mirrored=False)  # as a crash right behind the write leaves it
    file.write_text("my own line\n" + file.read_text())
    compact_session(str(request_compaction(session).uuid))
    fill(session)
    flushed(session)
    text = file.read_text()
    assert text.startswith("my own line\n")
    assert text.count(note.text) == 1
    assert MemoryNote.objects.filter(is_mirrored=False).count() == 0


def test_a_worker_that_died_before_the_mirror_is_followed_by_one_that_mirrors(
    session: Session, settings: Settings, tmp_path: Path
) -> None:
    settings.MEMORY_FOLDER = str(tmp_path)

    def die() -> None:
        raise KeyboardInterrupt

    job = request_flush(session)
    with pytest.raises(KeyboardInterrupt):
        for _ in at("committed", die):
            done(job)
    assert list(tmp_path.rglob("*.md")) == []
    Job.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    done(job)
    assert job.state == "succeeded"
    (file,) = tmp_path.rglob("*.md")
    assert file.read_text() == f"{MemoryNote.objects.get().text}\n"


def test_a_folder_that_cannot_be_written_to_loses_nothing(
    session: Session, settings: Settings, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    settings.MEMORY_FOLDER = str(blocked)
    flushed(session)
    assert MemoryNote.objects.get().is_mirrored is False
    assert "cannot be written to" in Job.objects.get().lines.get(level="warning").text


def test_the_next_cycle_is_flushed_again_behind_what_is_there(session: Session) -> None:
    flushed(session)
    job = request_compaction(session)
    compact_session(str(job.uuid))
    fill(session)
    flushed(session)
    first, second = MemoryNote.objects.order_by("pk")
    assert first.flush != second.flush
    text = text_of(first.file) + (text_of(second.file) if second.file != first.file else "")
    assert first.text in text and second.text in text
