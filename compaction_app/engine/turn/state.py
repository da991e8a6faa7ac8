"""What a turn starts from and leaves behind: the session's entries and its entry in the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compaction_app.engine.last_usage import ReadAt
from compaction_app.engine.pruning.session_rewrite import active_branch
from sessions_app.tokens import javascript as js

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SessionState:
    """A session between two turns; nothing in it is ever changed in place.

    ``entries`` stand in file order, the last one is the leaf. ``index`` is the session's object in
    ``sessions.json``. ``header_bytes`` and ``entry_bytes`` are what the two take in the file.
    ``branch`` is the active branch, root first; appending keeps it up to date. ``queued`` are events that the next prompt tells the model of.
    """

    entries: tuple[Entry, ...] = ()
    index: Entry = field(default_factory=dict)
    header_bytes: int = 0
    entry_bytes: int = 0
    branch: tuple[Entry, ...] = ()
    queued: tuple[str, ...] = ()

    @property
    def byte_size(self) -> int:
        """The transcript's size; there is no file before the first entry."""
        return self.header_bytes + self.entry_bytes if self.entries else 0

    @property
    def leaf_id(self) -> str | None:
        return self.entries[-1]["id"] if self.entries else None

    def with_entries(self, new: Sequence[Entry]) -> SessionState:
        """The session with ``new`` appended as they are."""
        if not new:
            return self
        entries = (*self.entries, *new)
        return replace(
            self,
            entries=entries,
            entry_bytes=self.entry_bytes + sum(map(line_bytes, new)),
            branch=self._grown(new) or tuple(active_branch(entries)),
        )

    def _grown(self, new: Sequence[Entry]) -> tuple[Entry, ...] | None:
        """The branch with ``new`` behind its leaf; none where they hang elsewhere."""
        leaf = self.leaf_id
        for entry in new:
            if entry.get("parentId") != leaf:
                return None
            leaf = entry["id"]
        return (*self.branch, *new)

    def with_index(self, index: Entry) -> SessionState:
        return replace(self, index=index)


def line_bytes(entry: Entry) -> int:
    """The bytes an entry takes in the file, with its line end."""
    return js.utf8_len(js.json_text(entry)) + 1


def file_reader(state: SessionState) -> ReadAt:
    """Reads the session's transcript as if it were a file; only what is asked for is written out.

    What stands before the first entry (the header) reads as blanks.
    """
    tail = b""
    left = len(state.entries)

    def read(offset: int, size: int) -> bytes:
        nonlocal tail, left
        while state.byte_size - len(tail) > offset and left:
            left -= 1
            line = js.json_text(state.entries[left]).encode("utf-8", "surrogatepass")
            tail = line + b"\n" + tail
        start = offset - (state.byte_size - len(tail))
        if start < 0:
            return (b" " * -start + tail)[:size]
        return tail[start : start + size]

    return read
