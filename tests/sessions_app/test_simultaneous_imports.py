"""Two imports of one file at the same time make one session, and every entry once."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from sessions_app import imports, window_writing
from sessions_app.imports import import_file
from sessions_app.models import Entry, Session, Window
from tests.builders import short_session
from tests.conftest import Person, source_of

pytestmark = pytest.mark.django_db


def test_two_that_begin_together_make_one_session(alice: Person) -> None:
    """The second looks for the file after the first has looked and before it has claimed it."""
    data = short_session(turns=10).data()
    real, statuses = imports.known_window, []

    def looked(*arguments: Any) -> Any:
        found = real(*arguments)
        if not statuses:
            statuses.append("begun")
            statuses.append(import_file(alice.team, source_of(data)).status)
        return found

    with patch.object(imports, "known_window", looked):
        done = import_file(alice.team, source_of(data))
    assert statuses[1:] == ["imported"]
    assert done.session == Session.objects.get()
    assert Entry.objects.count() == 40


def test_one_that_died_before_its_first_batch_is_continued(alice: Person) -> None:
    data = short_session(turns=10).data()
    died = patch.object(window_writing, "entry_values", side_effect=KeyboardInterrupt)
    with died, pytest.raises(KeyboardInterrupt):
        import_file(alice.team, source_of(data))
    assert Window.objects.get().content_bytes == 0
    import_file(alice.team, source_of(data))
    assert (Session.objects.count(), Entry.objects.count()) == (1, 40)


@pytest.mark.parametrize("batches", [0, 1, 3])
def test_one_that_is_overtaken_between_two_batches_goes_on_where_the_other_is(
    alice: Person, batches: int
) -> None:
    data = short_session(turns=10).data()
    left = batches

    def progress(done: int) -> None:
        nonlocal left
        left -= 1
        if left == -1:
            other = import_file(alice.team, source_of(data))
            assert other.status == "extended"

    with patch.object(window_writing, "BATCH_ENTRIES", 6):
        done = import_file(alice.team, source_of(data), progress=progress)
    assert done.session == Session.objects.get()
    assert Entry.objects.count() == Window.objects.get().entry_count == 40
    assert Session.objects.get().facts["turns"] == 10
