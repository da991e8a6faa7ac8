"""Which entries of a transcript file count, and which of them is the leaf (spec budgets 7.4).

The runtime reads its files in two ways. The *loose* loader opens a session to go on with it: it takes
every line as it comes, but only below a proper header. The *strict* loader prepares rewrites: it needs
no header, keeps only sound entries and mends the links that went through the others
(`sessions_app.transcripts.link_repair`). Both bring older versions up to date first, on copies.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final

from sessions_app.tokens import javascript as js
from sessions_app.transcripts.json_lines import Json
from sessions_app.transcripts.link_repair import keep_sound_entries

CURRENT_VERSION: Final = 3

IdSource = Callable[[], str]


class UnreadableTranscript(ValueError):
    """The runtime itself fails on this file: a `null` line, a message entry without a message, ...

    ``entry_id`` is that of the entry at fault, "" where it is not known.
    """

    def __init__(self, message: str, entry_id: Json = "") -> None:
        super().__init__(message)
        self.entry_id = entry_id if isinstance(entry_id, str) else ""


class UnknownEntry(LookupError):
    """No entry with that id."""


@dataclass(frozen=True, slots=True)
class LoadedTranscript:
    """A transcript as a tree of entries with a current leaf.

    ``entries`` are in file order, the header left out. ``leaf_id`` is None when the session is empty,
    was reset to its start, or ends in a line without an id; in the last case the context is still
    built from that line, which is why ``leaf`` is kept beside it.
    """

    header: Mapping[str, Any] | None
    entries: tuple[Json, ...]
    leaf_id: Json = None
    leaf: Json = None
    migrated: bool = False
    _by_id: Mapping[Any, Json] = field(default_factory=dict, repr=False)

    def entry(self, entry_id: object) -> Json | None:
        """The entry of that id; of a repeated id the one that counts. None when there is none."""
        return self._by_id.get(id_key(entry_id))

    def at(self, entry_id: str | None) -> LoadedTranscript:
        """The same transcript with its leaf moved to an entry, or before the first one for None.

        Raises:
            UnknownEntry: when no entry has that id.
        """
        if entry_id is None:
            return replace(self, leaf_id=None, leaf=None)
        entry = self.entry(entry_id)
        if entry is None:
            raise UnknownEntry(entry_id)
        return replace(self, leaf_id=entry_id, leaf=entry)

    def branch(self) -> list[Json]:
        """The entries from the root, or from a missing parent, to the leaf."""
        return self.path_to(self.entry(self.leaf_id)) if js.is_truthy(self.leaf_id) else []

    def path_to(self, entry: Json | None) -> list[Json]:
        """The chain of parents that ends in ``entry``; a loop in the links ends it."""
        path: list[Json] = []
        seen: set[int] = set()
        while entry is not None and id(entry) not in seen:
            seen.add(id(entry))
            path.append(entry)
            parent = entry.get("parentId") if isinstance(entry, dict) else None
            entry = self.entry(parent) if js.is_truthy(parent) else None
        path.reverse()
        return path


def id_key(entry_id: object) -> Hashable:
    """What makes two ids the same: type and value, and for lists and objects only identity."""
    if isinstance(entry_id, str):
        return entry_id
    if isinstance(entry_id, list | dict):
        return ("object", id(entry_id))
    return (isinstance(entry_id, bool), entry_id)


def sequential_ids() -> IdSource:
    """Ids of the usual form, eight hexadecimal digits, in ascending order."""
    numbers = count(1)
    return lambda: f"{next(numbers):08x}"


def load_loose(values: Sequence[Json], new_id: IdSource | None = None) -> LoadedTranscript:
    """A session as the runtime opens it; without a header first, an empty one.

    Args:
        values: the JSON values of the file's lines, in order.
        new_id: where version 1 entries get their ids from; unique within the file.

    Raises:
        UnreadableTranscript: for a line that is `null`, and for a line that cannot take an id.
    """
    if not values:
        return LoadedTranscript(header=None, entries=())
    header = _type_holder(values[0])
    if header.get("type") != "session" or not isinstance(header.get("id"), str):
        return LoadedTranscript(header=None, entries=())
    current, migrated = migrate(values, new_id or sequential_ids())
    entries = tuple(value for value in current if _type_holder(value).get("type") != "session")
    by_id: dict[Hashable, Json] = {}
    leaf: Json = None
    leaf_id: Json = None
    for value in entries:
        holder = _type_holder(value)
        leaf_id = holder.get("id")
        leaf = value
        if "id" in holder:
            by_id[id_key(leaf_id)] = value
    return LoadedTranscript(
        header=_first_header(current),
        entries=entries,
        leaf_id=leaf_id,
        leaf=None if leaf_id is None and _has_null_id(leaf) else leaf,
        migrated=migrated,
        _by_id=by_id,
    )


def load_strict(values: Sequence[Json], new_id: IdSource | None = None) -> LoadedTranscript:
    """The sound entries of a file, whatever else stands in it; never raises."""
    slots = [value if isinstance(value, dict) else _slot(i) for i, value in enumerate(values)]
    header = _first_header(slots)
    version = header.get("version") if header else None
    current, _ = migrate(slots, new_id or sequential_ids())
    accepted = keep_sound_entries(current)
    entries = tuple(accepted.values())
    leaf = entries[-1] if entries else None
    return LoadedTranscript(
        header=_first_header(current),
        entries=entries,
        leaf_id=leaf["id"] if leaf else None,
        leaf=leaf,
        migrated=(version if js.is_number(version) else 1) < CURRENT_VERSION,
        _by_id=accepted,
    )


def latest_compaction(values: Sequence[Json]) -> Mapping[str, Any] | None:
    """The last compaction in the file, on whichever branch.

    Raises:
        UnreadableTranscript: for a line that is `null` behind it.
    """
    for value in reversed(values):
        holder = _type_holder(value)
        if holder.get("type") == "compaction":
            return holder
    return None


def migrate(values: Sequence[Json], new_id: IdSource) -> tuple[list[Json], bool]:
    """The entries in the current version's form, and whether anything had to change.

    Version 1 had a list without ids, version 2 called custom messages hook messages.

    Raises:
        UnreadableTranscript: for a version 1 line that is no object and no list.
    """
    header = _first_header(values)
    version = _version(header)
    if not version < CURRENT_VERSION:
        return list(values), False
    current = _with_ids(values, new_id) if version < 2 else list(values)
    return [_with_custom_role(value) for value in current], True


def _version(header: Mapping[str, Any] | None) -> float:
    """The header's version; missing is 1, and one that is no number is never below any other."""
    version = header.get("version") if header else None
    if version is None:
        return 1
    return version if isinstance(version, int | float) else float("nan")


