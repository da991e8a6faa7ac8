"""Which opaque identifiers of a text a summary has to carry over unchanged (spec compaction 3.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from sessions_app.tokens import javascript as js

MAX_IDENTIFIERS = 12
MIN_LENGTH = 4
MAX_CLINGING = 40
"""How many characters before and behind hex digits may belong to the same word."""

_NAME = "[A-Za-z0-9._-]"
# Hex run, URL, path, Windows path: tried in this order at each position, before host and port.
_FIRST = re.compile(
    r"[A-Fa-f0-9]{8,}"
    rf"|https?://{js.NON_SPACE_CLASS}+"
    r"|/[\w.-]{2,}(?:/[\w.-]+)+"
    r"|[A-Za-z]:\\[\w\\.-]+",
    re.ASCII,
)
# Host and port, as rf"{_NAME}+\.{_ADDRESS}+:[0-9]{{1,5}}" at every position would find them. That takes
# quadratic time in long words; so only addresses with a port are looked at, and of them only the
# beginnings of names: where no host begins there, none begins inside the name.
_ADDRESS = "[A-Za-z0-9._/-]"
_HOST = re.compile(rf"(?={_ADDRESS}++:[0-9]){_NAME}+\.{_ADDRESS}++:[0-9]{{1,5}}")
_HOST_NAME = re.compile(rf"(?<!{_NAME}){_NAME}+\.{_ADDRESS}")
_ADDRESS_HERE = re.compile(rf"{_ADDRESS}++(?=:[0-9])")
_ADDRESS_AHEAD = re.compile(rf"(?<!{_ADDRESS}){_ADDRESS}++(?=:[0-9])")
_NUMBER = re.compile(r"\b\d{6,}\b", re.ASCII)
_HEX = re.compile(r"[A-Fa-f0-9]{8,}")
_WORD = re.compile(r"[\w-]*", re.ASCII)
_WORD_END = re.compile(r"[\w-]*\Z", re.ASCII)
Search = Callable[[str, int], re.Match[str] | None]
_LEADING = "(\"'`[{<"
_TRAILING = ")]\"'`,;:.!?<>"


@dataclass(frozen=True, slots=True)
class IdentifierRules:
    """``numbers``: the pattern of long numbers: alone, or with the whole word they stand in."""

    numbers: re.Pattern[str] = _NUMBER


IDENTIFIERS_2026_5_28 = IdentifierRules()
IDENTIFIERS_2026_9 = IdentifierRules(re.compile(r"\b\w*?\d{6,}\w*", re.ASCII))


def is_hex(identifier: str) -> bool:
    """Whether it is a run of hexadecimal digits, whose case does not matter."""
    return _HEX.fullmatch(identifier) is not None


def opaque_identifiers(text: str, rules: IdentifierRules = IDENTIFIERS_2026_5_28) -> list[str]:
    """The first distinct identifiers of a text in order, hex runs in upper case."""
    return list(identifiers_in_their_words(text, rules))


def identifiers_in_their_words(
    text: str, rules: IdentifierRules = IDENTIFIERS_2026_5_28
) -> dict[str, str]:
    """The same identifiers, each with the word it stands in: a run of a UUID with the whole UUID."""
    found: dict[str, str] = {}
    for match in _candidates(text, rules):
        bare = js.trim(match[0]).lstrip(_LEADING).rstrip(_TRAILING)
        run = is_hex(bare)
        identifier = bare.upper() if run else bare
        if js.utf16_len(identifier) >= MIN_LENGTH and identifier not in found:
            found[identifier] = _word_around(match) if run else bare
            if len(found) == MAX_IDENTIFIERS:
                break
    return found


def _word_around(match: re.Match[str]) -> str:
    """Hex digits with what clings to them, as far as a word of usual length reaches."""
    text, (start, end) = match.string, match.span()
    before = _WORD_END.search(text, max(0, start - MAX_CLINGING), start)
    after = _WORD.match(text, end, end + MAX_CLINGING)
    return (before[0] if before else "") + match[0] + (after[0] if after else "")


def _candidates(text: str, rules: IdentifierRules) -> Iterator[re.Match[str]]:
    """All matches from left to right; of those that begin together the first kind counts."""
    kinds: tuple[Search, ...] = (_FIRST.search, _host, rules.numbers.search)
    ahead = [find(text, 0) for find in kinds]
    while found := [match for match in ahead if match is not None]:
        match = min(found, key=re.Match.start)
        yield match
        for kind, find in enumerate(kinds):
            known = ahead[kind]
            if known is not None and known.start() < match.end():
                ahead[kind] = find(text, match.end())


def _host(text: str, position: int) -> re.Match[str] | None:
    """The next host and port; ``position`` may lie inside a name, which then counts from there."""
    if (here := _HOST.match(text, position)) is not None:
        return here
    rest = _ADDRESS_HERE.match(text, position)
    for address in chain(() if rest is None else (rest,), _ADDRESS_AHEAD.finditer(text, position)):
        name = _HOST_NAME.search(text, address.start(), address.end())
        if name is not None:
            return _HOST.match(text, name.start())
    return None


def missing_identifiers(summary: str, identifiers: Sequence[str]) -> list[str]:
    """Those a summary does not contain; hex runs are compared without regard to case."""
    upper = summary.upper()
    return [i for i in identifiers if (i.upper() not in upper if is_hex(i) else i not in summary)]
