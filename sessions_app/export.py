"""A session as the file that the runtime would have written: OpenClaw's version 3, one record a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sessions_app.entries import window_of
from sessions_app.hidden_secrets import as_it_is, cleaner
from sessions_app.importers.links import migrate
from sessions_app.models import Entry, Session, Window
from sessions_app.payload import record_of, unpack
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.timestamps import iso_text
from sessions_app.transcripts.transcript import JsonObject

VERSION = 3
Clean = Callable[[JsonObject], JsonObject]
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def file_name(session: Session) -> str:
    """A name for the file that every file system takes."""
    stem = _ODD.sub("-", session.title.removesuffix(".jsonl")).strip("-.")[:80]
    return f"{stem or session.uuid}.jsonl"


def exported(session: Session, *, originals: bool = False) -> Iterator[bytes]:
    """The lines of the newest window, each with its line end, secrets hidden unless ``originals``.

    A window of version 3 comes back byte for byte, but for what no entry could be made of; older ones
    are written as the importer reads them, each entry with its id and its parent's.

    Raises:
        Http404: for a session without a window.
    """
    clean = as_it_is if originals else cleaner(session)
    window = window_of(session)
    as_stored = window.version == VERSION and window.header
    return _as_stored(window, clean) if as_stored else _as_read(window, clean)


def _as_stored(window: Window, clean: Clean) -> Iterator[bytes]:
    yield _shown(window.header, clean) + b"\n"
    payloads = Entry.objects.filter(window=window, seq__lt=window.entry_count).order_by("seq")
    for payload in payloads.values_list("payload", flat=True).iterator(chunk_size=500):
        yield _shown(payload, clean) + b"\n"


def _shown(payload: bytes | memoryview, clean: Clean) -> bytes:
    """The bytes of a record as they are, where nothing of it is hidden."""
    record = record_of(payload)
    shown = clean(record)
    return unpack(payload) if shown is record else _line(shown)[:-1]


def _as_read(window: Window, clean: Clean) -> Iterator[bytes]:
    header = {"type": "session", "version": VERSION, "id": window.external_id or str(window.uuid)}
    yield _line(header)
    ids: list[str] = []
    rows = Entry.objects.filter(window=window).order_by("seq")
    names = ("entry_id", "parent_seq", "kept_seq", "at_ms", "payload")
    for identity, parent, kept, at_ms, payload in rows.values_list(*names).iterator(chunk_size=500):
        ids.append(identity)
        record = {
            **migrate(record_of(payload), window.version),
            "id": identity,
            "parentId": None if parent is None else ids[parent],
        }
        if kept is not None:
            record["firstKeptEntryId"] = ids[kept]
            record.pop("firstKeptEntryIndex", None)
        if at_ms is not None and not isinstance(record.get("timestamp"), str):
            record["timestamp"] = iso_text(at_ms)
        yield _line(clean(record))


def _line(record: JsonObject) -> bytes:
    return js.json_text(record).encode("utf-8", "replace") + b"\n"
