"""Stores of an agent as OpenClaw 2026.9.6 writes them, with the schema of a real one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import zstandard

from tests.importers.reading import DATA

SCHEMA = (DATA / "stores" / "schema.sql").read_text()
REAL = DATA / "stores" / "manual-compact.sqlite"
NAVIGATION = json.dumps(
    {
        "version": 1, "report": {"kind": "canonical"}, "navigation": {}, "reset": {}, "model": {},
        "modelBytes": 0, "modelWithoutCheckpointBytes": 0, "withoutCustomDataBytes": 0,
    }
)  # fmt: skip


class Store:
    """A store that somebody is writing to; nothing is moved out of the log unless ``checkpoint`` is called."""

    def __init__(self, folder: Path, agent: str = "main") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "openclaw-agent.sqlite"
        self.db = sqlite3.connect(self.path, isolation_level=None)
        self.db.create_function("octet_length", 1, lambda v: len(v.encode()), deterministic=True)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA wal_autocheckpoint = 0")
        if not self.db.execute("SELECT 1 FROM sqlite_master").fetchone():
            self.db.executescript(SCHEMA)
            self.db.execute(
                "INSERT INTO schema_meta VALUES ('primary', 'agent', 23, ?, '2026.9.6', 1, 1)",
                (agent,),
            )

    def session(
        self,
        identity: str,
        records: Iterable[Mapping[str, Any]],
        key: str = "agent:main:main",
        *,
        packed: bool = False,
        reason: str = "initial",
        previous: str | None = None,
        entry: Mapping[str, Any] | None = None,
    ) -> None:
        """A session of a key, its newest; the key is made where it is missing."""
        self.db.execute(
            "INSERT INTO session_nodes (session_key, current_session_id, entry_json, updated_at) "
            "VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET current_session_id = excluded.current_session_id, "
            "entry_json = excluded.entry_json",
            (key, identity, json.dumps({"sessionId": identity, **(entry or {})})),
        )
        count = self.db.execute("SELECT count(*) FROM session_windows").fetchone()[0]
        self.db.execute(
            "INSERT INTO session_windows (session_id, session_key, previous_session_id, reason, created_at, "
            "updated_at) VALUES (?, ?, ?, ?, ?, 1)",
            (identity, key, previous, reason, count),
        )
        self.append(identity, records, packed=packed)

    def append(
        self, identity: str, records: Iterable[Mapping[str, Any]], *, packed: bool = False
    ) -> None:
        last = self.db.execute(
            "SELECT coalesce(max(seq), -1) FROM transcript_events WHERE session_id = ?", (identity,)
        ).fetchone()[0]
        for seq, record in enumerate(records, last + 1):
            text = json.dumps(record, separators=(",", ":"))
            raw = text.encode()
            row = (None, zstandard.compress(raw, 1), len(raw), NAVIGATION) if packed and seq else (text, None, len(raw), None)  # fmt: skip
            self.db.execute(
                "INSERT INTO transcript_events (session_id, seq, event_json, event_zstd, event_utf8_bytes, "
                "navigation_json, created_at) VALUES (?, ?, ?, ?, ?, ?, 1)",
                (identity, seq, *row),
            )

    def rewrite(self, identity: str, records: Iterable[Mapping[str, Any]], generation: str) -> None:
        """Put other events in the place of those there are."""
        self.db.execute("DELETE FROM transcript_events WHERE session_id = ?", (identity,))
        self.db.execute(
            "INSERT INTO transcript_rewrite_watermarks VALUES (?, ?, 1) "
            "ON CONFLICT DO UPDATE SET generation = excluded.generation",
            (identity, generation),
        )
        self.append(identity, records)

    def checkpoint(self) -> None:
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self.db.close()
