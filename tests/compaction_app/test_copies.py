"""What is done to a recording is done on a copy; the recording itself stays."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import reverse

from compaction_app import live_turns
from compaction_app.audits import audit_session
from compaction_app.models import AuditedTurn, Decision, FlushRecord, MemoryNote
from sessions_app import jobs
from sessions_app.entries import window_of
from sessions_app.live_sessions import rename_session
from sessions_app.models import Entry, Session
from tests.builders import Chain, short_session, usage
from tests.compaction_app import flushing
from tests.compaction_app.compacting import boundaries, compacted
from tests.compaction_app.live import answer, user
from tests.conftest import Person

pytestmark = pytest.mark.django_db
TITLE = re.compile(
    r"^the-session · (compacted|flushed) \d{4}-\d\d-\d\d \d\d:\d\d UTC · copy (\d+)$"
)


def copy_of(job: Any) -> Session:
    return Session.objects.get(uuid=job.result["session"])


def turns_of(session: Session) -> set[int]:
    return set(Decision.objects.filter(session=session).values_list("turn", flat=True))


def unfinished(turns: int) -> Chain:
    """A recording that breaks off behind the second call of its last turn."""
    chain = short_session(turns=turns)
    chain.user("And now?")
    for number in (1, 2):
        chain.assistant(
            "", usage(2_000 + number, 20), calls=(f"late-{number}",), stopReason="toolUse"
        )
        chain.result(f"late-{number}", "A file. " * 30)
    return chain


def test_a_recording_is_compacted_on_a_copy(alice: Person) -> None:
    chain = short_session(turns=8)
    recording = alice.imports(chain.data())
    before = list(Entry.objects.values_list("pk", "digest"))
    job = compacted(recording)
    copy = copy_of(job)
    assert copy.pk != recording.pk and copy.is_live and copy.copied_from == recording
    assert list(Entry.objects.filter(window=window_of(recording)).values_list("pk", "digest")) == before  # fmt: skip
    assert len(boundaries(copy)) == 1
    page = alice.client.get(f"/jobs/{job.uuid}/").content.decode()
    assert f"/sessions/{copy.uuid}/" in page, "the way to what was made"
    jobs.retry(job)
    assert Session.objects.count() == 2


def test_a_copy_is_named_by_what_was_done_and_when(alice: Person) -> None:
    recording = alice.imports(short_session(turns=8).data())
    rename_session(recording, "the-session")
    copies = [copy_of(compacted(recording)), flushing.flushed(recording).session]
    copies.append(copy_of(compacted(recording, instructions="the ports")))
    found = [TITLE.match(copy.title) for copy in copies]
    assert [match and match.groups() for match in found] == [
        ("compacted", "1"), ("flushed", "2"), ("compacted", "3"),
    ]  # fmt: skip


def test_a_long_title_leaves_room_for_what_was_done(alice: Person) -> None:
    recording = alice.imports(short_session(turns=8).data())
    rename_session(recording, "日本" * 100)
    copy = copy_of(compacted(recording))
    assert len(copy.title) <= 200 and copy.title.endswith("copy 1")


def test_decisions_of_a_copy_stand_behind_the_turns_of_its_recording(alice: Person) -> None:
    recording = alice.imports(short_session(turns=8).data())
    copy = copy_of(compacted(recording))
    assert turns_of(copy) == {9}
    (row,) = Decision.objects.filter(session=copy, stage="compaction")
    assert (row.attempt, row.call) == (0, 1)
    assert flushing.flushed(recording).session.memory_notes.get().turn == 9


def test_in_a_turn_that_goes_on_they_stand_before_its_next_call(alice: Person) -> None:
    recording = alice.imports(unfinished(3).data())
    copy = copy_of(compacted(recording))
    places = Decision.objects.filter(session=copy).values_list("turn", "attempt", "call")
    assert set(places) == {(4, 1, 3)}


def test_a_copy_counts_turns_as_the_audit_of_its_recording_does(alice: Person) -> None:
    """A flush is no turn; a compaction of the recording is none either."""
    chain = short_session(turns=3)
    chain.user("Pre-compaction memory flush. Store durable memories now.")
    chain.assistant("NO_REPLY", usage(1_500, 5))
    chain.compaction(chain.records[-1]["id"])
    chain.user("Once more")
    chain.assistant("Yes", usage(900, 5))
    recording = alice.imports(chain.data())
    audit_session(recording)
    audited = AuditedTurn.objects.filter(session=recording).count()
    job = compacted(recording)
    copy = copy_of(job)
    assert copy.run == {"turn": audited}


def test_a_copy_goes_on_with_the_turn_it_was_made_in(alice: Person) -> None:
    copy = copy_of(compacted(alice.imports(unfinished(3).data())))
    step = live_turns.prepare(copy).next
    assert step.action in ("send", "compact", "flush")
    live_turns.report_call(copy, [answer("At last", prompt=3_000)])
    live_turns.report_call(copy, [user("Next"), answer("Yes", prompt=3_100)])
    assert max(turns_of(copy)) == 5


def test_a_recording_without_a_prompt_is_copied_as_well(alice: Person) -> None:
    chain = Chain()
    chain.assistant("Hello?", usage(900, 5))
    recording = alice.imports(chain.data())
    job = compacted(recording)
    assert copy_of(job).run == {}


# Where they are found


def test_the_list_shows_copies_with_their_recording(alice: Person) -> None:
    recording = alice.imports(short_session(turns=8).data())
    copy = copy_of(compacted(recording))
    html = alice.client.get("/").content.decode()
    assert html.count('<th scope="row">') == 1, "one row for both"
    assert "1 copy" in html and reverse("session", args=[copy.uuid]) in html
    found = alice.client.get("/", {"q": "copy 1"}).content.decode()
    assert found.count('<th scope="row">') == 1
    assert "copy of <a" in found and reverse("session", args=[recording.uuid]) in found


def test_both_pages_lead_to_the_other(alice: Person) -> None:
    recording = alice.imports(short_session(turns=8).data())
    copy = copy_of(compacted(recording))
    for one, other in ((recording, copy), (copy, recording)):
        html = alice.client.get(reverse("session", args=[one.uuid])).content.decode()
        assert reverse("session", args=[other.uuid]) in html


def test_a_copy_outlives_its_recording_and_then_stands_alone(alice: Person) -> None:
    recording = alice.imports(short_session(turns=8).data())
    copy = copy_of(compacted(recording))
    recording.delete()
    html = alice.client.get("/").content.decode()
    assert reverse("session", args=[copy.uuid]) in html and html.count('<th scope="row">') == 1


def test_totals_over_all_sessions_count_a_conversation_once(alice: Person) -> None:
    recording = alice.imports(short_session(turns=8).data())
    copy = copy_of(compacted(recording))
    html = alice.client.get(reverse("compare-sessions")).content.decode()
    assert reverse("session", args=[recording.uuid]) in html
    assert reverse("session", args=[copy.uuid]) not in html


def test_a_recording_is_flushed_on_a_copy(alice: Person) -> None:
    recording = alice.imports(short_session(turns=3).data())
    record = flushing.flushed(recording)
    assert record.session.copied_from == recording
    assert Entry.objects.filter(window=window_of(recording)).count() == 12
    assert FlushRecord.objects.count() == MemoryNote.objects.count() == 1
