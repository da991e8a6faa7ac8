"""Entries to rows and back: the only place that knows how an entry is stored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from django.db import connection
from django.db.models import BinaryField, QuerySet
from django.db.models.functions import Length, Substr

from sessions_app.importers.answers import call_ids
from sessions_app.importers.links import Links, migrate, name_of
from sessions_app.importers.marks import message_of, turn_mark
from sessions_app.importers.openclaw import ReaderState
from sessions_app.models import Entry as EntryRow
from sessions_app.models import Window
from sessions_app.payload import SIZE_WITHIN, pack, raw_size, record_of
from sessions_app.transcripts.columns import MARKS, Columns, columns_of_rows, count_of, kind_of
from sessions_app.transcripts.measures import Measures, context_message
from sessions_app.transcripts.transcript import Entry, Header, JsonObject, Mark

_COLUMN_FIELDS = (
    "type", "role", "mark", "parent_seq", "kept_seq", "at_ms", "tokens", "thinking_tokens", "call_tokens",
    "pressure", "exact", "result_chars", "images", "pruner_chars", "view_chars", "is_wide", "usage_input",
    "usage_output", "usage_cache_read", "usage_cache_write", "tokens_before",
)  # fmt: skip
_ENTRY_FIELDS = (
    "seq", "line", "entry_id", "parent_seq", "type", "at_ms", "mark", "kept_seq", "digest", "payload",
)  # fmt: skip
_ENTRY_FIELDS = (
    "seq", "line", "entry_id", "parent_seq", "type", "at_ms", "mark", "kept_seq", "digest", "payload",
)  # fmt: skip
_MARK_NUMBERS = {mark: number for number, mark in enumerate(MARKS)}
_LONGEST_BIGINT = 2**63 - 1
_LONGEST_INT = 2**31 - 1
_AT_A_TIME = 500


def insert_entries(rows: Iterable[Mapping[str, Any]]) -> None:
    """Store the rows with these values (``entry_values``), without an object for each."""
    columns = {field.attname: str(field.column) for field in EntryRow._meta.concrete_fields}
    values = iter(rows)
    first = next(values, None)
    if first is None:
        return
    quote = connection.ops.quote_name
    names = ", ".join(quote(columns[name]) for name in first)
    places = ", ".join(["%s"] * len(first))
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {quote(EntryRow._meta.db_table)} ({names}) VALUES ({places})",
            [tuple(first.values()), *(tuple(row.values()) for row in values)],
        )


def entry_values(window: Window, entry: Entry, measures: Measures) -> dict[str, Any]:
    """The columns of an entry, always in the same order.

    Texts lose what a database cannot hold (NUL, lone surrogates); the payload not.
    """
    usage = measures.usage
    message = entry.message
    return {
        "window_id": window.pk,
        "seq": entry.seq,
        "line": entry.line,
        "entry_id": entry.id,
        "parent_seq": entry.parent_seq,
        "kept_seq": entry.kept_seq,
        "type": storable(entry.type, 32),
        "role": storable(entry.role, 32),
        "mark": entry.mark,
        "at_ms": _bounded(entry.timestamp_ms, _LONGEST_BIGINT),
        "provider": storable(message.get("provider") or entry.record.get("provider"), 100),
        "model": storable(message.get("model") or entry.record.get("modelId"), 200),
        "stop_reason": storable(message.get("stopReason"), 32),
        "tool_name": storable(message.get("toolName"), 128),
        "tokens": min(measures.tokens, _LONGEST_INT),
        "thinking_tokens": min(measures.thinking_tokens, _LONGEST_INT),
        "call_tokens": min(measures.call_tokens, _LONGEST_INT),
        "pressure": min(measures.pressure, _LONGEST_INT),
        "exact": measures.exact,
        "result_chars": min(measures.result_chars, _LONGEST_INT),
        "images": min(measures.images, 2**15 - 1),
        "pruner_chars": _bounded(measures.pruner_chars, _LONGEST_INT),
        "view_chars": min(measures.view_chars, _LONGEST_INT),
        "is_wide": measures.is_wide,
        "usage_input": _bounded(count_of(usage.input), _LONGEST_BIGINT) if usage else None,
        "usage_output": _bounded(count_of(usage.output), _LONGEST_BIGINT) if usage else None,
        "usage_cache_read": _bounded(count_of(usage.cache_read), _LONGEST_BIGINT)
        if usage
        else None,
        "usage_cache_write": _bounded(count_of(usage.cache_write), _LONGEST_BIGINT)
        if usage
        else None,
        "tokens_before": _bounded(measures.tokens_before, _LONGEST_BIGINT),
        "excerpt": storable(measures.excerpt, 240),
        "call_ids": "\n".join(_calls(entry)),
        "digest": entry.digest,
        "payload": pack(entry.raw),
    }


def columns_of_window(window: Window) -> Columns:
    """The numeric columns of a window's entries, in order; no text is loaded."""
    rows = EntryRow.objects.filter(window=window).order_by("seq")
    sized = rows.annotate(
        head=Substr("payload", 1, SIZE_WITHIN, output_field=BinaryField()), size=Length("payload")
    )
    found = sized.values_list(*_COLUMN_FIELDS, "head", "size", "tool_name")
    return columns_of_rows(
        (kind_of(kind, role), _MARK_NUMBERS[mark], *numbers, raw_size(head, size) + 1, tool)
        for kind, role, mark, *numbers, head, size, tool in found.iterator(chunk_size=5000)
    )


