"""``manage.py import_sessions``: what it takes, prints and exits with."""

from __future__ import annotations

import json
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from sessions_app.models import Session, Team
from tests.builders import short_session
from tests.importers.reading import DATA, SAMPLES

pytestmark = pytest.mark.django_db


def run(*paths: Path, status: int = 0, **options: Any) -> list[dict[str, Any]]:
    out = StringIO()
    arguments = ["import_sessions", *map(str, paths), "--json"]
    if status:
        with pytest.raises(SystemExit) as ended:
            call_command(*arguments, stdout=out, stderr=StringIO(), **options)
        assert ended.value.code == status
    else:
        call_command(*arguments, stdout=out, **options)
    found: list[dict[str, Any]] = json.loads(out.getvalue())
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "one.jsonl"
    path.write_bytes(short_session().data())
    return path


def test_the_answer_has_one_object_per_file(file: Path) -> None:
    session = {
        "format": "openclaw",
        "lines": 9,
        "entries": 8,
        "branches": 1,
        "compactions": 0,
        "peakBilled": 1180,
        "problems": [],
    }
    (report,) = run(file)
    (shown,) = report.pop("sessions")
    assert report == {"path": file.as_posix(), "status": "imported", "error": None}
    assert shown.pop("id") == str(Session.objects.get().uuid)
    assert shown.pop("peakEstimated") == Session.objects.get().facts["peakEstimated"]
    assert shown == session


def test_the_same_file_again_is_unchanged_and_a_grown_one_extended(file: Path) -> None:
    run(file)
    assert [r["status"] for r in run(file)] == ["unchanged"]
    chain = short_session()
    chain.user("More")
    file.write_bytes(chain.data() + b"garbage\n")
    (report,) = run(file)
    assert report["status"] == "extended"
    (problem,) = report["sessions"][0]["problems"]
    assert sorted(problem) == ["kind", "line", "message"]
    assert (problem["line"], problem["kind"]) == (11, "FILE_BAD_LINE")


def test_the_numbers_of_the_real_files() -> None:
    paths = [
        SAMPLES / "pi-v3-1-two-compactions.jsonl",
        DATA / "transcripts" / "pi-v1-1-two-compactions.jsonl",
        DATA / "transcripts" / "pi-v1-2-compaction-and-joined-records.jsonl",
    ]
    new, old, joined = (report["sessions"][0] for report in run(*paths))
    for session in (new, old):
        assert (session["lines"], session["compactions"]) == (1003, 2)
        assert (session["peakBilled"], session["branches"]) == (185_014, 1)
        assert session["problems"] == []
    assert (new["peakEstimated"], new["entries"]) == (old["peakEstimated"], old["entries"])
    assert [(p["line"], p["kind"]) for p in joined["problems"]] == [(1013, "FILE_JOINED_RECORDS")]
    assert joined["lines"] == 1013
    assert joined["entries"] == 1013


def test_unknown_figures_are_null() -> None:
    (report,) = run(SAMPLES / "openclaw-1-large-tool-results.jsonl")
    assert report["sessions"][0]["peakBilled"] is None
    assert report["sessions"][0]["peakEstimated"] > 0


def test_a_state_folder_is_walked(tmp_path: Path) -> None:
    sessions = tmp_path / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    sample = SAMPLES / "keep-small-32k"
    shutil.copy(sample / "openclaw.json", tmp_path)
    shutil.copy(sample / "sessions.json", sessions)
    (transcript,) = sample.glob("*.jsonl")
    shutil.copy(transcript, sessions)
    reports = run(tmp_path)
    assert {Path(r["path"]).name: r["status"] for r in reports} == {
        "openclaw.json": "imported",
        "sessions.json": "imported",
        transcript.name: "imported",
    }
    session = Session.objects.get()
    assert session.index_entry is not None
    assert session.agent is not None
    assert session.agent.name == "main"
    assert {r["status"] for r in run(tmp_path)} == {"unchanged"}
    # The transcript alone finds the same beside it.
    assert {r["status"] for r in run(sessions / transcript.name)} == {"unchanged"}


def test_an_empty_index_beside_a_session_is_said_and_is_no_failure(file: Path) -> None:
    (file.parent / "sessions.json").touch()
    reports = {Path(r["path"]).name: r for r in run(file.parent)}
    assert reports["sessions.json"]["status"] == "refused"
    assert "empty" in reports["sessions.json"]["error"]
    assert reports["one.jsonl"]["status"] == "imported"


def test_a_missing_path_is_refused_and_the_others_are_imported(file: Path) -> None:
    reports = run(file.parent / "nowhere", file, status=1)
    assert [(r["status"], r["error"], len(r["sessions"])) for r in reports] == [
        ("refused", "There is no such file or folder.", 0),
        ("imported", None, 1),
    ]


def test_a_named_file_that_is_no_transcript_fails_the_command(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "notes.jsonl"
    other.write_text("hello\n")
    (bad, good) = sorted(run(other, file, status=1), key=lambda r: r["path"])
    assert (bad["status"], good["status"]) == ("refused", "imported")
    assert "No session transcript" in bad["error"]
    # Met by the way in a folder it is told, but the folder is imported.
    assert [r["status"] for r in run(tmp_path)] == ["refused", "unchanged"]


def test_one_file_named_twice_is_one_file(file: Path) -> None:
    assert len(run(file, file, file.parent)) == 1


def test_a_folder_without_sessions_is_said(tmp_path: Path) -> None:
    assert run(tmp_path, status=1) == []
    err = StringIO()
    with pytest.raises(SystemExit):
        call_command("import_sessions", str(tmp_path), stdout=StringIO(), stderr=err)
    assert "No session files" in err.getvalue()


def test_the_team_is_the_first_unless_another_is_named(file: Path) -> None:
    Team.objects.create(name="First")
    other = Team.objects.create(name="Other")
    run(file, team="Other")
    assert Session.objects.get().team == other
    run(file)
    assert Session.objects.count() == 2
    with pytest.raises(CommandError, match=r"no team 'Third'. Teams: First, Other"):
        call_command("import_sessions", str(file), team="Third")


def test_without_json_people_read_what_became_of_each_file(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = StringIO()
    call_command("import_sessions", str(file), stdout=out)
    assert out.getvalue().startswith(f"imported   {file.as_posix()}\n")
    assert "8 entries, 0 compactions, peak 1,180 tokens, 0 problems" in out.getvalue()
    assert "\x1b[" not in out.getvalue()


def test_the_samples_are_loaded_once() -> None:
    first, second = StringIO(), StringIO()
    call_command("load_samples", stdout=first)
    assert first.getvalue().count("imported sample session") == 6
    assert Session.objects.count() == 6
    call_command("load_samples", stdout=second)
    assert "imported" not in second.getvalue()
    assert Session.objects.count() == 6
