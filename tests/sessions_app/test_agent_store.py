"""Reading a store: in place, live, as a copy, damaged; and never a byte of it changed."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from sessions_app.agent_store import AgentStore, UnreadableStore, opened
from tests.builders import header, short_session
from tests.stores import REAL, Store


def records(identity: str = "s1", turns: int = 2) -> list[dict[str, object]]:
    chain = short_session(turns=turns)
    return [header(4, identity), *chain.records[1:]]


def files(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file with its digest and the time it was last written to."""
    return {
        path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in folder.iterdir()
    }


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "agent")
    store.session("s1", records())
    yield store
    store.close()


def events(store: AgentStore, start: int = 0, index: int = 0) -> list[bytes]:
    return b"".join(store.chunks(store.windows()[index], start)).splitlines()


def test_a_store_that_is_being_written_to_is_read_with_its_log_and_not_changed(live: Store) -> None:
    """The file itself holds next to nothing while everything stands in the log."""
    folder = live.path.parent
    assert live.path.stat().st_size <= 4096 < (folder / f"{live.path.name}-wal").stat().st_size
    before = files(folder)
    with opened(live.path) as store:
        assert len(events(store)) == 9
        live.append("s1", short_session(turns=1).records[1:])
        assert len(events(store)) == 9  # one state, whatever is written meanwhile
    with opened(live.path) as store:
        assert len(events(store)) == 13
    after = files(folder)
    assert after[live.path.name] == before[live.path.name]
    assert after.keys() == before.keys()


READ = """
import sys
from pathlib import Path
from sessions_app.agent_store import opened
with opened(Path(sys.argv[1])) as store:
    print(sum(len(b"".join(store.chunks(window)).splitlines()) for window in store.windows()))
"""


def test_reading_changes_no_byte_of_any_file_while_another_program_writes(live: Store) -> None:
    """In a program of its own: within one, SQLite shares what it keeps of a file."""
    before = files(live.path.parent)
    read = subprocess.run(
        [sys.executable, "-c", READ, str(live.path)], capture_output=True, check=True, timeout=60
    )
    assert read.stdout == b"9\n"
    assert files(live.path.parent) == before


def test_a_writer_is_not_held_up_by_a_reader(live: Store) -> None:
    with opened(live.path) as store:
        store.windows()
        live.append("s1", short_session(turns=1).records[1:])
        live.db.execute("PRAGMA wal_checkpoint(PASSIVE)")


def test_the_store_of_a_stopped_gateway_is_read_in_a_folder_nobody_may_write_to(
    live: Store, tmp_path: Path
) -> None:
    live.checkpoint()
    live.close()
    folder = live.path.parent
    before = files(folder)
    os.chmod(folder, 0o500)
    try:
        with opened(live.path) as store:
            assert len(events(store)) == 9
    finally:
        os.chmod(folder, 0o700)
    assert files(folder) == before


@pytest.mark.parametrize("sides", [("-wal", "-shm"), ("-wal",)])
def test_a_copy_of_a_live_store_is_read_with_and_without_its_shm(
    live: Store, tmp_path: Path, sides: tuple[str, ...]
) -> None:
    copy = tmp_path / "copy" / live.path.name
    copy.parent.mkdir()
    for side in ("", *sides):
        shutil.copyfile(f"{live.path}{side}", f"{copy}{side}")
    before = files(copy.parent)
    with opened(copy) as store:
        assert len(events(store)) == 9
    assert files(copy.parent) == before


def test_names_that_mean_something_in_an_address_are_only_names(tmp_path: Path) -> None:
    store = Store(tmp_path / "odd?mode=rwc#100%")
    store.session("s1", records())
    with opened(store.path) as found:
        assert found.agent_id == "main"
    store.close()


def test_events_are_the_same_packed_or_not(live: Store) -> None:
    live.session("s2", records("s2"), packed=True, previous="s1", reason="reset")
    with opened(live.path) as store:
        first, second = events(store), events(store, index=1)
        assert [b.replace(b'"s2"', b'"s1"') for b in second] == first
        assert events(store, 5, index=1) == second[5:]


def test_windows_know_their_key_why_they_began_and_what_the_key_counts(live: Store) -> None:
    live.session("s2", records("s2"), previous="s1", reason="reset", entry={"totalTokens": 7})
    with opened(live.path) as store:
        first, second = store.windows()
        assert (first.session_id, first.key, first.reason) == ("s1", "agent:main:main", "initial")
        assert first.entry is None
        assert (second.previous, second.reason) == ("s1", "reset")
        assert second.entry == {"sessionId": "s2", "totalTokens": 7}
        assert (store.app_version, store.schema_version) == ("2026.9.6", 23)


