"""Parents and their subagents as a tree, each with its own budget, announcements found."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client

from compaction_app.family import family
from compaction_app.runs import write_summary
from sessions_app.batches import import_files
from sessions_app.models import Entry, Session, Team
from tests.compaction_app.audited import sources
from tests.compaction_app.pages.test_turn import plain
from tests.conftest import Person
from tests.golden import runs


@pytest.fixture
def pair(team: Team) -> tuple[Session, Session]:
    """The parent and the child of a recorded run."""
    list(import_files(team, sources(runs.folder("subagent"))))
    for session in Session.objects.all():
        write_summary(session)
    parent = Session.objects.get(key="agent:main:main")
    return parent, Session.objects.get(key__contains=":subagent:")


def test_both_pages_show_the_same_tree(viewer: Client, pair: tuple[Session, Session]) -> None:
    parent, child = pair
    for session in pair:
        members = family(session)
        assert [(m.session.pk, m.depth) for m in members] == [(parent.pk, 0), (child.pk, 1)]
        assert [m.is_shown for m in members] == [m.session.pk == session.pk for m in members]

    text = plain(viewer.get(f"/sessions/{child.uuid}/").text)

    assert "Subagents each session has a window and lines of its own" in text
    assert "chat 64,000" in text
    assert "reader agent 64,000" in text


def test_each_has_the_lines_of_its_own_path(pair: tuple[Session, Session]) -> None:
    parent, child = family(pair[0])

    assert dict(parent.lines) == {"flush": 40_000, "inner_threshold": 44_000}
    assert dict(child.lines) == {"inner_threshold": 44_000}


def test_the_announcement_in_the_parent_is_found(
    viewer: Client, pair: tuple[Session, Session]
) -> None:
    _, child = family(pair[1])

    assert child.announced is not None
    entry = Entry.objects.get(window__session=pair[0], seq=child.announced.seq)
    before = Entry.objects.get(window__session=pair[0], seq=child.announced.seq - 1)
    assert (entry.role, before.role, before.stop_reason) == ("assistant", "assistant", "stop")
    page = viewer.get(f"/sessions/{pair[0].uuid}/")
    assert f'/sessions/{pair[0].uuid}/entries/{entry.seq}/"' in page.text


def test_an_announcement_comes_after_its_child_has_ended(pair: tuple[Session, Session]) -> None:
    last = Entry.objects.filter(window__session=pair[0]).latest("seq")
    assert last.at_ms is not None
    late = datetime.fromtimestamp(last.at_ms / 1000 + 60, UTC)
    Session.objects.filter(pk=pair[1].pk).update(last_at=late)

    _, child = family(pair[0])

    assert child.announced is None


def test_a_session_alone_has_no_family(pair: tuple[Session, Session], viewer: Client) -> None:
    pair[1].delete()

    assert family(pair[0]) == []
    assert 'id="family"' not in viewer.get(f"/sessions/{pair[0].uuid}/").text


def test_live_children_hang_below_their_parent(team: Team) -> None:
    root = Session.objects.create(team=team, title="root")
    first = Session.objects.create(team=team, title="first", parent=root)
    Session.objects.create(team=team, title="second", parent=root)
    Session.objects.create(team=team, title="grandchild", parent=first)

    told = [(m.session.title, m.depth) for m in family(first)]

    assert told == [("root", 0), ("first", 1), ("grandchild", 2), ("second", 1)]


def test_a_circle_of_parents_ends(team: Team) -> None:
    one = Session.objects.create(team=team, title="one")
    two = Session.objects.create(team=team, title="two", parent=one)
    one.parent = two
    one.save()

    assert len(family(one)) == 2


def test_another_teams_session_of_the_same_key_is_no_relative(
    bob: Person, pair: tuple[Session, Session]
) -> None:
    list(import_files(bob.team, sources(runs.folder("subagent"))))

    assert [m.session.team_id for m in family(pair[0])] == [pair[0].team_id] * 2
