"""Stores in the database: every session once, as the store has it, whatever came before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from sessions_app.batches import FileReport, import_files
from sessions_app.folders import walk
from sessions_app.imports import Source
from sessions_app.models import Agent, Entry, Session, Window
from sessions_app.rows import entries_of_window
from tests.builders import header, jsonl, short_session
from tests.conftest import Person, source_of
from tests.stores import REAL, Store

pytestmark = pytest.mark.django_db


def records(identity: str = "s1", turns: int = 2) -> list[dict[str, Any]]:
    return [header(4, identity), *short_session(turns=turns).records[1:]]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder."""
    (tmp_path / "agents" / "main" / "sessions").mkdir(parents=True)
    (tmp_path / "openclaw.json").write_text('{"agents": {}}')
    return tmp_path


@pytest.fixture
def store(state: Path) -> Iterator[Store]:
    made = Store(state / "agents" / "main" / "agent")
    made.session("s1", records(), entry={"totalTokens": 123, "compactionCount": 0})
    yield made
    made.close()


def imported(person: Person, folder: Path) -> list[FileReport]:
    sources = [Source.of_path(path, path.relative_to(folder).as_posix()) for path in walk(folder)]
    return list(import_files(person.team, sources, root=folder))


def of_store(reports: list[FileReport]) -> FileReport:
    (report,) = (each for each in reports if each.path.endswith(".sqlite"))
    return report


def test_the_sessions_of_a_live_store_belong_to_its_agent(
    alice: Person, state: Path, store: Store
) -> None:
    report = of_store(imported(alice, state))
    assert (report.status, report.error) == ("imported", "")
    session = Session.objects.get()
    assert report.sessions == (session,)
    assert session.agent == Agent.objects.get()
    assert (session.agent.name, session.agent.config_text) == ("main", '{"agents": {}}')
    assert (session.key, session.runtime_version) == ("agent:main:main", "2026.9.6")
    assert session.index_entry["totalTokens"] == 123
    assert (session.entry_count, session.facts["turns"], session.facts["lines"]) == (8, 2, 9)
    window = Window.objects.get()
    assert (window.version, window.from_store, window.reason) == (4, True, "initial")


def test_the_same_store_again_changes_nothing(alice: Person, state: Path, store: Store) -> None:
    imported(alice, state)
    before = list(Session.objects.values())
    assert of_store(imported(alice, state)).status == "unchanged"
    assert list(Session.objects.values()) == before


def test_new_rows_are_added_to_those_that_are_stored(
    alice: Person, state: Path, store: Store
) -> None:
    imported(alice, state)
    first = list(Entry.objects.order_by("seq").values_list("pk", flat=True))
    more = short_session(turns=4).records[9:]
    store.append("s1", more, packed=True)
    assert of_store(imported(alice, state)).status == "extended"
    assert list(Entry.objects.order_by("seq").values_list("pk", flat=True))[:8] == first
    entries = list(entries_of_window(Window.objects.get()))
    assert [entry.parent_seq for entry in entries] == [None, *range(15)]
    assert [entry.line for entry in entries] == list(range(2, 18))


def test_changed_counters_alone_are_taken_over(alice: Person, state: Path, store: Store) -> None:
    imported(alice, state)
    store.db.execute("UPDATE session_nodes SET entry_json = '{\"totalTokens\": 9}'")
    assert of_store(imported(alice, state)).status == "extended"
    assert Session.objects.get().index_entry == {"totalTokens": 9}


def test_rewritten_rows_take_the_place_of_those_before(
    alice: Person, state: Path, store: Store
) -> None:
    imported(alice, state)
    uuid = Session.objects.get().uuid
    store.rewrite("s1", records(turns=1), "second")
    assert of_store(imported(alice, state)).status == "extended"
    session = Session.objects.get()
    assert (session.uuid, session.entry_count, Entry.objects.count()) == (uuid, 4, 4)


