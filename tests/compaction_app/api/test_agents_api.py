"""The API about agents: their record, policies by version, files, memory."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from compaction_app.memory import FlushOrigin, append_notes
from sessions_app.models import Agent
from tests.api_client import ApiClient, api_of
from tests.compaction_app.live import live_agent, live_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(alice: Person) -> ApiClient:
    return api_of(alice.team, "admin")


def made(api: ApiClient, **fields: Any) -> dict[str, Any]:
    agent: dict[str, Any] = api.post("/agents", {"name": "main", **fields})
    return agent


def test_an_agent_is_made_and_read_with_its_lines(api: ApiClient) -> None:
    agent = made(
        api, provider="anthropic", model="claude-x", windows={"contextWindow": 96_000},
        systemPrompt="Be brief. 简短。", timeZone="Asia/Shanghai",
        tools=[{"name": "read", "parameters": {"type": "object"}, "strict": True}],
    )  # fmt: skip
    assert api.get(f"/agents/{agent['id']}") == agent
    lines = {line["name"]: line["tokens"] for line in agent["lines"]}
    assert (lines["window"], lines["flush"]) == (96_000, 96_000 - 20_000 - 4_000)
    assert agent["tools"] == [{"name": "read", "parameters": {"type": "object"}, "strict": True}]
    assert agent["policyVersion"] == 0
    assert agent["systemTokens"] > 0
    assert [one["id"] for one in api.get("/agents")["items"]] == [agent["id"]]


def test_a_change_touches_only_what_it_names(api: ApiClient) -> None:
    agent = made(api, model="claude-x", systemPrompt="Be brief.")
    status, changed = api.call("PATCH", f"/agents/{agent['id']}", {"model": "claude-y"})
    assert (status, changed["model"], changed["systemPrompt"]) == (200, "claude-y", "Be brief.")


@pytest.mark.parametrize(
    "fields, field",
    [
        ({"timeZone": "Mars/Olympus"}, "timeZone"),
        ({"windows": {"contextWindow": 0}}, "windows.contextWindow"),
        ({"windows": {"width": 5}}, "windows.width.[key]"),
        ({"path": "road"}, "path"),
        ({"configText": "{"}, "configText"),
        ({"tools": [{"description": "nameless"}]}, "tools.0.name"),
        ({"name": ""}, "name"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_field_that_cannot_be_used_is_named(
    api: ApiClient, fields: dict[str, Any], field: str
) -> None:
    status, body = api.call("POST", "/agents", {"name": "main", **fields})
    assert (status, body["errors"][0]["field"]) == (422, field)
    assert not Agent.objects.exists()


def test_policies_are_versions_that_stay_and_a_lost_race_is_told(api: ApiClient) -> None:
    agent = made(api, windows={"contextWindow": 96_000})
    address = f"/agents/{agent['id']}/policy"
    assert api.get(address)["version"] == 0
    floor = {"compaction.reserveTokensFloor": 10_000}
    status, first = api.call("PUT", address, {"settings": floor, "note": "more room"})
    assert (status, first["version"], first["settings"]) == (200, 1, floor)
    second = {"settings": {}, "ruleSet": "openclaw-2026.4.20", "expectedVersion": 1}
    assert api.call("PUT", address, second)[1]["version"] == 2
    status, body = api.call("PUT", address, second)
    assert (status, body["newestVersion"]) == (409, 2)
    listed = api.get(f"/agents/{agent['id']}/policies")["items"]
    assert [(one["version"], one["ruleSet"]) for one in listed] == [
        (2, "openclaw-2026.4.20"), (1, "openclaw-2026.5.28"),
    ]  # fmt: skip
    assert listed[1] == first


def test_a_policy_moves_the_agents_lines_and_its_configuration(api: ApiClient) -> None:
    agent = made(api, provider="anthropic", model="x", windows={"contextWindow": 96_000})
    api.call("PUT", f"/agents/{agent['id']}/policy", {"settings": {"compaction.mode": "safeguard"}})
    config = api.get(f"/agents/{agent['id']}/config")
    assert config["agents"]["defaults"]["compaction"]["mode"] == "safeguard"
    inner = [
        line
        for line in api.get(f"/agents/{agent['id']}")["lines"]
        if line["name"] == "inner_threshold"
    ]
    assert not inner[0]["active"]


@pytest.mark.parametrize(
    "body, field",
    [
        ({"settings": {"compaction.mode": "wild"}}, "settings.compaction.mode"),
        ({"settings": {"nothing": 1}}, "settings.nothing"),
        ({"settings": {}, "ruleSet": "openclaw-1"}, "ruleSet"),
        ({}, "settings"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(
    api: ApiClient, body: dict[str, Any], field: str
) -> None:
    agent = made(api)
    status, answer = api.call("PUT", f"/agents/{agent['id']}/policy", body)
    assert (status, answer["errors"][0]["field"]) == (422, field)


def test_workspace_files_are_written_and_taken_away(api: ApiClient) -> None:
    agent = made(api)
    address = f"/agents/{agent['id']}/workspace"
    api.call("PATCH", address, {"files": {"AGENTS.md": "# 规则\n", "TOOLS.md": "t"}})
    api.call("PATCH", address, {"files": {"TOOLS.md": None}})
    assert api.get(address) == {"files": {"AGENTS.md": "# 规则\n"}}
    assert api.get(f"/agents/{agent['id']}")["systemTokens"] > agent["systemTokens"]
    status, body = api.call("PATCH", address, {"files": {"../etc/passwd": "x"}})
    assert (status, body["errors"][0]["field"]) == (422, "files")


def test_memory_files_are_listed_and_read(alice: Person, api: ApiClient) -> None:
    session = live_session(alice)
    assert session.agent
    append_notes(session.agent, "memory/2026-12-01.md", ["one", "二"], FlushOrigin(session, 0, 1))
    address = f"/agents/{session.agent.uuid}/memory"
    (file,) = api.get(address)["files"]
    assert (file["name"], file["bytes"]) == ("memory/2026-12-01.md", len("one\n二\n".encode()))
    assert api.get(f"{address}/{file['name']}") == "one\n二\n"
    assert api.call("GET", f"{address}/memory/other.md")[0] == 404


def test_other_teams_imported_agents_and_unknown_ids_are_404(
    alice: Person, bob: Person, api: ApiClient
) -> None:
    theirs = live_agent(bob)
    imported = Agent.objects.create(team=alice.team, name="from a file")
    for uuid in (theirs.uuid, imported.uuid, uuid4()):
        for part in ("", "/policies", "/policy", "/config", "/workspace", "/memory"):
            assert api.call("GET", f"/agents/{uuid}{part}")[0] == 404, part
        assert api.call("PATCH", f"/agents/{uuid}", {"model": "x"})[0] == 404
        assert api.call("PUT", f"/agents/{uuid}/policy", {"settings": {}})[0] == 404
        assert api.call("PATCH", f"/agents/{uuid}/workspace", {"files": {}})[0] == 404


def test_a_reader_may_look_and_only_an_admin_may_change(alice: Person) -> None:
    agent = live_agent(alice)
    for scope, allowed in (("read", 403), ("write", 403), ("admin", 200)):
        api = api_of(alice.team, scope)
        assert api.call("GET", f"/agents/{agent.uuid}")[0] == 200
        assert api.call("PATCH", f"/agents/{agent.uuid}", {"model": "x"})[0] == allowed
        assert api.call("POST", "/agents", {"name": "other"})[0] == allowed
