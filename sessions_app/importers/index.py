"""``sessions.json``: which session file belongs to which session key (spec budgets 7.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.json_lines import NotJson, parse_json
from sessions_app.transcript import Problem


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
