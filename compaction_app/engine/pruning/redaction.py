"""Which parts of a text are secrets, and what stands in their place when it is stored.

The source gives the forms in words, not their patterns (spec pruning 14): the patterns here follow
those words. A masked value keeps its first six and last four characters when it is long enough to
stay secret, so that one can still tell two keys apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessions_app.tokens import javascript as js

MASKABLE_CHARS: Final = 18
MASK: Final = "***"
MAX_DEPTH: Final = 8
MAX_DEPTH_TEXT: Final = "[OpenClaw persisted detail redacted: max depth exceeded]"

_FIELD = (
    r"(?:api[-_]?key|(?:access|refresh|auth|bearer|id|session|hook)?[-_]?token|password|passwd"
    r"|(?:client|app)?[-_]?secret|private[-_]?key)"
)
_ASSIGNMENTS: Final = (0, 2)
"""Which of the patterns below are assignments in a text."""
_PATTERNS: Final = tuple(
    re.compile(pattern, flags | re.ASCII)
    for pattern, flags in (
        # environment-style assignments
        (
            r"\b[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)\b\s*[=:]\s*([\"']?)([^\s\"'\\]+)\1",
            0,
        ),
        # secrets in the query of a URL, and other key=value pairs
        (rf"[?&]{_FIELD}=([^&\s\"'<>]+)", re.IGNORECASE),
        (rf"\b{_FIELD}\s*=\s*([\"']?)([^\s\"'&]+)\1", re.IGNORECASE),
        # JSON fields, quoted headers and configuration fields
        (rf"[\"']{_FIELD}[\"']\s*:\s*[\"']([^\"']+)[\"']", re.IGNORECASE),
        (
            r"[\"'](?:x-api-key|authorization|cookie)[\"']\s*:\s*[\"'](?:(?:Bearer|Basic)\s+)?([^\"']+)[\"']",
            re.IGNORECASE,
        ),
        # command line flags
        (rf"--{_FIELD}\s+([\"']?)([^\s\"']+)\1", re.IGNORECASE),
        # Authorization headers
        (r"\bAuthorization\s*[:=]\s*(?:Bearer|Basic)\s+([A-Za-z0-9._\-+=/]+)", re.IGNORECASE),
        (r"\bBearer\s+([A-Za-z0-9._\-+=]{18,})", re.IGNORECASE),
        # private keys
        (r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----", 0),
        # well-known shapes of tokens
        (
            r"\b(sk-[A-Za-z0-9_-]{8,}|ghp_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"
            r"|xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|gsk_[A-Za-z0-9_-]{10,}"
            r"|AIza[0-9A-Za-z_-]{20,}|ya29\.[0-9A-Za-z_-]{10,}"
            r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
            r"|pplx-[A-Za-z0-9_-]{10,}|npm_[A-Za-z0-9]{10,}|AKID[A-Za-z0-9]{10,}"
            r"|LTAI[A-Za-z0-9]{10,}|hf_[A-Za-z0-9]{10,}|r8_[A-Za-z0-9]{10,})\b",
            0,
        ),
        (r"\b(?:bot)?(\d{6,}:[A-Za-z0-9_-]{20,})\b", 0),
    )
)
_SENSITIVE_KEY = re.compile(rf"{_FIELD}\Z|authorization\Z", re.IGNORECASE | re.ASCII)
_SENSITIVE_NAME = re.compile(r"[A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)\Z", re.ASCII)
_PARTIAL_SECRET = re.compile(
    rf"(?:\b{_FIELD}|\b[A-Za-z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD))[\"']?\s*[=:]\s*[\"']?"
    r"(?!\*\*\*)[^\s\"'&]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Redaction:
    """What to hide: the patterns above and those of ``logging.redactPatterns``.

    ``hides_assigned``: of a value assigned in a text nothing is left, not even its ends.
    """

    extra: tuple[re.Pattern[str], ...] = ()
    hides_assigned: bool = False

    def text(self, text: str) -> str:
        """``text`` with every secret masked; the same object when it holds none."""
        for number, pattern in enumerate((*_PATTERNS, *self.extra)):
            whole = self.hides_assigned and number in _ASSIGNMENTS
            text = pattern.sub(_hidden_match if whole else _masked_match, text)
        return text

    def value(
        self, value: Any, *, mask_scalars: bool, depth: int = 0, sensitive: bool = False
    ) -> Any:
        """A JSON value with its strings and keys redacted; unchanged parts stay the same objects.

        Everything below a sensitive key is masked, numbers and booleans only where ``mask_scalars``;
        then, too, what is nested ``MAX_DEPTH`` levels deep is replaced by a note.
        """
        if isinstance(value, str):
            return masked(value) if sensitive else self.text(value)
        if isinstance(value, Mapping | list):
            if mask_scalars and depth >= MAX_DEPTH:
                return MAX_DEPTH_TEXT
            return self._nested(value, mask_scalars, depth + 1, sensitive)
        return MASK if sensitive and mask_scalars and value is not None else value

    def _nested(self, value: Any, scalars: bool, depth: int, sensitive: bool) -> Any:
        if isinstance(value, list):
            items = [
                self.value(v, mask_scalars=scalars, depth=depth, sensitive=sensitive) for v in value
            ]
            return value if all(map(_is, items, value)) else items
        held = {
            self.text(key): self.value(
                item,
                mask_scalars=scalars,
                depth=depth,
                sensitive=sensitive or is_sensitive_key(key),
            )
            for key, item in value.items()
        }
        same = all(map(_is, held.values(), value.values())) and list(held) == list(value)
        return value if same else held


def _is(one: object, other: object) -> bool:
    return one is other


def redaction(logging: Mapping[str, Any] | None, *, hides_assigned: bool = False) -> Redaction:
    """The redaction a ``logging`` configuration asks for; patterns that do not compile are left out."""
    patterns = (logging or {}).get("redactPatterns")
    compiled = (_compiled(p) for p in (patterns if isinstance(patterns, Sequence) else ()))
    return Redaction(tuple(pattern for pattern in compiled if pattern is not None), hides_assigned)


def _compiled(pattern: Any) -> re.Pattern[str] | None:
    if not isinstance(pattern, str) or not pattern:
        return None
    written = re.fullmatch(r"/(.+)/([a-z]*)", pattern, re.DOTALL)
    source, flags = (written[1], written[2]) if written else (pattern, "i")
    try:
        return re.compile(source, re.IGNORECASE if "i" in flags else re.NOFLAG)
    except re.error:
        return None


def masked(value: str) -> str:
    """What is shown of a secret."""
    if js.utf16_len(value) < MASKABLE_CHARS:
        return MASK
    return f"{js.utf16_slice(value, 0, 6)}…{js.utf16_slice(value, -4)}"


def is_sensitive_key(name: str) -> bool:
    return bool(_SENSITIVE_KEY.match(name) or _SENSITIVE_NAME.match(name))


def holds_partial_secret(text: str) -> bool:
    """Whether a cut text still shows a secret that its missing rest would have identified."""
    return _PARTIAL_SECRET.search(text) is not None


def _hidden_match(match: re.Match[str]) -> str:
    token = match[match.lastindex or 0]
    start = match[0].rfind(token)
    return f"{match[0][:start]}{MASK}{match[0][start + len(token) :]}"


def _masked_match(match: re.Match[str]) -> str:
    whole = match[0]
    if "PRIVATE KEY-----" in whole:
        lines = [line for line in re.split(r"\r?\n", whole) if line]
        return f"{lines[0]}\n…redacted…\n{lines[-1]}" if len(lines) > 1 else MASK
    token = next((group for group in reversed(match.groups()) if group), whole)
    start = whole.rfind(token)
    return f"{whole[:start]}{masked(token)}{whole[start + len(token) :]}"
