"""Files that belong together: the index and the configuration find their sessions."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest
from django.db import DatabaseError

from sessions_app import agents, batches
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


# Whose is it?


def brought(person: Person, root: Path, named: dict[str, bytes]) -> list[FileReport]:
    """Import files of this machine, from a folder."""
    sources = [source_of(data, name) for name, data in named.items()]
    return list(import_files(person.team, sources, root=root))


def session_files(identity: str, config: bytes | None = None) -> dict[str, bytes]:
    named = {FOLDER + f"{identity}.jsonl": short_session(identity).data()}
    index = {"agent:main:main": {"sessionId": identity}}
    named[FOLDER + "sessions.json"] = json.dumps(index).encode()
    return named | ({"openclaw.json": config} if config is not None else {})


def config_of(identity: str) -> str:
    agent = Session.objects.get(windows__external_id=identity).agent
    return agent.config_text if agent else "no agent"


def test_two_state_folders_with_an_agent_main_share_nothing(alice: Person, tmp_path: Path) -> None:
    brought(alice, tmp_path / "one", session_files("a", b"{meta: {}}"))
    brought(alice, tmp_path / "two", session_files("b", b"{agents: {}}"))
    assert (config_of("a"), config_of("b")) == ("{meta: {}}", "{agents: {}}")
    assert Agent.objects.count() == 2


def test_two_uploads_of_different_sessions_share_nothing(alice: Person) -> None:
    imported(alice, session_files("a", b"{meta: {}}"))
    imported(alice, session_files("b", b"{agents: {}}"))
    assert (config_of("a"), config_of("b")) == ("{meta: {}}", "{agents: {}}")


def test_uploads_with_the_very_same_configuration_are_of_one_agent(alice: Person) -> None:
    imported(alice, session_files("a", b"{meta: {}}"))
    imported(alice, session_files("b", b"{meta: {}}"))
    assert Agent.objects.count() == 1


def test_an_agent_stays_the_same_when_its_folder_gets_another_configuration(
    alice: Person, tmp_path: Path
) -> None:
    brought(alice, tmp_path, session_files("a", b"{meta: {}}"))
    brought(alice, tmp_path, session_files("b", b"{agents: {}}"))
    assert config_of("a") == config_of("b") == "{agents: {}}"
    assert Agent.objects.get().home == str(tmp_path.resolve())


def test_a_folder_takes_over_the_agent_of_an_earlier_upload(alice: Person, tmp_path: Path) -> None:
    imported(alice, session_files("a", b"{meta: {}}"))
    brought(alice, tmp_path, session_files("a", b"{meta: {}}"))
    assert Agent.objects.get().home == str(tmp_path.resolve())


def test_a_folder_that_was_moved_is_the_same_agent_and_a_copy_is_another(
    alice: Person, tmp_path: Path
) -> None:
    brought(alice, tmp_path / "gone", session_files("a", b"{meta: {}}"))
    here = tmp_path / "here"
    here.mkdir()
    brought(alice, here, session_files("a", b"{meta: {}}"))
    assert Agent.objects.get().home == str(here.resolve())
    brought(alice, tmp_path / "copy", session_files("a", b"{agents: {}}"))
    assert Agent.objects.count() == 2


def test_a_configuration_alone_reaches_the_sessions_without_one(alice: Person) -> None:
    imported(alice, {"x.jsonl": short_session("a").data()})
    imported(alice, session_files("b", b"{meta: {}}"))
    (report,) = imported(alice, {"openclaw.json": b"{agents: {}}"})
    assert (report.status, len(report.sessions)) == ("imported", 1)
    assert (config_of("a"), config_of("b")) == ("{agents: {}}", "{meta: {}}")


def test_a_configuration_alone_replaces_that_of_the_only_agent(alice: Person) -> None:
    imported(alice, session_files("a", b"{meta: {}}"))
    (report,) = imported(alice, {"openclaw.json": b"{agents: {}}"})
    assert (report.status, config_of("a")) == ("extended", "{agents: {}}")
    (report,) = imported(alice, {"openclaw.json": b"{agents: {}}"})
    assert (report.status, report.sessions) == ("unchanged", ())


def test_a_configuration_alone_is_not_given_to_just_any_agent(alice: Person) -> None:
    imported(alice, session_files("a", b"{meta: {}}"))
    imported(alice, session_files("b", b"{agents: {}}"))
    (report,) = imported(alice, {"openclaw.json": b"{models: {}}"})
    assert (report.status, report.error) == ("refused", agents.SEVERAL_AGENTS)
    assert (config_of("a"), config_of("b")) == ("{meta: {}}", "{agents: {}}")


def test_a_configuration_without_any_session_says_what_it_needs(alice: Person) -> None:
    (report,) = imported(alice, {"openclaw.json": b"{}"})
    assert (report.status, report.error) == ("refused", agents.NO_SESSION_YET)
    assert not Agent.objects.exists()


def test_the_configuration_of_a_state_folder_reaches_all_its_agents(
    alice: Person, tmp_path: Path
) -> None:
    helper = {"agents/helper/sessions/h.jsonl": short_session("h").data()}
    brought(alice, tmp_path, session_files("a", b"{meta: {}}") | helper)
    (report,) = brought(alice, tmp_path, {"openclaw.json": b"{agents: {}}"})
    assert len(report.sessions) == 2
    assert config_of("a") == config_of("h") == "{agents: {}}"


def test_an_index_alone_reaches_the_sessions_that_it_names(alice: Person) -> None:
    imported(alice, {"x.jsonl": short_session("a").data(), "y.jsonl": short_session("b").data()})
    index = {
        "agent:ops:chat": {"sessionId": "a", "totalTokens": 7},
        "agent:ops:gone": {"sessionId": "elsewhere"},
    }
    (report,) = imported(alice, {"sessions.json": json.dumps(index).encode()})
    session = Session.objects.get(windows__external_id="a")
    assert (report.status, report.sessions) == ("imported", (session,))
    assert session.index_entry == {"sessionId": "a", "totalTokens": 7}
    assert session.agent is not None and session.agent.name == "ops"
    assert Session.objects.get(windows__external_id="b").index_entry is None
    (report,) = imported(alice, {"sessions.json": json.dumps(index).encode()})
    assert (report.status, report.sessions) == ("unchanged", ())


def test_an_index_that_names_no_stored_session_says_so(alice: Person) -> None:
    index = {"agent:ops:chat": {"sessionId": "a"}}
    (report,) = imported(alice, {"sessions.json": json.dumps(index).encode()})
    assert report.status == "refused"
    assert "names no session that is stored here" in report.error
    assert not Agent.objects.exists()


def test_settings_reach_nothing_of_another_team(alice: Person, bob: Person) -> None:
    imported(bob, {"x.jsonl": short_session("a").data()})
    index = {"agent:main:main": {"sessionId": "a"}}
    reports = imported(alice, {"openclaw.json": b"{}", "sessions.json": json.dumps(index).encode()})
    assert statuses(reports) == {"openclaw.json": "refused", "sessions.json": "refused"}
    assert config_of("a") == "no agent"
