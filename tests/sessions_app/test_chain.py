"""The hash chain of a window: every way in keeps it, and nothing stored fits it once it is changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app import store
from sessions_app.batches import import_files
from sessions_app.chain import BEGINNING, LINKED, Chain, entry_link
from sessions_app.imports import Source, import_file
from sessions_app.live_sessions import create_session
from sessions_app.models import Agent, Entry, Session, Team, Window
from sessions_app.payload import unpack
from sessions_app.recount import recount
from sessions_app.writing import store_as_sent
from tests.builders import header, jsonl, short_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Team:
    return Team.objects.create(name="ours")


def links_of(window: Window) -> list[bytes]:
    """The links as they must be, worked out from what is stored, with nothing but the primitives."""
    link, found = BEGINNING, []
    for row in Entry.objects.filter(window=window).order_by("seq"):
        columns = [getattr(row, name) for name in LINKED]
        link = entry_link(link, columns, bytes(row.digest), unpack(row.payload))
        found.append(link)
    return found


def holds(window: Window) -> bool:
    window.refresh_from_db()
    stored = Entry.objects.filter(window=window).order_by("seq").values_list("link", flat=True)
    links = links_of(window)
    assert links
    return (
        [bytes(link or b"") for link in stored] == links
        and bytes(window.link) == links[-1]
        and window.linked_entries == window.entry_count == len(links)
    )


def imported(team: Team, path: Path) -> Window:
    return import_file(team, Source.of_path(path, path.name)).session.windows.get()


def live(team: Team) -> Session:
    agent = Agent.objects.create(team=team, name="main", is_live=True)
    return create_session(agent)


def say(session: Session, *texts: str) -> None:
    said: list[dict[str, Any]] = [{"role": "user", "content": text} for text in texts]
    store.append(session, said, store_as_sent)


def test_an_imported_file_is_a_chain_and_so_is_one_that_has_grown(
    team: Team, tmp_path: Path
) -> None:
    records = short_session(turns=4).records
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(*records[:5]))
    window = imported(team, path)
    before = bytes(window.link)
    assert holds(window)

    path.write_bytes(jsonl(*records))
    again = imported(team, path)

    assert again.pk == window.pk
    assert holds(again)
    assert before in links_of(again)


def test_entries_that_a_file_tells_anew_are_linked_anew(team: Team, tmp_path: Path) -> None:
    def line(number: int, uuid: str, text: str) -> dict[str, Any]:
        said = {
            "role": "assistant",
            "id": "m1",
            "content": [{"type": "text", "text": text}],
            "model": "m",
        }
        user = {"role": "user", "content": text}
        return {
            "type": "user" if number == 0 else "assistant", "uuid": uuid, "sessionId": "s", "message": said if number else user,
            "parentUuid": None if number == 0 else "u0", "timestamp": f"2026-01-01T00:00:0{number}.000Z", "version": "1",
        }  # fmt: skip

    lines = [line(0, "u0", "hello"), line(1, "u1", "one"), line(2, "u2", "two")]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines[:2]))
    window = imported(team, path)
    last = bytes(window.link)
    assert holds(window)

    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    again = imported(team, path)

    assert again.pk == window.pk
    assert holds(again)
    assert last not in links_of(again)  # the answer went on, so its entry is another one


def test_what_is_appended_to_a_live_session_is_linked(team: Team) -> None:
    session = live(team)
    say(session, "one", "two")
    say(session, "three \ud83d\ude00 \x00 \ud800")

    assert holds(session.windows.get())


def test_the_same_file_has_the_same_links_wherever_it_is_imported(
    team: Team, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(*short_session(turns=3).records))
    one, other = (imported(t, path) for t in (team, Team.objects.create(name="theirs")))

    assert one.pk != other.pk
    assert bytes(one.link) == bytes(other.link) != BEGINNING


def test_a_fork_has_a_chain_of_its_own(team: Team) -> None:
    parent = live(team)
    say(parent, "one", "two")
    assert parent.agent is not None
    child = create_session(parent.agent, parent=parent, fork=True)

    say(parent, "three")
    say(child, "four")

    assert holds(child.windows.get())
    assert holds(parent.windows.get())


def test_an_append_looks_at_no_entry_to_link_to(team: Team) -> None:
    session = live(team)
    say(session, *("text" for _ in range(50)))
    with CaptureQueriesContext(connection) as queries:
        say(session, "one more")
    reads = [q["sql"] for q in queries if q["sql"].startswith("SELECT")]
    assert not any('FROM "sessions_app_entry"' in sql for sql in reads)


def test_counting_by_another_vocabulary_leaves_the_chain(team: Team) -> None:
    session = live(team)
    say(session, "one", "two")
    recount(session, "cl100k_base")

    assert holds(session.windows.get())


@pytest.mark.parametrize("column", [name for name in LINKED if name != "seq"])
def test_no_column_can_be_changed_unseen(team: Team, column: str) -> None:
    session = live(team)
    say(session, "one", "two")
    window = session.windows.get()
    field = Entry._meta.get_field(column)
    other = "x" if field.get_internal_type() in ("CharField", "TextField") else 7
    Entry.objects.filter(window=window, seq=1).update(**{column: True if column == "is_wide" else other})  # fmt: skip

    assert not holds(window)


def test_neither_bytes_nor_order_nor_number_can(team: Team) -> None:
    for change in (
        lambda rows: rows.filter(seq=1).update(payload=b'{"type":"message"}'),
        lambda rows: rows.filter(seq=1).delete(),
        lambda rows: rows.filter(seq=2).delete(),
        lambda rows: (rows.filter(seq=1).update(seq=9), rows.filter(seq=2).update(seq=1), rows.filter(seq=9).update(seq=2)),
    ):  # fmt: skip
        session = live(team)
        say(session, "one", "two", "three")
        window = session.windows.get()
        change(Entry.objects.filter(window=window))
        assert not holds(window)


def test_behind_entries_without_links_none_is_made(team: Team) -> None:
    session = live(team)
    say(session, "one")
    window = session.windows.get()
    Entry.objects.filter(window=window).update(link=None)
    Window.objects.filter(pk=window.pk).update(link=b"", linked_entries=0)
    say(session, "two")

    window.refresh_from_db()
    assert (window.linked_entries, bytes(window.link)) == (0, BEGINNING)
    assert set(window.entries.values_list("link", flat=True)) == {None}


def test_a_file_of_several_threads_gives_each_its_chain(team: Team) -> None:
    folder = Path("tests/data/transcripts")
    paths = sorted(folder.rglob("*.jsonl"), key=lambda path: path.stat().st_size)[:12]
    list(import_files(team, [Source.of_path(path, path.name) for path in paths]))

    windows = [window for window in Window.objects.all() if window.entry_count]
    assert len(windows) >= 5
    assert all(holds(window) for window in windows)


def test_a_chain_is_cut_where_it_is_asked_to_be(team: Team) -> None:
    session = live(team)
    say(session, "one", "two", "three")
    window = session.windows.get()
    links = links_of(window)
    for first, link in ((2, links[1]), (1, links[0]), (0, BEGINNING), (3, links[2])):
        chain = Chain(window)
        chain.cut(first)
        assert (chain.link, chain.entries) == (link, first)


def test_a_header_alone_begins_nothing(team: Team, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(header(3, "s")))
    window = imported(team, path)

    assert (bytes(window.link), window.linked_entries) in ((b"", 0), (BEGINNING, 0))
