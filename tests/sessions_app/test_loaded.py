"""What was looked at lately is kept, and never shown when it is no longer true."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app import loaded
from sessions_app.models import Session
from tests.builders import short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def test_a_window_is_loaded_once(alice: Person) -> None:
    window = alice.imports(short_session().data()).windows.get()
    first = loaded.timeline_of(window)
    window.session  # noqa: B018 - so that only the columns could be asked for
    with CaptureQueriesContext(connection) as captured:
        assert loaded.timeline_of(window) is first
        assert loaded.columns_of(window) is loaded.columns_of(window)
    assert len(captured) == 0


def test_a_window_that_has_grown_is_loaded_again(alice: Person) -> None:
    chain = short_session()
    session = alice.imports(chain.data())
    assert loaded.timeline_of(session.windows.get()).calls == 4
    chain.assistant()
    alice.imports(chain.data())
    assert loaded.timeline_of(Session.objects.get().windows.get()).calls == 5


def test_each_branch_has_a_timeline_of_its_own(alice: Person) -> None:
    chain = short_session()
    chain.user(below="e2")
    chain.assistant()
    window = alice.imports(chain.data()).windows.get()
    assert loaded.timeline_of(window).calls == 2
    assert loaded.timeline_of(window, 7).calls == 4


def test_only_so_many_are_kept(alice: Person) -> None:
    for number in range(loaded.KEPT + 3):
        loaded.timeline_of(alice.imports(short_session(f"s{number}").data()).windows.get())
    assert len(loaded._timelines) <= loaded.KEPT
    assert len(loaded._columns) <= loaded.KEPT
