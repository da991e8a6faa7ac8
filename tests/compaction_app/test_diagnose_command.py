"""``manage.py diagnose``: every sort of path, as text and as JSON, with its exit status."""

from __future__ import annotations

import json
import sqlite3
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.engine.builders import chat, run_folder
from tests.engine.diagnose.files import config, folder

KEYS = {"code", "severity", "session", "agent", "line", "numbers", "consequence", "fix"}


def run(*arguments: Any) -> tuple[int, str, str]:
    """Exit status, standard output and standard error."""
    out, err = StringIO(), StringIO()
    try:
        call_command("diagnose", *map(str, arguments), stdout=out, stderr=err)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def codes(*arguments: Any) -> list[str]:
    _, out, _ = run(*arguments, "--json")
    return [finding["code"] for finding in json.loads(out)["findings"]]


def test_a_grave_finding_sets_the_exit_status(tmp_path: Path) -> None:
    assert run(run_folder("growth-32k"))[0] == 1
    status, out, err = run(folder(tmp_path, config(40_000)))
    assert (status, err) == (0, "")
    assert "KEEP_GE_THRESHOLD" in out and "No session was looked at." in out
    healthy = config(200_000)
    assert run(folder(tmp_path, healthy))[1] == "Nothing found.\n"


def test_json_holds_the_same_keys_for_every_finding() -> None:
    status, out, _ = run(run_folder("growth-32k"), "--json")
    found = json.loads(out)["findings"]
    assert status == 1 and len(found) > 5
    assert all(finding.keys() == KEYS for finding in found)
    assert found[0]["code"] == "STUCK_OVERFLOW" and found[0]["agent"] == "main"


def test_text_names_session_code_consequence_line_and_fix() -> None:
    _, out, _ = run(run_folder("growth-32k"))
    assert "Session 0f903d11-abb0-4222-9c44-4c82ee1c47d3 of agent main" in out
    assert "grave STUCK_OVERFLOW" in out and "(line 64)" in out
    assert "fix: compaction.keepRecentTokens = 2000" in out
    assert out.rstrip().endswith("3 warn.")


@pytest.mark.parametrize("name", ["transcript", "sessions.json", "openclaw.json"])
def test_every_file_of_a_session_can_be_given_alone(name: str) -> None:
    place = run_folder("growth-32k")
    path = next(place.glob("*-*.jsonl")) if name == "transcript" else place / name
    found = codes(path)
    assert "KEEP_GE_THRESHOLD" in found
    assert ("STUCK_OVERFLOW" in found) is (name != "openclaw.json")


def test_a_state_folder_is_read_with_its_configuration_and_agents(tmp_path: Path) -> None:
    sessions = tmp_path / "agents" / "coder" / "sessions"
    sessions.parent.mkdir(parents=True)
    folder(sessions, None, chat(3))
    folder(tmp_path, config(40_000))
    _, out, _ = run(tmp_path, "--json")
    (finding,) = json.loads(out)["findings"]
    assert (finding["code"], finding["session"], finding["agent"]) == (
        "KEEP_GE_THRESHOLD", "s", "coder",
    )  # fmt: skip


def test_another_configuration_can_be_given(tmp_path: Path) -> None:
    place = folder(tmp_path / "state", config(200_000), chat(3))
    other = folder(tmp_path / "other", config(16_384)) / "openclaw.json"
    assert "COMPACTS_FROM_FIRST_TOKEN" in codes(place, "--config", other)
    assert "COMPACTS_FROM_FIRST_TOKEN" not in codes(place)


def test_a_version_in_the_file_or_on_the_command_line_chooses_the_rules(tmp_path: Path) -> None:
    old = {**config(16_384), "meta": {"lastTouchedVersion": "2026.3.20"}}
    path = folder(tmp_path, old) / "openclaw.json"

    def reserve(*more: str) -> int:
        _, out, _ = run(path, *more, "--json")
        found = {f["code"]: f for f in json.loads(out)["findings"]}
        return int(found["COMPACTS_FROM_FIRST_TOKEN"]["numbers"]["reserveTokens"])

    assert reserve() == 20_000
    assert reserve("--rule-set", "openclaw-2026.5.28") == 16_384


def test_a_configuration_that_cannot_be_read_says_where(tmp_path: Path) -> None:
    path = tmp_path / "openclaw.json"
    path.write_text('{\n  "agents": {,}\n}')
    status, out, _ = run(path, "--json")
    finding = json.loads(out)["findings"][0]
    assert status == 1
    assert (finding["code"], finding["numbers"]["line"], finding["numbers"]["column"]) == (
        "CONFIG_INVALID", 2, 14,
    )  # fmt: skip


def test_an_unknown_key_is_told_with_its_path_and_the_nearest(tmp_path: Path) -> None:
    wrong = config(200_000, {"reserveTokenFloor": 20_000})
    status, out, _ = run(folder(tmp_path, wrong), "--json")
    finding = json.loads(out)["findings"][0]
    assert status == 1 and finding["code"] == "CONFIG_UNKNOWN_KEY"
    assert finding["numbers"] == {
        "path": "agents.defaults.compaction.reserveTokenFloor",
        "nearest": "agents.defaults.compaction.reserveTokensFloor",
    }


def test_entries_without_a_file_and_files_without_an_entry(tmp_path: Path) -> None:
    place = folder(tmp_path, config(200_000), chat(3), {"sessionId": "other"})
    for name in ("s.jsonl.reset.2026-01-01T00-00-00.000Z", "old.deleted.1.jsonl"):
        (place / name).write_bytes((place / "s.jsonl").read_bytes())
    _, out, _ = run(place, "--json")
    found = [f["consequence"] for f in json.loads(out)["findings"] if f["code"].startswith("INDEX")]
    assert found == [
        "The entry 'agent:main:main' of sessions.json has no file other.jsonl.",
        "The file s.jsonl has no entry in sessions.json.",
    ]
    (place / "sessions.json").write_text("")
    assert [code for code in codes(place) if code.startswith("INDEX")] == ["INDEX_EMPTY"]


def test_a_store_alone_is_judged_by_its_entries(tmp_path: Path) -> None:
    entry = {"totalTokens": 300_000, "totalTokensFresh": False, "contextTokens": 200_000}
    path = folder(tmp_path, config(200_000), entry=entry) / "sessions.json"
    assert codes(path) == ["TOTAL_IS_CUMULATIVE", "TOTAL_STALE"]


def test_damage_is_told_with_its_line(tmp_path: Path) -> None:
    place = folder(tmp_path, None, chat(3))
    with (place / "s.jsonl").open("a") as file:
        file.write('{"type": "mess')
    _, out, _ = run(place / "s.jsonl", "--json")
    found = {f["code"]: f for f in json.loads(out)["findings"]}
    assert found["FILE_TRUNCATED_TAIL"]["line"] == 8


def test_a_database_that_is_no_store_is_refused_in_one_sentence(tmp_path: Path) -> None:
    store = tmp_path / "openclaw-agent.sqlite"
    with sqlite3.connect(store) as base:
        base.execute("create table t (a)")
    for path in (store, tmp_path):
        status, out, err = run(path)
        assert (status, out) == (2, "")
        assert "It is no store of an OpenClaw agent" in err and err.count("\n") == 1


@pytest.mark.parametrize("name", ["missing.jsonl", "notes.txt", "empty"])
def test_nothing_to_judge_is_bad_usage(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "empty").mkdir()
    status, out, err = run(tmp_path / name)
    assert (status, out) == (2, "") and name in err


def test_no_path_is_bad_usage() -> None:
    with pytest.raises(CommandError):
        call_command("diagnose")
