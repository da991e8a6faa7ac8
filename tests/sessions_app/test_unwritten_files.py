"""A folder that nobody has written to is known by one look at each file."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from sessions_app.batches import import_files
from sessions_app.folders import walk
from sessions_app.imports import Source
from sessions_app.models import Session
from tests.builders import header, jsonl, short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(5):
        data = jsonl(header(3, f"s{number}"), *short_session(turns=1).records[1:])
        (tmp_path / f"s{number}.jsonl").write_bytes(data)
    return tmp_path


def unread() -> NoReturn:
    raise AssertionError("the file was opened")


def statuses(person: Person, folder: Path, *, may_read: bool) -> list[str]:
    sources = [Source.of_path(path, path.as_posix()) for path in walk(folder)]
    if not may_read:
        sources = [replace(s, open=unread) if s.name.endswith(".jsonl") else s for s in sources]
    return [report.status for report in import_files(person.team, sources, root=Path.cwd())]


def test_no_file_is_opened_again(alice: Person, folder: Path) -> None:
    assert statuses(alice, folder, may_read=True) == ["imported"] * 5
    assert statuses(alice, folder, may_read=False) == ["unchanged"] * 5


def test_a_file_that_was_written_to_is_read(alice: Person, folder: Path) -> None:
    statuses(alice, folder, may_read=True)
    with (folder / "s3.jsonl").open("ab") as file:
        file.write(
            b'{"type":"custom","id":"x","parentId":null,"timestamp":"2026-01-01T00:00:00Z"}\n'
        )
    assert statuses(alice, folder, may_read=True) == ["unchanged"] * 3 + ["extended", "unchanged"]


def test_a_file_that_was_only_touched_is_read_once_more(alice: Person, folder: Path) -> None:
    statuses(alice, folder, may_read=True)
    os.utime(folder / "s1.jsonl", ns=(1, 1))
    assert statuses(alice, folder, may_read=True) == ["unchanged"] * 5
    assert statuses(alice, folder, may_read=False) == ["unchanged"] * 5


def test_an_index_that_says_something_new_of_a_file_reaches_its_session(
    alice: Person, folder: Path
) -> None:
    statuses(alice, folder, may_read=True)
    entry = {"sessionId": "s2", "totalTokens": 7}
    (folder / "sessions.json").write_text(json.dumps({"agent:main:x": entry}))
    statuses(alice, folder, may_read=True)
    assert Session.objects.get(key="agent:main:x").index_entry == entry
    assert set(statuses(alice, folder, may_read=False)) == {"unchanged"}


def test_another_teams_import_of_the_same_folder_is_its_own(
    alice: Person, bob: Person, folder: Path
) -> None:
    statuses(alice, folder, may_read=True)
    assert statuses(bob, folder, may_read=True) == ["imported"] * 5
