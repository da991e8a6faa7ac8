"""Values that are secrets by what they are given to: ``password = …``, ``"apiKey": "…"``, ``--token …``.

A name alone proves nothing: most values behind such names in a transcript are code, words for a place
to be filled, or numbers of tokens. So a value must also look like one that nobody would type twice.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from sessions_app.secret_texts.spans import Span

NAMES: Final = (
    ("password", "password"), ("passwd", "password"), ("passphrase", "password"), ("pwd", "password"),
    ("secret", "secret"), ("token", "token"), ("apikey", "API key"), ("api_key", "API key"),
    ("api-key", "API key"), ("access_key", "access key"), ("accesskey", "access key"),
    ("accountkey", "account key"), ("private_key", "private key"), ("privatekey", "private key"),
    ("amz-signature", "signature"), ("credential", "credential"),
)  # fmt: skip
"""What names a secret, in lower case, with the kind that it is called by."""

_ASSIGNED = re.compile(
    r"(?P<rest>[\w-]{0,24})(?P<close>[\\\"'`\]]{0,6})\s{0,4}(?:=>|:=|={1,3}|:)\s{0,4}"
    r"(?P<open>(?:b|f|r)?[\\\"'`]{0,6})(?P<value>[^\s\"'`\\,;&<>(){}\[\]|]{6,400})",
    re.ASCII,
)
_ASSIGNED_CUT = re.compile(_ASSIGNED.pattern.replace("{6,400}", "{1,400}"), re.ASCII)
_FLAG = re.compile(r"(?P<rest>)[ =]\s?[\"']?(?P<value>[^\s\"'\\]{6,400})", re.ASCII)
_FLAG_NAME = re.compile(r"(?:\A|[\s\"'])--[a-z-]{0,22}\Z")
_CARRIERS: Final = tuple(
    (anchor, re.compile(pattern, re.IGNORECASE), kind)
    for anchor, pattern, kind in (
        ("bearer", r"[\s:]{1,3}(?P<value>[A-Za-z0-9._~+/=-]{16,4000})", "bearer token"),
        (
            "authorization",
            r"[\"'\\]{0,4}\s{0,4}[:=]\s{0,4}[\"'\\]{0,4}basic (?P<value>[A-Za-z0-9+/=]{8,400})",
            "basic authorization",
        ),
        (
            "://",
            r"[^\s/:@\"'<>\\]{0,100}:(?P<value>[^\s/@\"'<>\\\[\]]{1,200})@[^\s@\"']",
            "password in a URL",
        ),
    )
)
"""What stands in front of a credential, how it goes on, and what the credential is."""
_USUAL: Final = frozenset(("password", "pass", "pw", "user", "token", "secret"))
_URL_PLACE: Final = re.compile(r"\$|%s|[{}*<>]|x{3}|…|\.{3}|your", re.IGNORECASE)
_EMAIL_BEFORE = re.compile(r"[A-Za-z0-9._%+-]{1,64}\Z")
_EMAIL_AFTER = re.compile(r"@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])")

_PLACEHOLDER = re.compile(
    r"x{3,}|\*{3,}|\.{3}|…|your|example|sample|dummy|placeholder|change.?me|redacted|masked|hidden"
    r"|process\.env|environ|getenv|\$|%\w|<|undefined|null|none|true|false|string|required|optional"
    r"|insert|replace|todo|secret|passw|token|apikey|api_key|-key|_key|https?:|file:|/|function|return|await|self\.|this\.",
    re.IGNORECASE,
)
_SCHEMA_WORDS = frozenset(
    ("string", "number", "boolean", "object", "required", "optional", "hidden", "password", "text")
)
_DIGEST = re.compile(r"(?:sha(?:1|256|384|512)[-:])?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})\Z", re.IGNORECASE)  # fmt: skip
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z_][\w]*(?:(?:\.|::|->|-|_|/)[A-Za-z_][\w]*)*[;:.!?)]*\Z")
_PART = re.compile(r"[A-Za-z0-9+=]{6,}")
_STRONG: Final = frozenset(("password", "secret", "API key", "access key", "account key"))


def assigned_in(text: str, lower: str, *, is_cut: bool) -> Iterator[Span]:
    """Values of names that stand for secrets, headers and addresses that carry one."""
    pattern = _ASSIGNED_CUT if is_cut else _ASSIGNED
    for name, kind in NAMES:
        at = lower.find(name)
        while at >= 0:
            end = at + len(name)
            found = pattern.match(text, end)
            if found is None and _FLAG_NAME.search(text, max(at - 24, 0), at):
                found = _FLAG.match(text, end)
            if found and _is_secret(found, kind, is_cut=is_cut and found.end() >= len(text) - 1):
                yield Span(found.start("value"), found.end("value"), kind)
                end = found.end("value")
            at = lower.find(name, end)
    for anchor, pattern, kind in _CARRIERS:
        at = lower.find(anchor)
        while at >= 0:
            end = at + len(anchor)
            found = pattern.match(text, end)
            if found and _is_credential(found["value"], kind):
                yield Span(found.start("value"), found.end("value"), kind)
                end = found.end("value")
            at = lower.find(anchor, end)


def emails_in(text: str) -> Iterator[Span]:
    """E-mail addresses."""
    at = text.find("@")
    while at >= 0:
        before = _EMAIL_BEFORE.search(text, max(at - 64, 0), at)
        after = _EMAIL_AFTER.match(text, at)
        if before and after:
            yield Span(before.start(), after.end(), "e-mail address")
        at = text.find("@", at + 1)


def names_secret(name: str) -> str:
    """The kind of secret that a field of this name holds, "" for others."""
    lower = name.lower().replace("-", "_")
    for word, kind in NAMES:
        if lower == word or lower.endswith("_" + word) or lower.replace("_", "").endswith(word):
            return kind
    return "authorization" if lower in ("authorization", "cookie", "set_cookie") else ""


def is_field_secret(kind: str, value: str) -> bool:
    """Whether the text of a field that ``names_secret`` is one."""
    if not 6 <= len(value) <= 400 or any(char.isspace() for char in value):
        return False
    if kind == "password":
        return value.lower() not in _SCHEMA_WORDS and not _PLACEHOLDER.search(value)
    return _looks_random(value, kind)


def _is_credential(value: str, kind: str) -> bool:
    if kind == "password in a URL":
        is_port = value.isdigit() and len(value) < 6
        return not (is_port or value.lower() in _USUAL or _URL_PLACE.search(value))
    if kind == "basic authorization":
        return _is_basic(value)
    plain = value.replace("/", "").replace("-", "")
    return any(char.isdigit() for char in value) and not _PLACEHOLDER.search(plain)


def _is_basic(value: str) -> bool:
    """Whether a value is name and password in base64."""
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except ValueError:
        return False


def _is_secret(found: re.Match[str], kind: str, *, is_cut: bool) -> bool:
    value = found["value"].rstrip(".:!?*")
    if found.string[found.end() : found.end() + 1] == "(":
        return False  # a function is called
    rest = found["rest"].lower()
    if kind == "token" and rest.startswith(("s", "iz", "_count", "_usage", "count", "budget")):
        return False  # numbers of tokens, tokenizers
    if is_cut and value and not value.isdigit() and not _CODE.match(value):
        return True
    if kind == "password" and not rest and (found.groupdict().get("open") or "").strip("bfr"):
        quoted = not _PLACEHOLDER.search(value) and value.lower() not in _SCHEMA_WORDS
        return quoted and (_has_two_classes(value) or len(value) >= 8)
    return _looks_random(value, kind)


def _looks_random(value: str, kind: str) -> bool:
    """Whether nobody would type a value twice: letters and digits mixed, and no word for a place."""
    if len(value) < 8 and kind != "password":
        return False
    plain = value.replace("/", "") if kind in ("secret", "access key", "account key") else value
    if _PLACEHOLDER.search(plain) or not _has_two_classes(value):
        return False
    if _UUID.match(value) or _DIGEST.match(value):
        return kind in _STRONG
    if kind == "password":
        return not (_CODE.match(value) and not any(char.isdigit() for char in value))
    return len(value) >= 12 and _has_random_part(value) and _entropy(value) >= 3.0


def _has_random_part(value: str) -> bool:
    """Whether a piece between dots, dashes and the like mixes letters and digits; names in code do not."""
    for part in _PART.findall(value):
        digits = sum(char.isdigit() for char in part)
        if 2 <= digits < len(part):
            return True
    return False


def _has_two_classes(value: str) -> bool:
    letters = any(char.isalpha() for char in value)
    return letters and any(not char.isalpha() and char not in "._-" for char in value)


def _entropy(value: str) -> float:
    """Bits a character."""
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)
