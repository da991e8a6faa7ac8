"""``manage.py doctor``: every agent of a folder, as text and as JSON; nothing is changed."""

from __future__ import annotations

import hashlib
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from compaction_app.doctor_folder import examine_paths
from compaction_app.engine.config.syntax import parse_config
from tests.engine.builders import chat, run_folder, text_of
from tests.engine.doctor.configs import HEALTHY, ILL


def run(*arguments: Any) -> tuple[int, str, str]:
    """Exit status, standard output and standard error."""
    out, err = StringIO(), StringIO()
    try:
        call_command("doctor", *map(str, arguments), stdout=out, stderr=err)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def as_json(*arguments: Any) -> Any:
    return json.loads(run(*arguments, "--json")[1])


@pytest.fixture
def state_folder(tmp_path: Path) -> Path:
    """Two agents with sessions, one of them with two, and one agent without any."""
    state = tmp_path / "state"
    for agent, name in (("main", "a"), ("main", "b"), ("ops", "c")):
        folder = state / "agents" / agent / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        entries = chat(8).entries
        (folder / f"{name}.jsonl").write_text(
            text_of(entries).replace('"id": "s"', f'"id": "{name}"')
        )
    (state / "openclaw.json").write_text(ILL.replace("{id: 'main'}", "{id: 'main'}, {id: 'idle'}"))
    return state


def digests(folder: Path) -> dict[str, str]:
    return {
        path.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_every_agent_of_a_state_folder_is_examined_and_nothing_is_changed(
    state_folder: Path,
) -> None:
    before = digests(state_folder)
    status, out, _ = run(state_folder)
    assert digests(state_folder) == before
    assert status == 1
    for words in ("Agent main", "Agent idle", "Agent ops", "Nothing was changed", "3 sessions"):
        assert words in out
    agents = {each["agent"]: each for each in as_json(state_folder)["agents"]}
    assert {name: each["sessions"] for name, each in agents.items()} == {
        "main": 2,
        "idle": 0,
        "ops": 1,
    }
    own = {s["key"]: s for s in agents["ops"]["settings"]}["contextLimits.toolResultMaxChars"]
    assert (own["value"], own["source"]) == (9_000, "agent")


def test_the_report_holds_what_was_promised(state_folder: Path) -> None:
    main = as_json(state_folder)["agents"][0]
    assert [chain["tokens"] for chain in main["windows"]] == [128_000, 96_000, 96_000]
    assert all(chain["trace"] and chain["why"] for chain in main["windows"])
    assert main["flushBeforeCompaction"]["answer"] == "no"
    assert [check["question"] for check in main["checks"]] == [
        "Does it compact too often?",
        "Does it use too many tokens?",
    ]
    assert all(check["finding"] or check["words"] for check in main["checks"])
    assert main["corrected"]["text"].startswith("// my agent")
    assert main["outcomes"][-1]["change"] is None
    assert len(main["outcomes"]) == len(main["corrected"]["changes"]) + 1
    assert set(main["outcomes"][0]["before"]) >= {"flushes", "compactions", "tokensSent"}
    assert any(row["differs"] and row["why"] for row in main["ruleSets"])


def test_a_recorded_run_is_judged_with_what_its_calls_say() -> None:
    main = as_json(run_folder("growth-96k"))["agents"][0]
    assert main["flushBeforeCompactionMeasured"]["answer"] == "no"
    assert [each["code"] for each in main["sessionFindings"]]
    assert main["checkedSession"].endswith(".jsonl")


def test_the_corrected_file_is_written_where_asked_and_over_nothing(
    state_folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "corrected.json5"
    run(state_folder, "--write", target)
    assert (
        parse_config(target.read_text())["agents"]["defaults"]["compaction"]["keepRecentTokens"]
        == 5_000
    )
    status, _, err = run(state_folder, "--write", target)
    assert (status, "exists; nothing was written" in err) == (2, True)


def test_a_healthy_configuration_alone_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "openclaw.json"
    path.write_text(HEALTHY)
    status, out, _ = run(path)
    assert status == 0
    assert "Nothing was changed." in out and "Changes that would mend it" not in out
    status, _, err = run(path, "--write", tmp_path / "x.json")
    assert (status, "nothing to correct" in err) == (2, True)


def test_brackets_of_a_file_are_shown_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "openclaw.json"
    path.write_text("{agents: {defaults: {'[bold]x': 1}}}")
    assert "[bold]x" in run(path)[1]


@pytest.mark.parametrize("arguments", [["/nowhere/at/all"], ["--rule-set", "openclaw-1"]])
def test_what_cannot_be_examined_says_so(arguments: list[str]) -> None:
    try:
        status, _, err = run(*arguments)
    except CommandError as error:
        assert "invalid choice" in str(error)
    else:
        assert (status, "there is no such file or folder" in err) == (2, True)


def test_only_a_few_sessions_are_kept_of_many(tmp_path: Path) -> None:
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    text = text_of(chat(3).entries)
    for number in range(30):
        (folder / f"{number}.jsonl").write_text(text.replace('"id": "s"', f'"id": "{number}"'))
    report = examine_paths([tmp_path]).agents[0].report
    assert (len(report.rows), len(report.cases)) == (30, 5)
