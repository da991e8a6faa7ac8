"""A session that is one JSON document is written anew with every message: which stored one it goes on with.

Such a file shares no bytes with what it was before, so it is known by the session that its header names, and
by its entries: all that were stored must be there still. Only the last answer may read otherwise, for the
writers put into it what its tool calls returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sessions_app.importers import FileReader
from sessions_app.models import Entry as EntryRow
from sessions_app.models import Team, Window
from sessions_app.payload import unpack
from sessions_app.rows import storable
from sessions_app.transcripts.transcript import Entry, Header

_OF_ANSWER: Final = ("assistant", "toolResult")


def window_of_document(
    team: Team, reader: FileReader, items: Iterable[object], thread: str
) -> Window | None:
    """The window that a document goes on with, its ``settled_entries`` being what stays as it is; none for
    files of lines, for sessions not met before, and for one whose past reads otherwise."""
    if reader.form is None or not reader.is_document:
        return None
    found = list(items)
    header = next((item for item in found if isinstance(item, Header)), None)
    entries = [item for item in found if isinstance(item, Entry)]
    if header is None or not header.id:
        return None
    alike = Window.objects.filter(
        session__team=team,
        session__is_live=False,
        session__source=header.source,
        external_id=storable(header.id, 200),
        thread=thread,
    )
    for window in alike.select_related("session").order_by("-entry_count", "pk"):
        same = _same_beginning(window, entries)
        if same is not None:
            window.settled_entries = same
            return window
    return None


def _same_beginning(window: Window, entries: Sequence[Entry]) -> int | None:
    """How many entries are stored already just so; none where the document is no continuation."""
    if len(entries) < window.entry_count:
        return None
    stored = EntryRow.objects.filter(window=window).order_by("seq")
    rows = stored.values_list("entry_id", "role", "payload")
    same, answers = 0, 0
    for entry, (identity, role, payload) in zip(entries, rows.iterator(), strict=False):
        if same == entry.seq and entry.id == identity and entry.raw == unpack(payload):
            same += 1
            continue
        answers += role == "assistant"
        if role not in _OF_ANSWER or answers > 1:
            return None
    return same or None
