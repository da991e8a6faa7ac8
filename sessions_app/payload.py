"""How an entry's bytes are kept: compressed when that pays, otherwise as they are."""

from __future__ import annotations

from typing import Any

import zstandard

from sessions_app.transcripts.json_lines import NotJson, parse_json

COMPRESS_FROM = 512
_MAGIC = b"\x28\xb5\x2f\xfd"


def pack(raw: bytes) -> bytes:
    """Bytes of one JSON record as they are stored."""
    if len(raw) < COMPRESS_FROM:
        return raw
    packed = zstandard.compress(raw, 3)
    return packed if len(packed) < len(raw) else raw


def unpack(stored: bytes | memoryview) -> bytes:
    """The bytes that ``pack`` was given; a JSON record never begins with zstd's magic number."""
    stored = bytes(stored)
    return zstandard.decompress(stored) if stored.startswith(_MAGIC) else stored


def record_of(stored: bytes | memoryview) -> dict[str, Any]:
    """The record itself, an empty one where it is nested too deeply to be read here."""
    try:
        value = parse_json(unpack(stored))
    except NotJson:
        return {}
    return value if isinstance(value, dict) else {}