def _with_ids(values: Sequence[Json], new_id: IdSource) -> list[Json]:
    current: list[Json] = []
    previous: str | None = None
    for value in values:
        entry = dict(_owner(value))
        if entry.get("type") == "session":
            entry["version"] = 2
        else:
            entry["id"], entry["parentId"] = new_id(), previous
            previous = entry["id"]
        current.append(entry)
        if entry.get("type") == "compaction" and js.is_number(entry.get("firstKeptEntryIndex")):
            _name_first_kept(entry, current, values)
    return current


def _name_first_kept(entry: dict[str, Any], current: list[Json], values: Sequence[Json]) -> None:
    """An index into the file, the header being 0, becomes an id; later entries have none yet."""
    index = entry.pop("firstKeptEntryIndex")
    if not 0 <= index < len(values) or index != int(index):
        return
    index = int(index)
    target = current[index] if index < len(current) else _owner(values[index])
    if target.get("type") != "session":
        entry["firstKeptEntryId"] = target.get("id")


def _with_custom_role(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    if value.get("type") == "session":
        return {**value, "version": CURRENT_VERSION}
    message = value.get("message")
    if value.get("type") != "message" or not isinstance(message, dict):
        return value
    if message.get("role") != "hookMessage":
        return value
    return {**value, "message": {**message, "role": "custom"}}


def _owner(value: Json) -> Mapping[str, Any]:
    """What can take an id: an object, or a list (which JavaScript lets carry one)."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return {}
    raise UnreadableTranscript("a version 1 line that is neither an object nor a list")


def _type_holder(value: Json) -> Mapping[str, Any]:
    if value is None:
        raise UnreadableTranscript("a line that is null")
    return value if isinstance(value, dict) else {}


def _first_header(values: Iterable[Json]) -> Mapping[str, Any] | None:
    for value in values:
        holder = _type_holder(value)
        if holder.get("type") == "session":
            return holder
    return None


def _has_null_id(value: Json) -> bool:
    """Reads as "before the first entry", while a line without any id is still a place to stand."""
    return isinstance(value, dict) and "id" in value


def _slot(index: int) -> dict[str, Any]:
    """The place of a line that is no object, so that indices into the file stay right."""
    return {"type": "invalid", "id": f"invalid-{index}", "parentId": None}