def messages_of(window: Window, seqs: Iterable[int]) -> Iterator[tuple[int, JsonObject]]:
    """The messages that these entries of a window add to the context, with their numbers."""
    wanted = sorted(seqs)
    for at in range(0, len(wanted), _AT_A_TIME):
        found = EntryRow.objects.filter(window=window, seq__in=wanted[at : at + _AT_A_TIME])
        for seq, kind, payload in found.values_list("seq", "type", "payload").iterator():
            record = migrate(record_of(payload), window.version)
            yield seq, context_message(kind, record)


def entries_of_window(window: Window, start: int = 0, end: int | None = None) -> Iterator[Entry]:
    """The entries of a window from number ``start`` on (up to ``end``), as the importer made them, in
    order."""
    rows = EntryRow.objects.filter(window=window, seq__gte=start).order_by("seq")
    return _entries(window, rows if end is None else rows.filter(seq__lt=end))


def entries_at(window: Window, seqs: Sequence[int]) -> Iterator[Entry]:
    """The entries of a window with these numbers, in their order."""
    for at in range(0, len(seqs), _AT_A_TIME):
        found = EntryRow.objects.filter(window=window, seq__in=seqs[at : at + _AT_A_TIME])
        yield from _entries(window, found.order_by("seq"))


def _entries(window: Window, rows: QuerySet[EntryRow]) -> Iterator[Entry]:
    for seq, line, identity, parent, kind, at_ms, mark, kept, digest, payload in rows.values_list(
        *_ENTRY_FIELDS
    ).iterator(chunk_size=50):
        yield Entry(
            seq=seq,
            line=line,
            id=identity,
            parent_seq=parent,
            type=kind,
            timestamp_ms=at_ms,
            record=migrate(record_of(payload), window.version),
            raw=b"",
            mark=cast(Mark, mark),
            kept_seq=kept,
            digest=bytes(digest),
        )


def branch_records(window: Window, leaf: int | None = None) -> Iterator[JsonObject]:
    """The records from the root to ``leaf`` (the last entry unless named), each below the one before."""
    seqs = columns_of_window(window).branch(leaf).tolist()
    before: str | None = None
    for at in range(0, len(seqs), _AT_A_TIME):
        found = EntryRow.objects.filter(window=window, seq__in=seqs[at : at + _AT_A_TIME])
        rows = found.order_by("seq").values_list("entry_id", "payload")
        for identity, payload in rows.iterator():
            record = migrate(record_of(payload), window.version)
            yield {**record, "id": identity, "parentId": before}
            before = identity


def reader_state(window: Window) -> ReaderState:
    """What the reader must know to go on behind the entries that are stored."""
    header = Header(window.external_id, window.version, None) if window.header else None
    links = Links(header)
    state = ReaderState(links)
    rows = EntryRow.objects.filter(window=window).order_by("seq")
    names = (
        "seq", "entry_id", "parent_seq", "type", "role", "mark", "digest", "call_ids", "line",
        "stop_reason",
    )  # fmt: skip
    for seq, identity, parent, kind, role, mark, digest, calls, line, stop in rows.values_list(
        *names
    ):
        links.parents.append(parent)
        links.seq_of_id[identity] = seq
        if mark == "copy":
            state.copies.add(seq)
        elif digest:
            state.seq_of_content[bytes(digest)] = seq
        if kind == "compaction" or (role in ("user", "assistant") and mark != "copy"):
            state.open_calls = {}
        named = calls.split("\n") if calls else []
        if role == "user":
            state.last_user_seq = seq
        elif role == "assistant":
            state.call_ids.update(named)
            if mark != "copy" and stop not in ("error", "aborted"):
                state.open_calls |= dict.fromkeys(named, line)
        elif role == "toolResult":
            for call in named:
                state.open_calls.pop(call, None)
    last_user = rows.filter(seq=state.last_user_seq).values_list("payload", flat=True).first()
    if last_user is not None:
        state.turn_mark = turn_mark(message_of(record_of(last_user)))
    return state


def storable(value: object, length: int) -> str:
    """A text that every database takes, at most ``length`` characters long."""
    if not isinstance(value, str):
        return ""
    text = value[:length]
    if "\x00" in text or not text.isascii():
        text = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    return text


def storable_json(value: Any, depth: int = 64) -> Any:
    """A JSON value that every database takes; what is nested deeper than ``depth`` is left out."""
    if isinstance(value, str):
        return storable(value, len(value))
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        inner = value.items() if depth else ()
        return {storable_json(key): storable_json(item, depth - 1) for key, item in inner}
    if isinstance(value, list):
        return [storable_json(item, depth - 1) for item in value] if depth else []
    return value


def _calls(entry: Entry) -> Iterable[str]:
    answered = entry.message.get("toolCallId")
    if entry.role == "toolResult" and isinstance(answered, str):
        return (name_of(answered),)
    return call_ids(entry.message) if entry.role == "assistant" else ()


def _bounded(value: int | None, limit: int) -> int | None:
    return None if value is None else max(-limit, min(value, limit))