def test_every_session_of_a_key_is_kept_with_the_reason_it_began(
    alice: Person, state: Path, store: Store
) -> None:
    store.session("s2", records("s2"), previous="s1", reason="reset", packed=True)
    imported(alice, state)
    first, second = Window.objects.order_by("pk")
    assert (second.reason, second.previous_id, first.external_id) == ("reset", "s1", "s1")
    assert first.session.key == second.session.key == "agent:main:main"
    assert first.session.index_entry is None
    assert second.session.index_entry == {"sessionId": "s2"}


def test_a_session_without_events_is_none(alice: Person, state: Path, store: Store) -> None:
    store.session("empty", [], "agent:main:other")
    imported(alice, state)
    assert Session.objects.count() == 1


def test_the_store_wins_for_a_session_that_is_in_both(
    alice: Person, state: Path, store: Store
) -> None:
    """What was imported from the file of the older version becomes the session of the store."""
    old = state / "agents" / "main" / "sessions" / "s1.jsonl"
    old.write_bytes(jsonl(header(3, "s1"), *short_session(turns=1).records[1:]))
    other = old.with_name("s0.jsonl")
    other.write_bytes(jsonl(header(3, "s0"), *short_session(turns=3).records[1:]))
    store.path.rename(store.path.with_name("not.yet"))
    imported(alice, state)
    uuid = Window.objects.get(external_id="s1").session.uuid
    store.path.with_name("not.yet").rename(store.path)
    reports = {report.path.rsplit("/", 1)[-1]: report for report in imported(alice, state)}
    assert "SQLite store" in reports["s1.jsonl"].error
    assert reports["s0.jsonl"].status == "unchanged"
    window = Window.objects.get(external_id="s1")
    assert (window.session.uuid, window.from_store, window.entry_count) == (uuid, True, 8)
    assert Session.objects.count() == 2
    assert of_store(imported(alice, state)).status == "unchanged"


@pytest.mark.parametrize("why", ["reset", "deleted", "archived"])
def test_files_that_were_put_aside_are_found_and_marked(
    alice: Person, state: Path, why: str
) -> None:
    folder = state / "agents" / "main" / "sessions"
    name = f"s7.jsonl.{why}.2026-01-01T00-00-00.000Z"
    (folder / name).write_bytes(jsonl(header(3, "s7"), *short_session().records[1:]))
    imported(alice, state)
    assert Window.objects.get().put_aside == why
    page = alice.client.get("/").content.decode()
    assert why in page


def test_a_store_that_is_sent_with_its_log_is_read_with_it(alice: Person, store: Store) -> None:
    names = ("", "-wal", "-shm")
    sources = [
        source_of(Path(f"{store.path}{side}").read_bytes(), f"{store.path.name}{side}")
        for side in names
    ]
    (report,) = import_files(alice.team, sources)
    assert (report.status, len(report.sessions)) == ("imported", 1)
    assert Session.objects.get().entry_count == 8


def test_a_store_can_be_dropped_on_the_list(alice: Person, store: Store) -> None:
    files = [
        SimpleUploadedFile(f"{store.path.name}{side}", Path(f"{store.path}{side}").read_bytes())
        for side in ("", "-wal", "-shm")
    ]
    alice.client.post("/upload/", {"files": files}, follow=True)
    assert Session.objects.get().entry_count == 8


def test_a_real_store_gives_the_runs_compactions(alice: Person) -> None:
    (report,) = import_files(alice.team, [source_of(REAL.read_bytes(), "openclaw-agent.sqlite")])
    (session,) = report.sessions
    assert session.entry_count == 48
    assert session.facts["compactions"] == 4
    assert session.facts["problems"] == 0
    assert session.agent.name == "main"


def test_what_is_no_store_is_refused_and_the_rest_goes_on(alice: Person) -> None:
    sources = [source_of(b"text", "openclaw-agent.sqlite"), source_of(short_session().data())]
    reports = list(import_files(alice.team, sources))
    assert sorted(report.status for report in reports) == ["imported", "refused"]
    assert Session.objects.count() == 1


def test_another_teams_store_of_the_same_agent_is_another(
    alice: Person, bob: Person, state: Path, store: Store
) -> None:
    imported(alice, state)
    imported(bob, state)
    assert Session.objects.filter(team=alice.team).count() == 1
    assert Session.objects.filter(team=bob.team).count() == 1
