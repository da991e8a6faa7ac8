"""Where engine and stored sessions meet: what a session brings with it, and what the list is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compaction_app.runs import (
    KEPT_REPLAYS,
    _replays,
    config_fault,
    replay_for,
    situation_of,
    write_summary,
)
from sessions_app.batches import import_files
from sessions_app.imports import Source
from sessions_app.models import Team
from tests.compaction_app.conftest import Bring, source
from tests.engine.builders import Script, chat, run_folder

pytestmark = pytest.mark.django_db
CONFIG = """{
  // comments and trailing commas are allowed
  models: {providers: {mock: {baseUrl: 'http://127.0.0.1/v1', models: [
    {id: 'm', name: 'm', contextWindow: 32000,}]}}},
  agents: {defaults: {compaction: {reserveTokensFloor: 25000}}},
}"""


def test_an_import_fills_lines_and_verdict(bring: Bring) -> None:
    summary = bring(chat(6), CONFIG).summary
    assert summary["window"] == 32_000
    assert summary["lines"] == {"window": 32_000, "flush": 3_000, "inner_threshold": 8_000}
    assert [said["text"] for said in summary["verdict"]] == [
        "session below keep",
        "keep ge threshold",
        "reserve shrinks prompt",
    ]


def test_a_healthy_session_has_no_verdict(bring: Bring) -> None:
    config = CONFIG.replace("32000", "40000").replace("25000", "16384")
    config = config.replace("reserveTokensFloor", "keepRecentTokens: 4000, reserveTokensFloor")
    assert bring(chat(6, density=1.3), config).summary["verdict"] == []


def test_the_verdict_of_an_import_says_what_is_wrong(bring: Bring) -> None:
    config = CONFIG.replace("reserveTokensFloor: 25000", "reserveTokens: 40000")
    verdict = bring(chat(6), config).summary["verdict"]
    assert verdict[0]["text"] == "compacts from first token"
    assert verdict[0]["severity"] == "grave"
    assert "40,000" in verdict[0]["help"]


def test_missing_usage_is_no_verdict_of_the_list(bring: Bring) -> None:
    said = bring(Script().user().answer(), CONFIG).summary["verdict"]
    assert "usage missing" not in [each["text"] for each in said]


def test_a_changed_configuration_rewrites_the_summary(
    bring: Bring, team: Team, django_capture_on_commit_callbacks: Any
) -> None:
    session = bring(chat(6), CONFIG)
    with django_capture_on_commit_callbacks(execute=True):
        bring(chat(7), CONFIG.replace("25000", "10000"), name="other")
    session.refresh_from_db()
    assert session.summary["lines"]["flush"] == 18_000


@pytest.mark.parametrize("name", ["keep-small-32k", "flush-never-keep"])
def test_a_recorded_run_comes_in_with_its_configuration(
    team: Team, name: str, django_capture_on_commit_callbacks: Any
) -> None:
    folder = run_folder(name)
    files = [
        Source.of_path(path, f"{name}/{Path(path).name}")
        for path in folder.iterdir()
        if path.name != "events.json"
    ]
    with django_capture_on_commit_callbacks(execute=True):
        (session,) = [s for report in import_files(team, files) for s in report.sessions]
    session.refresh_from_db()
    situation = situation_of(session)
    assert (situation.around.provider, situation.around.model) == ("mock", "filler-1")
    assert situation.policy.context_window in (32_000, 64_000)
    assert situation.system_tokens == 2_362
    assert situation.notes == ()
    assert session.summary["window"] == situation.policy.context_window


def test_the_window_of_the_index_stands_in_for_a_missing_one(bring: Bring) -> None:
    situation = situation_of(bring(chat(3), entry={"contextTokens": 48_000}))
    assert situation.policy.context_window == 48_000
    named = situation_of(bring(chat(4), CONFIG, {"contextTokens": 48_000}, name="named"))
    assert named.policy.context_window == 32_000


@pytest.mark.parametrize("value", [True, "48000", -1, 0, None, [], 1e999])
def test_an_odd_window_of_the_index_is_no_window(bring: Bring, value: Any) -> None:
    session = bring(chat(3), entry={"modelProvider": "mock"})
    session.index_entry = {"contextTokens": value}
    assert situation_of(session).policy.context_window is None


def test_a_bad_setting_is_a_note_of_the_situation(bring: Bring) -> None:
    situation = situation_of(bring(chat(3), CONFIG.replace("25000", "-1")))
    assert situation.notes == (
        "agents.defaults.compaction.reserveTokensFloor: Too small: expected number to be >=0 "
        "(minimum: 0). The runtime does not start with it.",
    )


def test_an_unknown_key_is_told_with_the_nearest_one(bring: Bring) -> None:
    config = CONFIG.replace("reserveTokensFloor", "reserveTokenFloor")
    (note,) = situation_of(bring(chat(3), config)).notes
    assert "reserveTokenFloor" in note
    assert "did you mean 'agents.defaults.compaction.reserveTokensFloor'?" in note


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{a: 1,\n b: }", "openclaw.json is not valid JSON5: "),
        ("", "openclaw.json is not valid JSON5: "),
        ("[1, 2]", "openclaw.json holds no object."),
        ("{'a': 1} trailing", "openclaw.json is not valid JSON5: "),
        ("[" * 100_000, "openclaw.json is not valid JSON5: "),
    ],
)
def test_a_fault_of_a_configuration_is_told(text: str, says: str) -> None:
    assert config_fault(text).startswith(says)


def test_a_fault_says_where() -> None:
    fault = config_fault("{apiKey: 'secret',\n b: }")
    assert fault.endswith("(line 2, column 5).")
    assert "secret" not in fault


def test_a_sound_configuration_has_no_fault() -> None:
    assert config_fault(CONFIG) == ""


def test_a_refused_configuration_leaves_the_old_one(bring: Bring, team: Team) -> None:
    session = bring(chat(3), CONFIG)
    reports = list(import_files(team, [source("agents/main/sessions/openclaw.json", "{a: ")]))
    assert [report.status for report in reports] == ["refused"]
    assert "not valid JSON5" in reports[0].error
    assert session.agent is not None
    session.agent.refresh_from_db()
    assert session.agent.config_text == CONFIG


def test_replays_are_remembered_by_everything_that_decides(bring: Bring) -> None:
    situation = situation_of(bring(chat(6), CONFIG))
    policy, around = situation.policy, situation.around
    first = replay_for(situation, policy, around)
    assert replay_for(situation, policy, around) is first
    assert replay_for(situation, replace(policy, context_window=16_000), around) is not first
    assert replay_for(situation, policy, replace(around, path="agent")) is not first
    assert replay_for(situation, policy, around, leaf=3) is not first
    for floor in range(KEPT_REPLAYS + 5):
        replay_for(situation, replace(policy, reserve_tokens_floor=floor), around)
    assert len(_replays) == KEPT_REPLAYS


def test_a_summary_of_a_session_without_calls(bring: Bring) -> None:
    session = bring(Script().user(), entry={"contextTokens": 48_000})
    write_summary(session)
    assert session.summary["window"] == 48_000


def test_the_agent_of_a_session_has_its_own_settings(bring: Bring) -> None:
    own = "list: [{id: 'main', contextLimits: {toolResultMaxChars: 3000}}], defaults:"
    situation = situation_of(bring(chat(3), CONFIG.replace("defaults:", own)))
    assert situation.policy.tool_result_max_chars == 3_000
