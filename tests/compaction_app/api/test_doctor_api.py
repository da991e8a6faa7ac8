"""``POST /api/v1/doctor``: the report of the command, from texts, with nothing kept."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from compaction_app.doctor_api import MOST_AGENTS
from compaction_app.engine.rule_sets import RULE_SETS
from sessions_app.models import Agent, Session
from tests.api_client import ApiClient, api_of
from tests.conftest import Person
from tests.engine.doctor.configs import HEALTHY, ILL

pytestmark = pytest.mark.django_db

INDEX = {
    "agent:main:main": {"sessionId": "a", "totalTokens": 300_000, "totalTokensFresh": False, "contextTokens": 200_000},
    "agent:ops:main": {"sessionId": "b", "totalTokens": 10},
}  # fmt: skip


def test_the_report_is_that_of_the_command(alice: Person, tmp_path: Path) -> None:
    (tmp_path / "openclaw.json").write_text(ILL)
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("doctor", str(tmp_path), "--json", stdout=out)
    expected = json.loads(out.getvalue())["agents"]
    got = api_of(alice.team).post("/doctor", {"config": ILL})
    assert [
        {"config": str(tmp_path / "openclaw.json"), **each} for each in got["agents"]
    ] == expected
    assert got["agents"][0]["corrected"]["text"] and got["agents"][0]["findings"]
    assert not Agent.objects.exists() and not Session.objects.exists()


def test_entries_of_the_index_are_judged_with_their_agent(alice: Person) -> None:
    got = api_of(alice.team).post("/doctor", {"config": HEALTHY, "sessions": json.dumps(INDEX)})
    agents = {each["agent"]: each for each in got["agents"]}
    assert (got["entries"], got["examinedEntries"]) == (2, 2)
    assert {name: agents[name]["sessions"] for name in ("main", "ops")} == {"main": 1, "ops": 1}
    assert "TOTAL_STALE" in [each["code"] for each in agents["main"]["sessionFindings"]]


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_one_agent_and_one_rule_set_can_be_asked_for(alice: Person, rule_set: str) -> None:
    body = {"config": HEALTHY, "sessions": json.dumps(INDEX), "agent": "ops", "ruleSet": rule_set}
    (agent,) = api_of(alice.team).post("/doctor", body)["agents"]
    assert (agent["agent"], agent["ruleSet"], agent["sessions"]) == ("ops", rule_set, 1)


def test_a_file_that_cannot_be_read_is_a_finding(alice: Person) -> None:
    (agent,) = api_of(alice.team).post("/doctor", {"config": "{"})["agents"]
    assert agent["findings"][0]["code"] == "CONFIG_INVALID"


@pytest.mark.parametrize(
    "body, field",
    [
        ({}, "config"),
        ({"config": 5}, "config"),
        ({"config": " " * ((1 << 20) + 1)}, "config"),
        ({"config": "{}", "sessions": "["}, "sessions"),
        ({"config": "{}", "sessions": ""}, "sessions"),
        ({"config": "{}", "ruleSet": "openclaw-1"}, "ruleSet"),
        ({"config": "{}", "agent": "nobody"}, "agent"),
        ({"config": json.dumps({"agents": {"list": [{"id": f"a{n}"} for n in range(MOST_AGENTS + 1)]}})}, "agent"),
        ({"config": "{}", "extra": 1}, "extra"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named_by_its_field(
    alice: Person, body: dict[str, object], field: str
) -> None:
    status, answer = api_of(alice.team).call("POST", "/doctor", body)
    assert (status, answer["errors"][0]["field"]) == (422, field)
    assert answer["errors"][0]["message"]


def test_it_takes_a_token_and_only_a_post(alice: Person) -> None:
    api = api_of(alice.team)
    assert api.call("GET", "/doctor")[0] == 405
    assert ApiClient("wrong").call("POST", "/doctor", {"config": "{}"})[0] == 401
