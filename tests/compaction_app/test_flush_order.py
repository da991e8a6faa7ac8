"""When both are due, the flush goes first."""

from __future__ import annotations

import pytest

from compaction_app.compaction_jobs import request_compaction
from compaction_app.models import (
    CompactionRecord,
    MemoryNote,
)
from compaction_app.tasks import compact_session
from sessions_app.models import Session
from tests.compaction_app.flushing import connect, fill
from tests.compaction_app.live import live_session, user
from tests.conftest import Person
from tests.summarisers.loopback import refusing, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(alice: Person) -> Session:
    """A session at its flush line: the next turn begins with a flush."""
    made = live_session(alice)
    fill(made)
    return made


def test_a_due_flush_goes_before_a_due_compaction(session: Session) -> None:
    job = request_compaction(session, trigger="budget", prompt=user("And now?"))
    compact_session(str(job.uuid))
    job.refresh_from_db()
    assert job.state == "succeeded", job.error
    assert MemoryNote.objects.count() == 1
    assert CompactionRecord.objects.get().outcome == "compacted"
    assert any("the flush before the compaction: 1 note" in n.text for n in job.lines.all())


def test_a_flush_that_fails_does_not_keep_the_compaction(session: Session) -> None:
    with serving(refusing(401)) as server:
        connect(session, server.url)
        job = request_compaction(session, trigger="budget", prompt=user("And now?"))
        compact_session(str(job.uuid))
    job.refresh_from_db()
    assert job.state == "succeeded", job.error
    assert CompactionRecord.objects.get().outcome == "compacted"


def test_an_agent_that_flushes_itself_is_waited_for(alice: Person) -> None:
    session = live_session(alice, flush_by="agent")
    fill(session)
    job = request_compaction(session, trigger="budget", prompt=user("And now?"))
    compact_session(str(job.uuid))
    job.refresh_from_db()
    assert (job.state, job.error) == (
        "failed", "A memory flush goes first, and the agent carries it out itself.",
    )  # fmt: skip
