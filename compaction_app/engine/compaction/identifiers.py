"""Which opaque identifiers of a text a summary has to carry over unchanged (spec compaction 3.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sessions_app.tokens import javascript as js

MAX_IDENTIFIERS = 12
MIN_LENGTH = 4

# The alternatives are tried in this order at each position: hex run, URL, path, Windows path,
# host and port, long number.
_IDENTIFIER = re.compile(
    r"[A-Fa-f0-9]{8,}"
    rf"|https?://{js.NON_SPACE_CLASS}+"
    r"|/[\w.-]{2,}(?:/[\w.-]+)+"
    r"|[A-Za-z]:\\[\w\\.-]+"
    r"|[A-Za-z0-9._-]+\.[A-Za-z0-9._/-]+:\d{1,5}"
    r"|\b\d{6,}\b",
    re.ASCII,
)
_HEX = re.compile(r"[A-Fa-f0-9]{8,}")
_LEADING = "(\"'`[{<"
_TRAILING = ")]\"'`,;:.!?<>"


def is_hex(identifier: str) -> bool:
    """Whether it is a run of hexadecimal digits, whose case does not matter."""
    return _HEX.fullmatch(identifier) is not None


def opaque_identifiers(text: str) -> list[str]:
    """The first distinct identifiers of a text in order, hex runs in upper case."""
    found: dict[str, None] = {}
    for match in _IDENTIFIER.findall(text):
        bare = js.trim(match).lstrip(_LEADING).rstrip(_TRAILING)
        identifier = bare.upper() if is_hex(bare) else bare
        if js.utf16_len(identifier) >= MIN_LENGTH:
            found[identifier] = None
    return list(found)[:MAX_IDENTIFIERS]


def missing_identifiers(summary: str, identifiers: Sequence[str]) -> list[str]:
    """Those a summary does not contain; hex runs are compared without regard to case."""
    upper = summary.upper()
    return [i for i in identifiers if (i.upper() not in upper if is_hex(i) else i not in summary)]
