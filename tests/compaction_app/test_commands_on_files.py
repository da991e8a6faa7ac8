"""Every sort of transcript, through every command that reads files: a result or one sentence, never a traceback."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.builders import short_session
from tests.importers.reading import DATA

FOREIGN = sorted((DATA / "other_agents").iterdir())
OWN = sorted((DATA / "transcripts").glob("*.jsonl"))
COMMANDS = [("simulate",), ("simulate", "--audit"), ("diagnose",), ("doctor",)]


def said(command: tuple[str, ...], path: Path) -> tuple[str, str]:
    """What a command printed, and what it complained of."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*command, str(path), stdout=out, stderr=err)
    except CommandError as error:
        return out.getvalue(), str(error)
    except SystemExit:
        pass
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize("path", [*FOREIGN, *OWN], ids=lambda path: path.name)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_transcript_gives_a_result_or_one_sentence(
    command: tuple[str, ...], path: Path
) -> None:
    out, err = said(command, path)
    if path.name == "swe-agent-1-head.traj":  # the beginning of one JSON document, cut off
        assert not out and "swe-agent-1-head.traj: " in err and err.strip().count("\n") == 0
    else:
        assert out and not err


def broken(folder: Path) -> Path:
    """A session of the runtime itself whose compaction names no moment, and that went on after it."""
    records = short_session().records
    user, answer = (
        next(r for r in records if r.get("message", {}).get("role") == role)
        for role in ("user", "assistant")
    )
    records += [
        {"type": "compaction", "id": "c", "parentId": records[-1]["id"], "timestamp": "?", "summary": "s"},
        {**user, "id": "u", "parentId": "c"},
        {**answer, "id": "a", "parentId": "u"},
    ]  # fmt: skip
    path = folder / "broken.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize("command", COMMANDS[:2], ids=" ".join)
def test_what_the_runtime_cannot_read_is_told_with_its_line(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    path = broken(tmp_path)
    line = next(n for n, text in enumerate(path.open(), 1) if '"compaction"' in text)
    assert said(command, path) == (
        "",
        f"Session the-session, line {line}: the runtime cannot read on, there is a timestamp that names "
        "no moment.",
    )


def test_the_other_sessions_of_a_folder_are_simulated_all_the_same(tmp_path: Path) -> None:
    broken(tmp_path)
    whole = short_session().data().replace(b'"the-session"', b'"whole"')
    (tmp_path / "whole.jsonl").write_bytes(whole)
    out, err = said(("simulate",), tmp_path)
    assert out.startswith("whole  what-if")
    assert err.startswith("Session the-session, line ") and err.count("\n") == 1
