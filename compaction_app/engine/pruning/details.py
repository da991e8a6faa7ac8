"""How much of a tool result's ``details`` is stored.

Details are a tool's own record beside its text. They are kept whole up to 8,192 bytes of JSON; larger
ones are reduced to the fields that explain a run (spec pruning 8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.pruning.redaction import Redaction, holds_partial_secret
from sessions_app.tokens import javascript as js

MAX_BYTES: Final = 8192
MAX_KEYS: Final = 40
MAX_STRING_CHARS: Final = 2000
MAX_SESSION_STRING_CHARS: Final = 500
MAX_FALLBACK_STRING_CHARS: Final = 200
MAX_SESSIONS: Final = 10

_BOUNDARY: Final = "\u0000OPENCLAW_PERSISTED_DETAIL_BOUNDARY\u0000"
_LOOK_AHEAD_CHARS: Final = 1024
_OVERLAP_CHARS: Final = 512
_NO_BOUNDARY: Final = "[OpenClaw persisted detail redacted: boundary marker removed]"
_PARTIAL_SECRET: Final = "[OpenClaw persisted detail redacted: partial secret span omitted]"
_OVERLAP: Final = "[OpenClaw persisted detail redacted: boundary overlap omitted]"

_KEPT: Final = (
    *("status", "sessionId", "pid", "startedAt", "endedAt", "cwd", "name", "exitCode"),
    *("exitSignal", "retryInMs", "total", "totalLines", "totalChars", "truncated"),
    *("fullOutputPath", "truncation"),
)
_KEPT_OF_SESSION: Final = (
    *("sessionId", "status", "pid", "startedAt", "endedAt", "runtimeMs", "cwd", "name"),
    *("truncated", "exitCode", "exitSignal"),
)
_KEPT_IN_FALLBACK: Final = ("status", "sessionId", "pid", "exitCode", "exitSignal", "truncated")

_TYPE_NAMES: Final = {str: "string", bool: "boolean", int: "number", float: "number"}


@dataclass(frozen=True, slots=True)
class DetailRules:
    """``kept_in_fallback``: the fields that stay in the smallest form. ``keeps_pairs``: no cut splits a
    surrogate pair."""

    kept_in_fallback: tuple[str, ...] = _KEPT_IN_FALLBACK
    keeps_pairs: bool = False


@dataclass(frozen=True, slots=True)
class _Means:
    """What every step of a reduction works with."""

    redaction: Redaction
    rules: DetailRules


DETAILS_2026_5_28: Final = DetailRules()
DETAILS_2026_9: Final = DetailRules((*_KEPT_IN_FALLBACK, "fullOutputPath"), keeps_pairs=True)


def stored_details(
    details: Any, redaction: Redaction, rules: DetailRules = DETAILS_2026_5_28
) -> Any:
    """``details`` as they are stored; the same object when nothing has to go."""
    return None if details is None else _stored(details, _Means(redaction, rules))


def _stored(details: Any, means: _Means) -> Any:
    size = _json_bytes(details)
    if size is not None and size <= MAX_BYTES:
        redacted = means.redaction.value(details, mask_scalars=True)
        redacted_size = size if redacted is details else _json_bytes(redacted)
        if redacted_size is not None and redacted_size <= MAX_BYTES:
            return redacted
        return _fallback(details, {"originalDetailsBytes": size}, redacted_size, means)
    original = {"originalDetailsBytesAtLeast": MAX_BYTES + 1}
    if not isinstance(details, Mapping | list):
        kind = _TYPE_NAMES.get(type(details), "object")
        return {"persistedDetailsTruncated": True, **original, "valueType": kind}
    reduced = _reduced(details, original, means)
    reduced_size = _json_bytes(reduced)
    if reduced_size is not None and reduced_size <= MAX_BYTES:
        return reduced
    return _fallback(details, original, reduced_size, means)


def _json_bytes(value: Any) -> int | None:
    try:
        return js.utf8_len(js.json_text(value))
    except js.NoJson:
        return None


def _keys(details: Mapping[str, Any] | list[Any], means: _Means) -> list[str]:
    if isinstance(details, list):
        return [str(index) for index in range(min(len(details), MAX_KEYS))]
    return [means.redaction.text(key) for key in js.ordered_keys(details)[:MAX_KEYS]]


def _reduced(
    details: Mapping[str, Any] | list[Any], original: dict[str, Any], means: _Means
) -> dict[str, Any]:
    out: dict[str, Any] = {"persistedDetailsTruncated": True, **original}
    out["originalDetailKeys"] = _keys(details, means)
    if isinstance(details, list):
        return out
    out |= _picked(details, _KEPT, MAX_STRING_CHARS, means)
    tail, sessions = details.get("tail"), details.get("sessions")
    if isinstance(tail, str):
        out["tail"] = _limited(tail, MAX_STRING_CHARS, means)
    if isinstance(sessions, list):
        out["sessions"] = [_session(item, means) for item in sessions[:MAX_SESSIONS]]
        if len(sessions) > MAX_SESSIONS:
            out["sessionsTruncated"] = len(sessions) - MAX_SESSIONS
    return out


def _picked(
    source: Mapping[str, Any], keys: tuple[str, ...], limit: int, means: _Means
) -> dict[str, Any]:
    return {
        key: _limited(value, limit, means)
        if isinstance(value := source[key], str)
        else means.redaction.value(value, mask_scalars=True, depth=1)
        for key in keys
        if key in source
    }


def _session(item: Any, means: _Means) -> Any:
    if not isinstance(item, Mapping):
        return item
    kept = _picked(item, _KEPT_OF_SESSION, MAX_SESSION_STRING_CHARS, means)
    command = item.get("command")
    if isinstance(command, str):
        kept["command"] = _limited(command, MAX_SESSION_STRING_CHARS, means)
    return kept


def _fallback(
    details: Any, original: dict[str, Any], size: int | None, means: _Means
) -> dict[str, Any]:
    """What is left when the reduced form is too large as well; in the end only its sizes."""
    least = {"persistedDetailsTruncated": True, "finalDetailsTruncated": True, **original}
    if size is not None:
        least["sanitizedDetailsBytes"] = size
    if not isinstance(details, Mapping | list):
        return least
    out = {**least, "originalDetailKeys": _keys(details, means)}
    if isinstance(details, Mapping):
        out |= _picked(details, means.rules.kept_in_fallback, MAX_FALLBACK_STRING_CHARS, means)
    out_size = _json_bytes(out)
    return out if out_size is not None and out_size <= MAX_BYTES else least


def _limited(text: str, limit: int, means: _Means) -> str:
    """A string of details cut to ``limit``, without half a secret at the cut (8.2)."""
    length = js.utf16_len(text)
    if length <= limit:
        return means.redaction.text(text)
    ahead = js.utf16_slice(text, limit, limit + _LOOK_AHEAD_CHARS)
    redacted = means.redaction.text(js.utf16_slice(text, 0, limit) + _BOUNDARY + ahead)
    before, mark, _ = redacted.partition(_BOUNDARY)
    prefix = before if mark else _NO_BOUNDARY
    kept = js.utf16_slice(prefix, 0, max(0, limit - min(limit, _OVERLAP_CHARS)))
    if means.rules.keeps_pairs and "\ud800" <= kept[-1:] <= "\udbff":
        kept = kept[:-1]
    if holds_partial_secret(kept):
        kept = _PARTIAL_SECRET
    lead = f"{kept}\n" if kept else ""
    gone = f"[OpenClaw persisted detail truncated: {length - limit} original chars omitted]"
    return f"{lead}{_OVERLAP}\n\n{gone}"
