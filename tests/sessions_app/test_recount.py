"""Counting a session anew by another vocabulary."""

from __future__ import annotations

import pytest
from django.urls import reverse

from sessions_app import recount, tasks
from sessions_app.loaded import columns_of
from sessions_app.models import Entry, Job, Session
from sessions_app.recount import UnknownEncoding, request_recount
from sessions_app.tokens import exact
from tests.builders import Chain, short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db

TEXT = "漢字かな交じり文 and some more"


def session_of(person: Person) -> Session:
    chain = short_session()
    chain.user(TEXT)
    chain.compaction("e1", TEXT)
    return person.imports(chain.data())


def counts() -> list[int | None]:
    return list(Entry.objects.order_by("seq").values_list("exact", flat=True))


def test_every_entry_is_counted_by_the_new_vocabulary_and_back(alice: Person) -> None:
    session = session_of(alice)
    before = counts()
    assert request_recount(session, "cl100k_base") is None
    after = counts()
    assert after != before
    assert after[-2:] == [exact.count(TEXT, "cl100k_base")] * 2
    session.refresh_from_db()
    assert session.encoding == "cl100k_base"
    assert columns_of(session.windows.get()).exact.tolist() == after
    request_recount(session, "o200k_base")
    assert counts() == before


def test_it_is_the_count_that_an_import_would_have_made(alice: Person, bob: Person) -> None:
    chain = Chain()
    chain.user(TEXT)
    chain.assistant(TEXT, calls=("c",), model="gpt-4")
    theirs = bob.imports(chain.data())
    assert theirs.encoding == "cl100k_base"
    chain.records[2]["message"]["model"] = "claude"
    mine = alice.imports(chain.data())
    request_recount(mine, "cl100k_base")
    found = Entry.objects.filter(window__session=mine, role="assistant").get().exact
    assert found == Entry.objects.filter(window__session=theirs, role="assistant").get().exact


def test_an_unknown_vocabulary_is_refused(alice: Person) -> None:
    session = session_of(alice)
    with pytest.raises(UnknownEncoding, match="known: o200k_base, cl100k_base"):
        request_recount(session, "p50k_base")


def test_a_long_session_is_counted_by_a_worker(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recount, "AT_ONCE_ENTRIES", 3)
    monkeypatch.setattr(recount, "BATCH", 4)
    session = session_of(alice)
    job = request_recount(session, "cl100k_base")
    assert job is not None
    before = counts()
    for _ in range(2):
        tasks.recount_session(str(job.uuid))
    job.refresh_from_db()
    assert (job.state, job.done, job.total, job.attempts) == ("succeeded", 10, 10, 1)
    assert counts() != before
    assert Session.objects.get().encoding == "cl100k_base"


def test_the_page_asks_for_it(alice: Person, bob: Person) -> None:
    session = session_of(alice)
    address = reverse("encoding", args=[session.uuid])
    assert alice.client.get(address).status_code == 405
    assert bob.client.post(address, {"encoding": "cl100k_base"}).status_code == 404
    answer = alice.client.post(address, {"encoding": "cl100k_base"})
    assert answer["Location"] == reverse("entries", args=[session.uuid])
    assert "cl100k_base" in alice.client.get(answer["Location"]).content.decode()
    alice.client.post(address, {"encoding": "<b>"})
    session.refresh_from_db()
    assert session.encoding == "cl100k_base"
    assert not Job.objects.exists()