def test_an_event_that_cannot_be_unpacked_is_a_line_that_says_so(live: Store) -> None:
    live.session("s2", records("s2"), packed=True)
    live.db.execute(
        "UPDATE transcript_events SET event_zstd = x'28b52ffd00' WHERE session_id = 's2' AND seq = 3"
    )
    live.db.execute(
        "UPDATE transcript_events SET event_utf8_bytes = 3 WHERE session_id = 's2' AND seq = 4"
    )
    with opened(live.path) as store:
        lines = events(store, index=1)
    assert lines[3] == b"(event 3 cannot be unpacked)"
    assert lines[4].startswith(b"(event 4 has ")
    assert len(lines) == 9


def test_missing_numbers_are_blank_lines_so_that_a_line_is_always_the_number_plus_one(
    live: Store,
) -> None:
    live.db.execute("DELETE FROM transcript_events WHERE seq IN (3, 4)")
    with opened(live.path) as store:
        lines = events(store)
        assert lines[3:5] == [b"", b""]
        assert len(lines) == 9
        assert store.event_count(store.windows()[0]) == 9


@pytest.mark.parametrize("encoding", ["identity", "zstd"])
def test_a_deleted_session_is_read_from_its_archive(live: Store, encoding: str) -> None:
    data = b'{"type":"session","version":4,"id":"gone"}\n'
    blob = zstandard.compress(data) if encoding == "zstd" else data
    live.db.execute(
        "INSERT INTO session_transcript_archives (session_id, generation, session_key, reason, encoding, "
        "archive_blob, archive_sha256, archive_name, created_at) VALUES ('gone', 'g', 'agent:main:x', "
        "'deleted', ?, ?, ?, 'gone.jsonl', 1)",
        (encoding, blob, "0" * 64),
    )
    with opened(live.path) as store:
        last = store.windows()[-1]
        assert (last.session_id, last.put_aside) == ("gone", "deleted")
        assert b"".join(store.chunks(last)) == data


@pytest.mark.parametrize("where", ["sessions", "agent"])
def test_a_cold_session_is_read_from_the_file_it_was_moved_to(live: Store, where: str) -> None:
    live.session("cold", [], "agent:main:cold")
    data = b'{"type":"session","version":4,"id":"cold"}\n'
    place = live.path.parent.parent / where
    place.mkdir(exist_ok=True)
    (place / "cold.jsonl.zst").write_bytes(zstandard.compress(data))
    live.db.execute(
        "INSERT INTO session_transcript_cold_archives VALUES "
        "('cold', 'g', 'cold.jsonl.zst', ?, 1, 1, 1, 0, 1, 'file', NULL)",
        ("0" * 64,),
    )
    with opened(live.path) as store:
        last = store.windows()[-1]
        assert last.put_aside == "archived"
        assert b"".join(store.chunks(last)) == data


def test_a_real_store_is_read_in_full() -> None:
    before = hashlib.sha256(REAL.read_bytes()).hexdigest()
    with opened(REAL) as store:
        (window,) = store.windows()
        lines = events(store)
    assert len(lines) == 49
    assert lines[0].startswith(b'{"type":"session","version":4')
    assert window.entry is not None
    assert window.entry["compactionCount"] == 4
    assert hashlib.sha256(REAL.read_bytes()).hexdigest() == before
    assert {path.name for path in REAL.parent.iterdir()} == {REAL.name, "schema.sql"}


def test_what_is_no_store_is_refused_with_a_reason(tmp_path: Path) -> None:
    text = tmp_path / "openclaw-agent.sqlite"
    text.write_bytes(b"hello")
    with pytest.raises(UnreadableStore, match="no SQLite database"), opened(text):
        pass
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE notes (x)")
    with pytest.raises(UnreadableStore, match="no store of an OpenClaw agent"), opened(other):
        pass


def test_a_damaged_store_is_refused_and_nothing_else_happens(tmp_path: Path) -> None:
    broken = tmp_path / "openclaw-agent.sqlite"
    data = bytearray(REAL.read_bytes())
    data[4096 * 3 : 4096 * 60] = os.urandom(4096 * 57)
    broken.write_bytes(data)
    with pytest.raises(UnreadableStore), opened(broken) as store:
        for window in store.windows():
            list(store.chunks(window))
