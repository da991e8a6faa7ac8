"""How an entry's bytes are kept: compressed when that pays, otherwise as they are."""

from __future__ import annotations

import threading
from typing import Any

import zstandard

from sessions_app.transcripts.json_lines import NotJson, parse_json

COMPRESS_FROM = 512
SIZE_WITHIN = 18
"""A compressed record tells its size within so many bytes."""

_MAGIC = b"\x28\xb5\x2f\xfd"
_LEVEL = 1
_of_thread = threading.local()


def _compressor() -> zstandard.ZstdCompressor:
    """One for each thread: to make one takes as long as to compress an entry."""
    found: zstandard.ZstdCompressor | None = getattr(_of_thread, "compressor", None)
    if found is None:
        found = _of_thread.compressor = zstandard.ZstdCompressor(level=_LEVEL)
    return found


def pack(raw: bytes) -> bytes:
    """Bytes of one JSON record as they are stored."""
    if len(raw) < COMPRESS_FROM:
        return raw
    packed = _compressor().compress(raw)
    return packed if len(packed) < len(raw) else raw


def unpack(stored: bytes | memoryview) -> bytes:
    """The bytes that ``pack`` was given; a JSON record never begins with zstd's magic number."""
    stored = bytes(stored)
    return zstandard.decompress(stored) if stored.startswith(_MAGIC) else stored


def raw_size(head: bytes | memoryview, size: int) -> int:
    """How many bytes ``pack`` was given, from the first ones of what it made and their number."""
    head = bytes(head)
    return zstandard.frame_content_size(head) if head.startswith(_MAGIC) else size


def record_of(stored: bytes | memoryview) -> dict[str, Any]:
    """The record itself, an empty one where it is nested too deeply to be read here."""
    try:
        value = parse_json(unpack(stored))
    except NotJson:
        return {}
    return value if isinstance(value, dict) else {}
