"""``manage.py watch`` as a program: news within a second, a folder nobody may write to, a clean end."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import header, jsonl, short_session
from tests.importers.reading import ROOT

LINES = jsonl(*short_session(turns=3).records).splitlines(keepends=True)
PATIENCE = 30.0
DATABASE = "watch.sqlite3"


def environment(data: Path) -> dict[str, str]:
    """The program's, with a database of its own in a folder."""
    return {
        **{name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        "DATA_DIR": str(data),
        "DATABASE_URL": f"sqlite:///{data / DATABASE}",
    }


class Watcher:
    """The program, on a database of its own."""

    def __init__(self, folder: Path, data: Path) -> None:
        self.database = data / DATABASE
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "watch", str(folder)],
            cwd=ROOT, env=environment(data), stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        assert "watching" in self.process.stdout.readline()

    def entries(self) -> int:
        with sqlite3.connect(self.database, timeout=10) as database:
            return int(database.execute("SELECT count(*) FROM sessions_app_entry").fetchone()[0])

    def wait_for(self, entries: int) -> float:
        """The seconds until so many entries are stored."""
        begun = time.monotonic()
        while self.entries() < entries:
            assert time.monotonic() - begun < PATIENCE, (
                f"{self.entries()} of {entries} entries came"
            )
            time.sleep(0.02)
        return time.monotonic() - begun


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with all tables and nothing in them."""
    data = tmp_path_factory.mktemp("empty")
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, env=environment(data), check=True)
    return data / DATABASE


@pytest.fixture
def place(empty: Path, tmp_path: Path) -> Iterator[tuple[Path, Watcher]]:
    """A watcher of each test's own: one of them ends it."""
    folder, data = tmp_path / "watched", tmp_path / "data"
    folder.mkdir()
    data.mkdir()
    (folder / "first.jsonl").write_bytes(LINES[0] + LINES[1])
    shutil.copy(empty, data / DATABASE)
    watcher = Watcher(folder, data)
    yield folder, watcher
    if watcher.process.poll() is None:
        watcher.process.send_signal(signal.SIGTERM)
        assert watcher.process.wait(PATIENCE) == 0


def test_what_was_there_and_what_comes_is_stored_soon(place: tuple[Path, Watcher]) -> None:
    folder, watcher = place
    already = watcher.wait_for(1)
    assert already < PATIENCE
    waits = []
    for number, line in enumerate(LINES[2:8]):
        with (folder / "first.jsonl").open("ab") as file:
            file.write(line)
        waits.append(watcher.wait_for(2 + number))
    assert sorted(waits)[len(waits) // 2] < 1.0
    other = jsonl(header(3, "other"), *short_session(turns=3).records[1:])
    (folder / "second.jsonl").write_bytes(other)
    watcher.wait_for(7 + 12)


def test_sigterm_ends_it_cleanly(place: tuple[Path, Watcher]) -> None:
    _, watcher = place
    watcher.process.send_signal(signal.SIGTERM)
    assert watcher.process.wait(PATIENCE) == 0


def test_a_folder_that_is_not_there_is_said_in_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "watch", "/nowhere/at/all"], cwd=ROOT, capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
