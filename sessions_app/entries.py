"""The entries of a session as pages show them: a table in pages, and one entry in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404

from sessions_app.hidden_secrets import TAG, clean_record
from sessions_app.importers.links import migrate
from sessions_app.loaded import columns_of
from sessions_app.masking import mask
from sessions_app.models import Entry, ImportProblem, Session, Window
from sessions_app.payload import record_of, unpack
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.measures import CALL_TYPES
from sessions_app.transcripts.timestamps import epoch_ms

PER_PAGE = 50
SHOWN_CHARS = 20_000
"""Longer texts are cut on the page; the whole entry is one click away."""

MARK_TITLES = {
    "flush": "memory flush turn",
    "injected": "written by the gateway, not by the model",
    "copy": "appended again by a session rewrite",
    "compact_command": "typed /compact",
    "unknown_type": "entry type no version knows",
}
FILTERS = {
    "all": {},
    "user": {"type": "message", "role": "user"},
    "assistant": {"type": "message", "role": "assistant"},
    "results": {"type": "message", "role": "toolResult"},
    "compactions": {"type": "compaction"},
}
_LIST_FIELDS = (
    "seq", "line", "entry_id", "type", "role", "mark", "at_ms", "model", "tool_name", "tokens", "exact",
    "usage_input", "usage_cache_read", "usage_cache_write", "usage_output", "excerpt", "stop_reason",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table: the entry, why it is no part of the conversation, what was billed."""

    entry: Entry
    note: str
    elsewhere: bool
    prompt: int | None


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of an entry to read: ``kind`` names it, ``cut`` how many characters are not shown."""

    kind: str
    title: str
    text: str
    cut: int = 0


def window_of(session: Session) -> Window:
    """The window that pages show: the newest.

    Raises:
        Http404: for a session without one.
    """
    window = session.windows.order_by("-sequence").first()
    if window is None:
        raise Http404("The session holds no transcript.")
    return window


def entries_page(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """One page of the table. Entries that are not on the shown branch are marked."""
    window = window_of(session)
    chosen = query.get("only", "all")
    found = Entry.objects.filter(window=window, **FILTERS.get(chosen, {})).order_by("seq")
    page = Paginator(found.only(*_LIST_FIELDS), PER_PAGE).get_page(_page_number(query, found))
    on_branch = set(columns_of(window).branch().tolist())
    lines = [
        Line(e, MARK_TITLES.get(e.mark, ""), e.seq not in on_branch, _prompt(e))
        for e in page.object_list
    ]
    return {
        "window": window,
        "page": page,
        "rows": lines,
        "only": chosen if chosen in FILTERS else "all",
        "filters": FILTERS,
        "problems": ImportProblem.objects.filter(window=window)
        .defer("raw")
        .order_by("line", "pk")[:200],
    }


def _prompt(entry: Entry) -> int | None:
    if entry.usage_input is None:
        return None
    return entry.usage_input + (entry.usage_cache_read or 0) + (entry.usage_cache_write or 0)


def _page_number(query: Mapping[str, str], found: Any) -> str | int:
    """The page asked for, or the one that holds the entry ``at``."""
    at = query.get("at", "")
    if at.isascii() and at.isdigit() and len(at) < 10:
        return int(found.filter(seq__lt=int(at)).count()) // PER_PAGE + 1
    return query.get("page", "1")


def entry_view(session: Session, seq: int) -> dict[str, Any]:
    """One entry with its texts.

    Raises:
        Http404: when the session has no such entry.
    """
    window = window_of(session)
    entry = Entry.objects.filter(window=window, seq=seq).first()
    if entry is None:
        raise Http404("The session has no such entry.")
    record = clean_record(migrate(record_of(entry.payload), window.version))
    return {
        "window": window,
        "entry": entry,
        "note": MARK_TITLES.get(entry.mark, ""),
        "is_on_branch": bool((columns_of(window).branch() == seq).any()),
        "blocks": (blocks := list(blocks_of(record))),
        "hidden": sum(len(TAG.findall(block.text)) for block in blocks),
        "at_ms": epoch_ms(record.get("timestamp")),
        "bytes": len(unpack(entry.payload)),
    }


def raw_text(session: Session, seq: int) -> str:
    """The stored record as text, masked.

    Raises:
        Http404: when the session has no such entry.
    """
    payload = (
        Entry.objects.filter(window=window_of(session), seq=seq)
        .values_list("payload", flat=True)
        .first()
    )
    if payload is None:
        raise Http404("The session has no such entry.")
    return payload_text(payload)


def payload_text(payload: bytes | memoryview) -> str:
    """A stored record as text: as it was read, but for what is hidden of it."""
    raw, record = unpack(payload), record_of(payload)
    cleaned = clean_record(record)
    return mask(raw.decode("utf-8", "replace") if cleaned is record else _json(cleaned))


def blocks_of(record: Mapping[str, Any]) -> Iterator[Block]:
    """What there is to read in a record, in its order."""
    message = record.get("message")
    if not isinstance(message, Mapping):
        if isinstance(record.get("summary"), str):
            yield _block("summary", "Summary", record["summary"])
        rest = {
            k: v for k, v in record.items() if k not in ("summary", "id", "parentId", "timestamp")
        }
        yield _block("record", "Record", _json(rest))
        return
    content = message.get("content")
    if isinstance(content, str):
        yield _block("text", "Text", content)
    for item in content if isinstance(content, list) else ():
        yield _content_block(item)
    for key in ("errorMessage", "command", "output", "summary"):
        if isinstance(message.get(key), str):
            yield _block(key, key, message[key])


def _content_block(item: Any) -> Block:
    if not isinstance(item, Mapping):
        return _block("other", "Other", _json(item))
    kind = item.get("type")
    if kind in ("text", "thinking") and isinstance(item.get(kind), str):
        return _block(kind, kind.capitalize(), item[kind])
    if kind in CALL_TYPES:
        arguments = item.get("arguments", item.get("input"))
        return _block("call", f"Tool call {item.get('name', '')}", _json(arguments))
    if kind == "image":
        size = len(item["data"]) if isinstance(item.get("data"), str) else 0
        return _block(
            "image", "Image", f"{item.get('mimeType', 'image')}, {size:,} characters of data"
        )
    return _block("other", str(kind or "Other"), _json(item))


def _block(kind: str, title: str, text: str) -> Block:
    text = mask(text)  # before the cut, which could part what a rule would hide
    cut = max(len(text) - SHOWN_CHARS, 0)
    return Block(kind, sendable(mask(title)), sendable(text[:SHOWN_CHARS]), cut)


def sendable(text: str) -> str:
    """``text`` as a page can carry it: a lone surrogate, which UTF-8 cannot, becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _json(value: Any) -> str:
    try:
        return js.json_text(value)
    except js.NoJson:
        return "nested too deeply to be shown"
