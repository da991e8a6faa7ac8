"""``simulate``, ``diagnose`` and ``doctor`` on an agent's SQLite store: as on files, and not a byte of it changed."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.builders import header, short_session
from tests.engine.builders import ROOT
from tests.stores import REAL, Store

COMMANDS = ["simulate", "diagnose", "doctor"]
CONFIG = "{agents: {defaults: {contextTokens: 64000}}}"


def run(*arguments: Any) -> tuple[str, str]:
    """What was printed, and what was complained of."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*map(str, arguments), stdout=out, stderr=err)
    except CommandError as error:
        return out.getvalue(), str(error)
    except SystemExit:
        pass
    return out.getvalue(), err.getvalue()


def found(*arguments: Any) -> Any:
    return json.loads(run(*arguments, "--json")[0])


def records(identity: str, turns: int = 2) -> list[dict[str, Any]]:
    return [header(4, identity), *short_session(turns=turns).records[1:]]


def files(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def state(tmp_path: Path) -> Iterator[tuple[Path, Store]]:
    """A state folder whose store is being written to; most of it stands in the log."""
    place = tmp_path / "state"
    store = Store(place / "agents" / "ops" / "agent", "ops")
    store.session(
        "s1", records("s1", 2), "agent:ops:main", entry={"totalTokens": 5, "contextTokens": 9}
    )
    store.session("s2", records("s2", 3), "agent:ops:side", packed=True)
    (place / "openclaw.json").write_text("{agents: {list: [{id: 'ops'}]}}")
    yield place, store
    store.close()


def test_a_real_store_is_simulated_and_judged(tmp_path: Path) -> None:
    path = tmp_path / "openclaw-agent.sqlite"
    shutil.copyfile(REAL, path)
    before = files(tmp_path)
    (simulated,) = found("simulate", path)
    (audited,) = found("simulate", path, "--audit")
    assert simulated["totals"]["turns"] == audited["totals"]["turns"] > 0
    assert {each["session"] for each in found("diagnose", path)["findings"]} == {
        simulated["session"]
    }
    (agent,) = found("doctor", path)["agents"]
    assert (agent["agent"], agent["sessions"]) == ("main", 1)
    assert files(tmp_path) == before


def test_a_copy_may_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / "copy.bin"
    shutil.copyfile(REAL, path)
    assert all(run(command, path)[0] for command in COMMANDS)


@pytest.mark.parametrize("part", ["", "agents/ops/agent/openclaw-agent.sqlite"])
def test_a_store_is_read_with_its_log_its_entries_and_its_configuration(
    state: tuple[Path, Store], part: str
) -> None:
    folder, _ = state
    simulated = {each["session"]: each for each in found("simulate", folder / part)}
    assert {name: each["totals"]["turns"] for name, each in simulated.items()} == {"s1": 2, "s2": 3}
    (agent,) = found("doctor", folder / part)["agents"]
    assert (agent["agent"], agent["sessions"]) == ("ops", 2)
    assert agent["config"] == str(folder / "openclaw.json")
    told = found("diagnose", folder / part)["findings"]
    assert {each["agent"] for each in told if each["session"] in ("s1", "s2")} == {"ops"}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_byte_of_a_store_changes_while_another_program_writes(
    command: str, state: tuple[Path, Store]
) -> None:
    """In a program of its own: within one, SQLite shares what it keeps of a file."""
    folder, _ = state
    before = files(folder)
    manage = [sys.executable, "manage.py", command, str(folder)]
    assert subprocess.run(manage, capture_output=True, cwd=ROOT, timeout=60).stdout
    assert files(folder) == before


def test_a_session_that_is_in_a_file_too_is_taken_from_the_store(state: tuple[Path, Store]) -> None:
    folder, _ = state
    sessions = folder / "agents" / "ops" / "sessions"
    sessions.mkdir()
    for identity, turns in (("s1", 1), ("s3", 4)):
        lines = (json.dumps(record) + "\n" for record in records(identity, turns))
        (sessions / f"{identity}.jsonl").write_text("".join(lines))
    simulated = {each["session"]: each["totals"]["turns"] for each in found("simulate", folder)}
    assert simulated == {"s1": 2, "s2": 3, "s3": 4}
    (agent,) = found("doctor", folder)["agents"]
    assert agent["sessions"] == 3


@pytest.mark.parametrize("command", COMMANDS)
def test_a_damaged_store_is_told_in_one_sentence(command: str, tmp_path: Path) -> None:
    path = tmp_path / "openclaw-agent.sqlite"
    path.write_bytes(REAL.read_bytes()[:5000])
    out, err = run(command, path)
    assert not out and str(path) in err and err.strip().count("\n") == 0
    path.write_text("no database")
    out, err = run(command, path)
    assert not out and "It is no SQLite database." in err


def test_a_damaged_store_beside_files_does_not_keep_them_from_being_judged(tmp_path: Path) -> None:
    agent = tmp_path / "agents" / "main"
    (agent / "agent").mkdir(parents=True)
    (agent / "sessions").mkdir()
    (agent / "agent" / "openclaw-agent.sqlite").write_bytes(b"no database")
    (agent / "sessions" / "s.jsonl").write_bytes(short_session().data())
    (tmp_path / "openclaw.json").write_text(CONFIG)
    told = found("diagnose", tmp_path)["findings"]
    assert "FILE_NO_TRANSCRIPT" in [each["code"] for each in told]
    (examined,) = found("doctor", tmp_path)["agents"]
    assert examined["sessions"] == 1
