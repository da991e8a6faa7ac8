"""Identifiers in a text, by their form: where each stands, and of which kind it is.

One pass for each form, each begun only where the text holds what the form cannot be without; of forms
that overlap the one that begins first counts, so that a path inside a URL is no path. Most patterns begin
with a set of characters and look behind it afterwards: only so does the regular expression engine pass
over what cannot begin one without trying, and reads several times faster.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from compaction_app.engine.retention.anchors import AnchorKind
from compaction_app.engine.retention.paths import EXTENSIONS, files, paths, word_before

MAX_CHARS: Final = 300
"""A longer one is no name that anybody could repeat."""

Span = tuple[int, int, AnchorKind]

_FULL_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_WIDE = re.compile("[\uff01-\uff5e\u3000]")
_DIGIT_AND_REST = re.compile(r"[0-9][^\n]*")
_DOTTED_DIGITS = re.compile(r"[0-9]\.[0-9]")
_UUID_MIDDLE = re.compile(r"-[0-9a-fA-F]{4}-")
_TICKET_NUMBER = re.compile(r"[-#!][0-9]")
_UUID = re.compile(
    r"(?<![0-9A-Za-z-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z-])"
)
_HEX_RUN = re.compile(r"[0-9a-fA-F][0-9a-fA-F]{6,127}")
_HASH_NAME = re.compile(r"sha(?:1|256|512):\Z")
_CLINGS = re.compile(r"[0-9A-Za-z_-]")
_BEHIND_SCHEME = re.compile(r"://[!#-&(-;=?-\[\]_a-z~]+")
_SCHEME = re.compile(
    r"(?<![A-Za-z0-9])(?:https?|wss?|s?ftp|ssh|git|s3|gs|postgres(?:ql)?|mysql|rediss?|amqps?|mongodb(?:\+srv)?|file)\Z"
)
_LONGEST_SCHEME: Final = 11
_PORT = re.compile(r":([0-9]{2,5})(?![\w-]|[:.][0-9])", re.ASCII)
_HOST = re.compile(
    r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}|localhost"
    r"|(?:[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?\.)+(?P<top>[A-Za-z]{2,24})"
    r"|(?P<single>[a-z][a-z0-9]*(?:-[a-z0-9]+)+|redis|postgres|mysql|mongo|rabbitmq|kafka|minio|nginx|elasticsearch)",
    re.ASCII | re.IGNORECASE,
)
_CLINGS_TO_HOST: Final = ("@", "/")
_IP = re.compile(r"(?<![\w.-])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w.:-]*[\w:])", re.ASCII)
_VERSION = re.compile(
    r"[vV0-9](?<![\w.$€£¥￥/-].)"
    r"(?:(?<=[vV])[0-9]{1,4}(?:\.[0-9]{1,5}){1,3}|(?<=[0-9])[0-9]{0,3}\.[0-9]{1,5}\.[0-9]{1,5})"
    r"(?:[.-]?(?i:alpha|beta|rc|dev|pre|post|snapshot|final)[.-]?[0-9]*)?(?:\+[\w.]*\w)?(?!\w|[.,-][0-9]|\s?%)",
    re.ASCII,
)
_TWO_NUMBERS = re.compile(
    r"[vV0-9](?:(?<=[vV])[0-9]{1,4}|(?<=[0-9])[0-9]{0,3})\.[0-9]{1,5}(?![\w%]|[.,][0-9])"
)
_HAS_VERSIONS = re.compile(
    r"(?<![\w.])(?:version|release|python|node|django|postgres(?:ql)?|java|ruby|php|rust|ubuntu|debian|redis|mysql|"
    r"openclaw|版本)[ :]{0,2}\Z",
    re.IGNORECASE,
)
_LONGEST_NAME: Final = 12
_NO_VERSION_BEFORE = re.compile(
    r"(?:section|chapter|figure|table|step|part|sections|paragraph|§|第|章|节)\s*\Z", re.IGNORECASE
)
_HEADING_BEFORE = re.compile(r"(?:\A|\n)[ \t#*]*\Z")
_HEADING_BEHIND = re.compile(r"[ \t]+[A-Z\u4e00-\u9fff]")
_DATE = re.compile(r"[0-3]?[0-9]\.[01]?[0-9]\.[0-9]{4}\Z|[0-9]{1,3}(?:\.[0-9]{3}){2,}\Z", re.ASCII)
_TICKET = re.compile(
    r"[A-Z#itbp](?<![\w/&#.-].)(?:(?<=C)VE-[0-9]{4}-[0-9]{4,7}|(?<=[A-Z])[A-Z0-9]{1,9}-[0-9]{1,6}"
    r"|(?:(?<=[Ii])(?i:ssue)|(?<=[Tt])(?i:icket)|(?<=[Bb])(?i:ug)|(?<=[Pp])(?i:ull request)|(?<=[PM])R)\s?[#!]?[0-9]{1,6}"
    r"|(?<=#)[0-9]{2,6})(?![\w-])",
    re.ASCII,
)
_NO_PROJECTS: Final = frozenset(
    {"UTF", "SHA", "ISO", "GPT", "COVID", "HTTP", "AES", "RFC", "MD", "IEEE", "RSA", "CP", "UCS", "TLS",
     "SSL", "USB", "MP", "PM", "AM", "IPV", "BASE", "CRC", "ES", "ECMA", "ASCII", "EBCDIC", "KOI", "GB",
     "BIG", "CORE", "CLAUDE", "LLAMA", "QWEN", "GLM", "DDR", "PCI", "ED", "SECP", "BLAKE", "X", "Q"}
)  # fmt: skip
_UNITS: Final = (
    r"ms|µs|us|ns|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|weeks?|months?|years?"
    r"|[KMGTP]i?B|kB|[kKMG]bps|[KMG]bit/s|bytes?|bits?|[kMG]?Hz|px|rem|dpi|fps|kg|mg|km|cm|mm|miles"
    r"|°[CF]|USD|EUR|GBP|CNY|dollars?|euros?|cents|percent|req/s|requests?/s|rps|qps"
    r"|tokens?|requests?|rows?|users?|records|connections|workers|threads|replicas|retries|characters|chars|cores|GPUs?|CPUs?|vCPUs?"
)
_CHINESE_UNITS: Final = r"毫秒|微秒|秒钟?|分钟|个?小时|天|个月|个?星期|周|字节|兆|万元|亿元|元|美元|欧元|千克|公斤|公里|厘米|毫米|像素|字符|个?请求|个?并发|个?线程|个?连接"
_NUMBER: Final = r"(?:[0-9]{1,3}(?:,[0-9]{3})++|[0-9]++)(?:\.[0-9]+)?+"
_REST_OF_NUMBER: Final = r"(?:[0-9]{0,2}(?:,[0-9]{3})++|[0-9]*+)(?:\.[0-9]+)?+"
_QUANTITY = re.compile(
    r"[0-9$€£¥￥](?<![A-Za-z0-9_.,$€£¥￥#/-].)(?<![0-9]:.)"
    rf"(?:(?<=[0-9]){_REST_OF_NUMBER}(?:\s?[%％‰]|\s?[-]?(?:{_UNITS})(?![A-Za-z0-9_/])|\s?(?:{_CHINESE_UNITS}))"
    rf"|(?<![0-9])\s?{_NUMBER}(?:\s?(?:k|K|m|M|bn|million|billion)\b|万|亿)?(?![\w,.]*[0-9]))"
)
_PRONOUN = re.compile(r"[0-9] us\Z", re.ASCII)
_ORDINAL = re.compile(r"(?:第|步骤|step|day|week|line|page|item)\s*\Z", re.IGNORECASE)


def identifiers(text: str) -> list[Span]:
    """Each identifier from left to right: its first and last character, and its kind."""
    plain = plain_form(text)
    found: list[Span] = []
    if "://" in plain:
        # A full-width mark ends an address; only one that is written wide itself is read as a usual one.
        _add_urls(text if "://" in text else plain, found)
    _add_named_files(plain, found)
    _add_with_digits(plain, found)
    if len(found) > 1:
        found.sort(key=_by_place)
    end, chosen = -1, []
    for span in found:
        start, stop, _ = span
        if start >= end and stop - start <= MAX_CHARS:
            end = stop
            chosen.append(span)
    return chosen


def _by_place(span: Span) -> tuple[int, int]:
    return span[0], -span[1]


def plain_form(text: str) -> str:
    """The text with full-width forms as the usual ones; every character stays in its place."""
    if text.isascii() or _WIDE.search(text) is None:
        return text
    return text.translate(_FULL_WIDTH)


def _add_named_files(text: str, found: list[Span]) -> None:
    """What needs no digit."""
    if "/" in text or "\\" in text:
        found += [(start, end, "path") for start, end in paths(text)]
    if "." in text:
        found += [(start, end, "path") for start, end in files(text)]


def _add_with_digits(text: str, found: list[Span]) -> None:
    """What has a digit, searched for in the lines that have any: in code those are few."""
    lines, starts, at = [], [], 0
    places: list[int] = []
    for match in _DIGIT_AND_REST.finditer(text):
        first, end = match.span()
        start = text.rfind("\n", 0, first) + 1
        lines.append(text[start:end])
        starts.append(at)
        places.append(start)
        at += end - start + 1
    if not lines:
        return
    for start, stop, kind in _digit_forms("\n".join(lines)):
        line = bisect_right(starts, start) - 1
        moved = places[line] - starts[line]
        found.append((start + moved, stop + moved, kind))


def _digit_forms(text: str) -> list[Span]:
    found: list[Span] = []
    if _DOTTED_DIGITS.search(text):
        _add_versions(text, found)
        for match in _IP.finditer(text):
            if all(int(part) < 256 for part in match[0].split(".")):
                found.append((*match.span(), "host_port"))
    if ":" in text:
        _add_hosts(text, found)
    if _UUID_MIDDLE.search(text):
        found += [(*match.span(), "uuid") for match in _UUID.finditer(text)]
    _add_hashes(text, found)
    if _TICKET_NUMBER.search(text):
        for match in _TICKET.finditer(text):
            if match[0].partition("-")[0] not in _NO_PROJECTS:
                found.append((*match.span(), "ticket"))
    _add_quantities(text, found)
    return found


def _add_urls(text: str, found: list[Span]) -> None:
    at = 0
    while (match := _BEHIND_SCHEME.search(text, at)) is not None:
        colon, at = match.start(), match.start() + 3
        scheme = _SCHEME.search(text, max(0, colon - _LONGEST_SCHEME), colon)
        if scheme is None:
            continue
        start, at = scheme.start(), match.end()
        url = text[start:at].rstrip(".,;:!?*_~")
        while url.endswith((")", "]")) and url.count(url[-1]) > url.count("(["[url[-1] == "]"]):
            url = url[:-1].rstrip(".,;:!?*_~")
        if len(url) > url.index("://") + 3:
            found.append((start, start + len(url), "url"))


def _add_hosts(text: str, found: list[Span]) -> None:
    for match in _PORT.finditer(text):
        start, before = word_before(text, match.start())
        host = _HOST.fullmatch(text, start, match.start())
        if host is None or before in _CLINGS_TO_HOST or int(match[1]) > 65_535:
            continue
        if host["single"] and int(match[1]) < 1024:
            continue
        if host["top"] and host["top"].lower() in EXTENSIONS:
            continue
        found.append((start, match.end(), "host_port"))


def _add_versions(text: str, found: list[Span]) -> None:
    for match in _VERSION.finditer(text):
        if match[0][0] in "vV" or not _is_other_number(match):
            found.append((*match.span(), "version"))
    for match in _TWO_NUMBERS.finditer(text):
        start = match.start()
        if _HAS_VERSIONS.search(text, max(0, start - _LONGEST_NAME), start):
            found.append((*match.span(), "version"))


def _is_other_number(match: re.Match[str]) -> bool:
    """Whether numbers with dots are a date, a sum of thousands, or the number of a section."""
    if _DATE.match(match[0]):
        return True
    text, before = match.string, max(0, match.start() - 24)
    is_heading = _HEADING_BEFORE.search(text, before, match.start()) is not None
    if is_heading and _HEADING_BEHIND.match(text, match.end()):
        return True
    return _NO_VERSION_BEFORE.search(text, before, match.start()) is not None


def _add_hashes(text: str, found: list[Span]) -> None:
    for match in _HEX_RUN.finditer(text):
        run = match[0]
        if run.isdigit() or run.isalpha() or not (run.islower() or run.isupper()):
            continue
        start, end = match.span()
        if named := _HASH_NAME.search(text, max(0, start - 7), start):
            start = named.start()
        before, behind = text[start - 1 : start], text[end : end + 1]
        if not _CLINGS.match(before) and not _CLINGS.match(behind) and before != "#":
            found.append((start, end, "hash"))


def _add_quantities(text: str, found: list[Span]) -> None:
    for match in _QUANTITY.finditer(text):
        if _PRONOUN.search(match[0]):
            continue
        if not _ORDINAL.search(text, max(0, match.start() - 8), match.start()):
            found.append((*match.span(), "quantity"))
