"""``sessions.json``: which session file belongs to which session key (spec budgets 7.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.transcripts.json_lines import NotJson, parse_json
from sessions_app.transcripts.transcript import Problem


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One entry of the index: the session's key and the object stored under it."""

    key: str
    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Index:
    """The index by session id, and what was wrong with the file."""

    by_session_id: Mapping[str, IndexEntry]
    problems: tuple[Problem, ...] = ()


def read_index(data: bytes) -> Index:
    """Never raises: an unreadable index is an empty one with a problem."""
    if not data.strip():
        return Index({}, (Problem(0, "INDEX_EMPTY", "sessions.json is empty (0 bytes of JSON)."),))
    try:
        value = parse_json(data)
    except NotJson as error:
        message = f"sessions.json is not JSON: {error}"
        return Index({}, (Problem(0, "INDEX_UNREADABLE", message, data),))
    if not isinstance(value, dict):
        return Index({}, (Problem(0, "INDEX_UNREADABLE", "sessions.json holds no object.", data),))
    found = {
        str(entry["sessionId"]): IndexEntry(key, entry)
        for key, entry in value.items()
        if isinstance(entry, dict) and isinstance(entry.get("sessionId"), str)
    }
    strange = sorted(k for k, v in value.items() if not isinstance(v, dict))
    problems = tuple(
        Problem(0, "INDEX_UNREADABLE", f"The entry {key!r} of sessions.json is no object.")
        for key in strange[:20]
    )
    return Index(found, problems)


def file_of(entry: Mapping[str, Any]) -> str:
    """The name of the transcript that an entry speaks of, without its folder."""
    named = entry.get("sessionFile")
    if isinstance(named, str) and named.strip():
        return named.replace("\\", "/").rpartition("/")[2]
    return f"{entry['sessionId']}.jsonl"


def is_archive(name: str) -> bool:
    """Whether a transcript was put aside: reset, deleted, or kept as it was before a compaction."""
    return "." in name.removesuffix(".jsonl")


def unmatched(index: Index, files: Mapping[str, str]) -> Iterator[Problem]:
    """Entries without a file, and files without an entry.

    ``files`` are the transcripts beside the index by name, each with the session id in its header; a
    file belongs to an entry by either. Archives need none, nor do files that a later session of the
    same family has taken the place of.
    """
    wanted = {file_of(known.entry) for known in index.by_session_id.values()}
    older = {
        member
        for known in index.by_session_id.values()
        for member in (known.entry.get("usageFamilySessionIds") or [])
        if isinstance(member, str)
    }
    here = {name.removesuffix(".jsonl").split("-topic-")[0] for name in files} | set(files.values())
    for identity, known in index.by_session_id.items():
        name = file_of(known.entry)
        if name not in files and identity not in here:
            message = f"The entry {known.key!r} of sessions.json has no file {name}."
            yield Problem(0, "INDEX_MISSING_SESSION", message)
    for name, identity in files.items():
        stem = name.removesuffix(".jsonl").split("-topic-")[0]
        is_known = name in wanted or {stem, identity} & (index.by_session_id.keys() | older)
        if not is_known and not is_archive(name):
            message = f"The file {name} has no entry in sessions.json."
            yield Problem(0, "INDEX_MISSING_SESSION", message)
