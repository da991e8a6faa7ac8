"""What is done to a recording is done on a copy; the recording itself stays."""

from __future__ import annotations

import pytest

from sessions_app import jobs
from sessions_app.entries import window_of
from sessions_app.models import Entry, Session
from tests.builders import short_session
from tests.compaction_app.compacting import (
    boundaries,
    compacted,
)
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def test_a_recording_is_compacted_on_a_copy(alice: Person) -> None:
    chain = short_session(turns=8)
    recording = alice.imports(chain.data())
    before = list(Entry.objects.values_list("pk", "digest"))
    job = compacted(recording)
    copy = Session.objects.get(uuid=job.result["session"])
    assert copy.pk != recording.pk and copy.is_live
    assert list(Entry.objects.filter(window=window_of(recording)).values_list("pk", "digest")) == before  # fmt: skip
    assert len(boundaries(copy)) == 1
    assert copy.title.endswith("(copy)")
    page = alice.client.get(f"/jobs/{job.uuid}/").content.decode()
    assert f"/sessions/{copy.uuid}/" in page, "the way to what was made"
    jobs.retry(job)
    assert Session.objects.count() == 2
