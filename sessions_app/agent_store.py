"""Reading the SQLite store of an agent (OpenClaw 2026.7 and later) without ever changing it.

The store is in WAL mode, and while the gateway runs nearly everything may stand in ``-wal``. It is opened
read-only, its ``-shm`` too; where that file is missing, a copy in a folder of our own is read instead, for SQLite
would have to create it. Without a ``-wal`` nothing of SQLite's locking is needed and nothing is touched.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import zstandard

from sessions_app.folders import STORE_NAME

WAL, SHM = "-wal", "-shm"
MAGIC = b"SQLite format 3\x00"
MAX_EVENT_BYTES = 4 << 20
"""The largest event that the runtime packs (runs 5)."""

MAX_GAP = 100_000
"""So many rows may be missing between two; they count as blank lines."""

COPY_ATTEMPTS = 5
CHUNK_BYTES = 1 << 20


class UnreadableStore(ValueError):
    """The file is no store of an agent, or a damaged one; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class StoredWindow:
    """One session id of the store: the key it belongs to, why it began, and what came before.

    ``entry`` are the counters of the key, where this is its current session. ``generation`` changes when its
    rows were rewritten. ``put_aside`` says that it was reset or deleted, or that its rows were archived.
    """

    session_id: str
    key: str
    entry: dict[str, Any] | None
    previous: str
    reason: str
    generation: str
    put_aside: str = ""


class AgentStore:
    """An open store; all reads see one state of it."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._db, self._folder = connection, folder
        connection.execute("BEGIN")
        try:
            row = connection.execute(
                "SELECT agent_id, app_version, schema_version FROM schema_meta WHERE meta_key = 'primary'"
            ).fetchone()
        except sqlite3.DatabaseError as error:
            raise UnreadableStore(f"It is no store of an OpenClaw agent: {error}.") from error
        if row is None:
            raise UnreadableStore("It is no store of an OpenClaw agent: schema_meta is empty.")
        self.agent_id, self.app_version, self.schema_version = (
            str(row[0] or ""),
            str(row[1] or ""),
            row[2],
        )

    def windows(self) -> list[StoredWindow]:
        """Every session of the store, in the order in which they began; then those put aside."""
        generations = dict(self._rows("transcript_rewrite_watermarks", "session_id, generation"))
        nodes = {
            key: (current, _object(text))
            for key, current, text in self._rows(
                "session_nodes", "session_key, current_session_id, entry_json"
            )
        }
        cold = {str(row[0]) for row in self._rows("session_transcript_cold_archives", "session_id")}
        rows = self._rows(
            "session_windows", "session_id, session_key, previous_session_id, reason, created_at"
        )
        found = []
        for identity, key, previous, reason, _ in sorted(rows, key=lambda row: (row[4], row[0])):
            current, entry = nodes.get(key, ("", None))
            found.append(
                StoredWindow(
                    identity,
                    key,
                    entry if current == identity else None,
                    previous or "",
                    reason or "",
                    generations.get(identity, ""),
                    "archived" if identity in cold else "",
                )
            )
        known = {window.session_id for window in found}
        for identity, generation, key, reason in self._rows(
            "session_transcript_archives", "session_id, generation, session_key, reason"
        ):
            if identity not in known:
                found.append(StoredWindow(identity, key, None, "", "", generation, reason))
        return found

    def event_count(self, window: StoredWindow) -> int:
        """The number behind that of the last event."""
        row = self._db.execute(
            "SELECT max(seq) + 1 FROM transcript_events WHERE session_id = ?", (window.session_id,)
        ).fetchone()
        return int(row[0] or 0)

    def chunks(self, window: StoredWindow, start: int = 0) -> Iterator[bytes]:
        """The events of a session from number ``start`` on, one a line; the line is the number plus one."""
        if window.put_aside and not self.event_count(window):
            yield from self._archived(window)
            return
        rows = self._db.execute(
            "SELECT seq, event_json, event_zstd, event_utf8_bytes FROM transcript_events "
            "WHERE session_id = ? AND seq >= ? ORDER BY seq",
            (window.session_id, start),
        )
        lines: list[bytes] = []
        size, expected = 0, start
        for seq, text, packed, length in rows:
            lines += [b""] * min(seq - expected, MAX_GAP)
            line = _event(seq, text, packed, length)
            lines.append(line)
            size, expected = size + len(line), seq + 1
            if size >= CHUNK_BYTES:
                yield b"\n".join(lines) + b"\n"
                lines, size = [], 0
        if lines:
            yield b"\n".join(lines) + b"\n"

    def _archived(self, window: StoredWindow) -> Iterator[bytes]:
        """A session whose rows were moved to a compressed file, or are kept as one blob."""
        for table in ("session_transcript_cold_archives", "session_transcript_archives"):
            for name, blob in self._rows(
                table, "archive_name, archive_blob", "session_id = ?", (window.session_id,)
            ):
                data = blob if blob is not None else self._archive_file(str(name))
                yield from _unpacked(bytes(data))
                return

    def _archive_file(self, name: str) -> bytes:
        base = Path(name).name
        places = (self._folder, self._folder.parent / "sessions", self._folder / "archives")
        for place in places:
            if (place / base).is_file():
                return (place / base).read_bytes()
        return b""

    def _rows(
        self, table: str, columns: str, where: str = "1", values: tuple[Any, ...] = ()
    ) -> list[tuple[Any, ...]]:
        """Rows of a table, none where an older or newer store has no such table."""
        try:
            return self._db.execute(
                f"SELECT {columns} FROM {table} WHERE {where}", values
            ).fetchall()
        except sqlite3.OperationalError:
            return []


def is_store(path: Path) -> bool:
    """Whether a file is a SQLite database, whatever its name."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


