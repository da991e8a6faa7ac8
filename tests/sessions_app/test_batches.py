"""Files that belong together: the index and the configuration find their sessions."""

from __future__ import annotations

import json
from io import BytesIO

import pytest
from django.db import DatabaseError

from sessions_app import batches
from sessions_app.batches import FileReport, import_files
from sessions_app.imports import Source
from sessions_app.models import Agent, Session
from tests.builders import short_session
from tests.conftest import Person, source_of

pytestmark = pytest.mark.django_db

ID = "11111111-2222-4333-8444-555555555555"
FOLDER = "agents/main/sessions/"


def files(**changes: bytes) -> dict[str, bytes]:
    index = {"agent:main:main": {"sessionId": ID, "contextTokens": 32000, "odd": "\ud800\x00"}}
    return {
        "openclaw.json": b"// mine\n{agents: {defaults: {}}}",
        FOLDER + "sessions.json": json.dumps(index).encode(),
        FOLDER + f"{ID}.jsonl": short_session().data(),
    } | {name: data for name, data in changes.items() if data is not None}


def imported(person: Person, named: dict[str, bytes]) -> list[FileReport]:
    return list(import_files(person.team, [source_of(data, name) for name, data in named.items()]))


def statuses(reports: list[FileReport]) -> dict[str, str]:
    return {report.path.rsplit("/", 1)[-1]: report.status for report in reports}


def test_a_state_folder_gives_sessions_with_their_key_and_agent(alice: Person) -> None:
    reports = imported(alice, files())
    assert set(statuses(reports).values()) == {"imported"}
    assert all(not report.error for report in reports)
    session = Session.objects.get()
    assert (session.key, session.title) == ("agent:main:main", "main")
    assert session.index_entry == {"sessionId": ID, "contextTokens": 32000, "odd": "?\ufffd"}
    assert session.agent is not None
    assert (session.agent.name, session.agent.team) == ("main", alice.team)
    assert session.agent.config_text.startswith("// mine")


def test_everything_again_changes_nothing(alice: Person) -> None:
    imported(alice, files())
    assert set(statuses(imported(alice, files())).values()) == {"unchanged"}
    assert Session.objects.count() == Agent.objects.count() == 1


def test_a_changed_index_entry_reaches_its_session(alice: Person) -> None:
    imported(alice, files())
    index = json.dumps({"agent:main:main": {"sessionId": ID, "totalTokens": 5}}).encode()
    reports = imported(alice, files() | {FOLDER + "sessions.json": index})
    assert statuses(reports) == {
        "openclaw.json": "unchanged",
        "sessions.json": "imported",
        f"{ID}.jsonl": "extended",
    }
    assert Session.objects.get().index_entry == {"sessionId": ID, "totalTokens": 5}


def test_a_session_that_was_there_alone_gets_its_agent_later(alice: Person) -> None:
    data = files()[FOLDER + f"{ID}.jsonl"]
    imported(alice, {f"{ID}.jsonl": data})
    assert Session.objects.get().agent is None
    imported(alice, files())
    session = Session.objects.get()
    assert session.agent is not None
    assert session.key == "agent:main:main"


def test_a_changed_configuration_is_told_to_the_floor_above(alice: Person) -> None:
    imported(alice, files())
    reports = imported(alice, files(**{"openclaw.json": b"{agents: {}}"}))
    assert statuses(reports)["openclaw.json"] == "extended"
    assert Agent.objects.get().config_text == "{agents: {}}"


def test_a_configuration_that_cannot_be_read_is_refused_and_the_old_one_stays(
    alice: Person,
) -> None:
    imported(alice, files())
    reports = imported(alice, files(**{"openclaw.json": b"{agents: "}))
    refused = next(r for r in reports if r.path == "openclaw.json")
    assert refused.status == "refused"
    assert "JSON5" in refused.error
    assert Agent.objects.get().config_text.startswith("// mine")


@pytest.mark.parametrize("data", [b"", b"{", b"[]"])
def test_an_index_that_cannot_be_read_costs_only_itself(alice: Person, data: bytes) -> None:
    reports = imported(alice, files() | {FOLDER + "sessions.json": data})
    assert statuses(reports)["sessions.json"] == "refused"
    assert statuses(reports)[f"{ID}.jsonl"] == "imported"
    assert Session.objects.get().index_entry is None


def test_the_topic_of_a_session_belongs_to_its_entry(alice: Person) -> None:
    named = files()
    named[FOLDER + f"{ID}-topic-7.jsonl"] = named.pop(FOLDER + f"{ID}.jsonl")
    imported(alice, named)
    assert Session.objects.get().key == "agent:main:main"


def test_one_bad_file_never_stops_the_others(alice: Person) -> None:
    def unreadable() -> BytesIO:
        raise PermissionError(13, "Permission denied")

    sources = [
        Source("a.jsonl", 9, unreadable),
        source_of(b"no transcript\n", "b.jsonl"),
        source_of(short_session().data(), "c.jsonl"),
    ]
    reports = list(import_files(alice.team, sources))
    assert statuses(reports) == {"a.jsonl": "refused", "b.jsonl": "refused", "c.jsonl": "imported"}
    assert reports[0].error == "The file cannot be read: Permission denied."
    assert "No session transcript" in reports[1].error


def test_a_database_that_refuses_is_said(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **named: object) -> None:
        raise DatabaseError("disk full")

    monkeypatch.setattr(batches, "import_file", refuse)
    (report,) = imported(alice, {"a.jsonl": short_session().data()})
    assert (report.status, report.error) == ("refused", "The database did not take it: disk full")


def test_settings_files_that_are_too_large_are_refused(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MAX_SETTINGS_BYTES", 10)
    reports = imported(alice, files())
    assert statuses(reports)["openclaw.json"] == "refused"
    assert statuses(reports)["sessions.json"] == "refused"
    assert statuses(reports)[f"{ID}.jsonl"] == "imported"


def test_agents_of_one_configuration_share_it_and_it_is_reported_once(alice: Person) -> None:
    named = files()
    named["agents/helper/sessions/other.jsonl"] = short_session("other").data()
    reports = imported(alice, named)
    assert [r.path for r in reports].count("openclaw.json") == 1
    assert sorted(Agent.objects.values_list("name", flat=True)) == ["helper", "main"]
    assert all(agent.config_text for agent in Agent.objects.all())


def test_progress_names_the_file(alice: Person) -> None:
    told: list[tuple[str, int]] = []
    data = short_session().data()
    list(
        import_files(
            alice.team, [source_of(data, "a.jsonl")], lambda name, done: told.append((name, done))
        )
    )
    assert told == [("a.jsonl", len(data))]
