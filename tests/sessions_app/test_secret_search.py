"""Secrets are looked for behind the writers; stored is where they stand, and nothing twice."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

import pytest
from django.db import OperationalError
from django.test import override_settings

from sessions_app import hidden_secrets, masking, secret_search, store
from sessions_app.entries import window_of
from sessions_app.imports import import_file
from sessions_app.live_sessions import create_session
from sessions_app.models import Agent, Entry, Secret, Session
from sessions_app.payload import record_of
from sessions_app.secret_search import found_values, search_all, search_window
from sessions_app.secret_texts.finding import texts_of
from sessions_app.tasks import search_secrets
from sessions_app.writing import store_as_sent
from tests.builders import Chain, short_session
from tests.conftest import Person, source_of

pytestmark = pytest.mark.django_db

KEY = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
OTHER = "glpat-Xy7_9zQ2mN4pR6tV8wB1"


def told(text: str = f"the key is {KEY}.") -> Chain:
    chain = short_session()
    chain.user(text)
    return chain


def found_in(session: Session) -> list[tuple[int, str]]:
    """Number of the entry, and what the stored place says there is."""
    rows = Secret.objects.filter(entry__window__session=session).select_related("entry")
    return [
        (row.entry.seq, list(texts_of(record_of(row.entry.payload)))[row.text][1][row.start : row.end])
        for row in rows.order_by("entry__seq", "text", "start")
    ]  # fmt: skip


def test_the_task_finds_what_was_imported_and_stores_where_it_stands(alice: Person) -> None:
    session = alice.imports(told(f"{KEY} and {OTHER}").data())
    assert not Secret.objects.exists()
    search_secrets()
    assert found_in(session) == [(8, KEY), (8, OTHER)]
    assert {row.kind for row in Secret.objects.all()} == {"GitHub token", "GitLab token"}
    assert window_of(session).searched_entries == session.entry_count


def test_a_second_search_looks_at_nothing(alice: Person) -> None:
    alice.imports(told().data())
    assert search_all() == 9
    assert search_all() == 0
    assert Secret.objects.count() == 1


def test_what_a_grown_file_adds_is_found_and_nothing_twice(alice: Person) -> None:
    chain = told()
    alice.imports(chain.data())
    search_all()
    chain.user(f"and {OTHER}")
    session = alice.imports(chain.data())
    assert search_all() == 1
    assert found_in(session) == [(8, KEY), (9, OTHER)]


def test_entries_that_are_read_again_are_looked_through_again(alice: Person) -> None:
    chain = told()
    whole = chain.data()
    torn = whole + f'{{"type":"message","id":"x","parentId":"e9","message":{{"role":"user","content":"{OTHER}'.encode()  # fmt: skip
    session = import_file(alice.team, source_of(torn)).session
    search_all()
    import_file(alice.team, source_of(torn + b'"}}\n'))
    search_all()
    assert OTHER in [value for _, value in found_in(session)]


def test_what_is_appended_to_a_live_session_is_found(alice: Person) -> None:
    agent = Agent.objects.create(team=alice.team, name="main", is_live=True)
    session = create_session(agent)
    store.append(session, [{"role": "user", "content": KEY}], store_as_sent)
    search_all()
    store.append(session, [{"role": "user", "content": OTHER}], store_as_sent)
    search_all()
    assert found_in(session) == [(0, KEY), (1, OTHER)]


def test_other_rules_look_through_everything_again(alice: Person) -> None:
    session = alice.imports(told(f"{KEY} of ann@mail.example.org").data())
    search_all()
    assert len(found_in(session)) == 1
    with override_settings(MASK_EMAILS=True):
        search_all()
        assert [value for _, value in found_in(session)] == [KEY, "ann@mail.example.org"]


def test_of_two_who_search_the_slower_one_writes_nothing(alice: Person) -> None:
    session = alice.imports(told().data())
    search = secret_search._secrets

    def slowly(batch: Sequence[Entry]) -> list[Secret]:
        with patch.object(secret_search, "_secrets", search):
            assert search_all() == 9
        return list(search(batch))

    with patch.object(secret_search, "_secrets", slowly):
        assert list(search_window(window_of(session))) == []
    assert found_in(session) == [(8, KEY)]


def test_it_stops_when_its_time_is_over_and_goes_on_later(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secret_search, "AT_A_TIME", 2)
    session = alice.imports(told().data())
    assert search_all(seconds=0) == 2
    while search_all(seconds=0):
        pass
    assert found_in(session) == [(8, KEY)]


def test_a_secret_that_stands_alone_is_hidden_where_its_session_is_shown(alice: Person) -> None:
    session = alice.imports(told("the password = 'correct9horse!'").data())
    hidden_secrets._nothing_shown()
    bare = "it was correct9horse! and no other"
    assert masking.mask(bare) == bare
    hidden_secrets.showing(session)
    assert "correct9horse" not in masking.mask(bare)
    assert "correct9" not in masking.mask_beginning("it was correct9")
    hidden_secrets._nothing_shown()


def test_pages_are_shown_while_nothing_can_be_written(alice: Person) -> None:
    session = alice.imports(told().data())
    with patch.object(secret_search, "_begin_again", side_effect=OperationalError("locked")):
        assert found_values(session.pk) == ()
    assert KEY not in alice.client.get(f"/sessions/{session.uuid}/entries/8/").text


def test_deleting_a_session_takes_what_was_found_along(alice: Person) -> None:
    session = alice.imports(told().data())
    search_all()
    session.delete()
    assert not Secret.objects.exists()
    assert not Entry.objects.exists()


def test_a_text_that_comes_back_from_a_form_has_its_secrets_again() -> None:
    before = f"TOKEN={KEY}\npassword: 'correct9horse!'"
    shown = masking.mask(before)
    assert KEY not in shown and "correct9horse" not in shown
    assert hidden_secrets.restored(shown + "\nnew line", before) == before + "\nnew line"
    assert hidden_secrets.restored("[masked: API key 00000000]", before).startswith("[masked")
    value = {"a": [before], "password": "correcthorse"}
    assert hidden_secrets.restored(masking.mask_all(value), value) == value


def test_masking_twice_is_masking_once() -> None:
    once = masking.mask(f"export GITHUB_TOKEN={KEY}; password = 'correct9horse!'")
    assert masking.mask(once) == once
