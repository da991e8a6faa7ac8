"""How a transcript's tree is mended when some of its entries cannot be trusted (spec budgets 7.4).

A sound entry below a rejected one is hung from the nearest ancestor that was accepted. A compaction
that keeps from a rejected entry keeps from the closest sound one instead. Nothing is moved twice:
entries are taken in file order, and only what stands earlier in the file is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sessions_app.transcripts.entry_validation import is_name, is_sound_entry
from sessions_app.transcripts.json_lines import Json

Entry = Mapping[str, Any]


def keep_sound_entries(values: Iterable[Json]) -> dict[str, Entry]:
    """The sound entries by id, in file order, with their links mended; of a repeated id the first.

    A header is no entry, so what names it as parent names nothing that ever was one.
    """
    repair = _Repair()
    for value in values:
        if is_sound_entry(value):
            repair.take(value)
        elif isinstance(value, dict) and value.get("type") != "session":
            repair.reject(value)
    return repair.accepted


class _Repair:
    def __init__(self) -> None:
        self.accepted: dict[str, Entry] = {}
        self._rejected_parent: dict[str, str | None] = {}
        self._chains: dict[str, tuple[str, ...]] = {}
        self._first_below: dict[str, str] = {}
        self._hung_below: dict[str, tuple[str, ...]] = {}

    def take(self, entry: Entry) -> None:
        """Accept the file's next entry, unless its id is taken or it labels what was not accepted."""
        entry_id: str = entry["id"]
        if entry["type"] == "label" and entry["targetId"] not in self.accepted:
            self.reject(entry)
        elif entry_id not in self.accepted:
            self.accepted[entry_id] = self._mended(entry)

    def reject(self, value: Entry) -> None:
        """Remember an object that was not accepted, for those below it."""
        entry_id, parent = value.get("id"), value.get("parentId")
        if is_name(entry_id):
            self._rejected_parent[entry_id] = parent if is_name(parent) else None
            self._chains.clear()

    def _mended(self, entry: Entry) -> Entry:
        parent = entry.get("parentId")
        if (
            parent not in self._rejected_parent
            and entry["type"] != "compaction"
            and "parentId" in entry
        ):
            return entry
        chain = self._chain(parent)
        if chain:
            parent = self._accepted_above(chain)
        if entry["type"] == "compaction":
            kept = entry["firstKeptEntryId"]
            if kept in self._rejected_parent:
                return {**entry, "parentId": parent, "firstKeptEntryId": self._kept(kept, parent)}
        else:
            self._note_descendant(entry["id"], chain)
        if "parentId" in entry and entry["parentId"] == parent:
            return entry
        return {**entry, "parentId": parent}

    def _chain(self, entry_id: str | None) -> tuple[str, ...]:
        """The rejected entries from this one upwards, this one included; empty when it is not."""
        if entry_id is None or entry_id not in self._rejected_parent:
            return ()
        if entry_id not in self._chains:
            chain: dict[str, None] = {}
            current: str | None = entry_id
            while current is not None and current in self._rejected_parent and current not in chain:
                chain[current] = None
                current = self._rejected_parent[current]
            self._chains[entry_id] = tuple(chain)
        return self._chains[entry_id]

    def _accepted_above(self, chain: tuple[str, ...]) -> str | None:
        above = self._rejected_parent[chain[-1]]
        return above if above in self.accepted else None

    def _note_descendant(self, entry_id: str, chain: tuple[str, ...]) -> None:
        if chain:
            self._hung_below[entry_id] = chain
        for rejected in chain:
            if rejected in self._first_below:
                break  # whoever noted this one noted all above it
            self._first_below[rejected] = entry_id

    def _kept(self, rejected: str, parent: str | None) -> str:
        """What a compaction below ``parent`` keeps from instead of a rejected entry."""
        return (
            self._accepted_above(self._chain(rejected))
            or self._first_on_branch_below(rejected, parent)
            or self._first_below.get(rejected)
            or parent
            or rejected
        )

    def _first_on_branch_below(self, rejected: str, leaf: str | None) -> str | None:
        """The first entry, from the root, of the leaf's branch that hung below the rejected one."""
        found: str | None = None
        seen: set[str] = set()
        while leaf is not None and leaf in self.accepted and leaf not in seen:
            seen.add(leaf)
            if rejected in self._hung_below.get(leaf, ()):
                found = leaf
            leaf = self.accepted[leaf].get("parentId")
        return found