@contextmanager
def opened(path: Path) -> Iterator[AgentStore]:
    """A store on disk.

    Raises:
        UnreadableStore: for a file that is none, or is damaged.
        OSError: for a file that cannot be read.
    """
    if not is_store(path):
        raise UnreadableStore("It is no SQLite database.")
    try:
        with _connection(path) as connection:
            yield AgentStore(connection, path.parent)
    except sqlite3.DatabaseError as error:
        raise UnreadableStore(f"The store is damaged: {error}.") from error


@contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    if path.with_name(path.name + SHM).exists():
        try:
            connection = _connect(path, "mode=ro&readonly_shm=1")
        except sqlite3.DatabaseError:
            pass  # its -shm is of no use to who may not write to it
        else:
            with closing(connection):
                yield connection
            return
    wal = path.with_name(path.name + WAL)
    if wal.exists() and wal.stat().st_size:
        with (
            tempfile.TemporaryDirectory() as folder,
            closing(_connect(_copy(path, Path(folder)), "mode=rw")) as connection,
        ):
            yield connection
        return
    with closing(_connect(path, "mode=ro&immutable=1")) as connection:
        yield connection


def _connect(path: Path, options: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path.resolve()))}?{options}", uri=True, isolation_level=None
    )
    try:
        connection.execute("PRAGMA query_only = 1")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError:
        connection.close()
        raise
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _copy(path: Path, folder: Path) -> Path:
    """Database and log as they fit together: the database must not have moved in between."""
    made = folder / STORE_NAME
    for _ in range(COPY_ATTEMPTS):
        before = path.stat()
        shutil.copyfile(path, made)
        shutil.copyfile(path.with_name(path.name + WAL), made.with_name(made.name + WAL))
        after = path.stat()
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
            break
    return made


def _event(seq: int, text: object, packed: object, length: object) -> bytes:
    """One event as a line; what cannot be unpacked becomes a line that is no record and says so."""
    if isinstance(text, str):
        return text.encode("utf-8", "replace").replace(b"\n", b" ")
    if isinstance(packed, bytes):
        try:
            line = zstandard.decompress(packed, max_output_size=MAX_EVENT_BYTES)
        except zstandard.ZstdError:
            return f"(event {seq} cannot be unpacked)".encode()
        if length == len(line):
            return line.replace(b"\n", b" ")
        return f"(event {seq} has {len(line)} bytes unpacked where {length} are told)".encode()
    return f"(event {seq} is empty)".encode()


def _unpacked(data: bytes) -> Iterator[bytes]:
    if not data.startswith(b"\x28\xb5\x2f\xfd"):
        yield data
        return
    with zstandard.ZstdDecompressor().stream_reader(data) as stream:
        try:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk
        except zstandard.ZstdError:
            yield b"\n(the archive cannot be unpacked from here on)\n"


def _object(text: object) -> dict[str, Any] | None:
    try:
        value = orjson.loads(text) if isinstance(text, str) else None
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None
