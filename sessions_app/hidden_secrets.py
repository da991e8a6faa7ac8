"""Secrets in texts are hidden behind a tag that says what kind they are and which two are the same.

What was found in the session that is shown is hidden wherever it stands, also where nothing around it
shows that it is one. Texts that come back from a form have their secrets put in again.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import cached_property
from typing import Any, Final

from django.conf import settings
from django.core.signals import request_started

from sessions_app import masking
from sessions_app.models import Session
from sessions_app.secret_search import found_values
from sessions_app.secret_texts.assignments import is_field_secret
from sessions_app.secret_texts.finding import (
    kind_of_field,
    secrets_in,
    secrets_of_texts,
    texts_of,
)
from sessions_app.secret_texts.spans import Span
from sessions_app.transcripts.transcript import JsonObject

TAG: Final = re.compile(r"\[masked: [^\[\]:]{1,40} [0-9a-f]{8}\]")
FRESH_SECONDS: Final = 1.0
"""So long what was found in a session is not asked for again: many rows of a page are of one."""

SHORTEST_END: Final = 4
"""So much of a known secret at the end of a cut text is hidden."""


class _Shown:
    """The session that is shown, and what was found in it; read when it is first needed."""

    def __init__(self, session: int) -> None:
        self.session = session
        self._since = time.monotonic()

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self._since < FRESH_SECONDS

    @cached_property
    def values(self) -> Sequence[tuple[str, str]]:
        return found_values(self.session)


_shown: ContextVar[_Shown | None] = ContextVar("shown", default=None)


def install() -> None:
    """Let every text that is shown pass these rules."""
    masking.register_for_beginnings(_hide_cut)
    masking.register_for_fields(_hide_field)
    masking.register(_hide_known)
    masking.register(hide)
    request_started.connect(_nothing_shown, dispatch_uid="sessions_app.hidden_secrets")


def showing(session: Session | int) -> None:
    """From here on texts of this session are shown: what was found in it is hidden everywhere."""
    key = session if isinstance(session, int) else session.pk
    now = _shown.get()
    if now is None or now.session != key or not now.is_fresh:
        _shown.set(_Shown(key))


def showing_row(row: Any) -> None:
    """The same for a row that is a session or belongs to one."""
    if isinstance(row, Session):
        showing(row)
    elif getattr(row, "session_id", None) is not None:
        showing(row.session_id)
    elif getattr(row, "window_id", None) is not None:
        showing(row.window.session_id)


def _nothing_shown(**_: Any) -> None:
    _shown.set(None)


def tag_of(value: str, kind: str) -> str:
    """What stands for a secret: the same for the same one, and nobody can guess it from the tag."""
    key = settings.SECRET_KEY.encode()
    digest = hmac.new(key, value.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
    return f"[masked: {kind} {digest[:8]}]"


def hide(text: str) -> str:
    """``text`` with a tag for each secret that it shows to be one; the same object without any."""
    return _tagged(text, secrets_in(text, emails=settings.MASK_EMAILS))


def clean_record(record: JsonObject) -> JsonObject:
    """A stored record as a viewer may see it: the same object when it holds no secret."""
    if masking.is_revealed():
        return record
    texts = list(texts_of(record))
    if not secrets_of_texts(texts, emails=settings.MASK_EMAILS):
        shown = _shown.get()
        values = [value for value, _ in shown.values] if shown else []
        if not any(value in text for value in values for _, text in texts):
            return record
    cleaned: JsonObject = masking.mask_all(record)
    return cleaned


def cleaner(session: Session) -> Callable[[JsonObject], JsonObject]:
    """``clean_record`` for a session that is sent piece by piece, wherever each piece is made."""

    def clean(record: JsonObject) -> JsonObject:
        showing(session)
        return clean_record(record)

    return clean


def as_it_is(record: JsonObject) -> JsonObject:
    return record


def restored(value: Any, before: Any) -> Any:
    """A text or a JSON value that came back from a form, with the secrets of what was shown there put
    in again where their tags stand."""
    texts = list(texts_of(before))
    values: dict[str, str] = {}
    for number, spans in secrets_of_texts(texts, emails=settings.MASK_EMAILS).items():
        for span in spans:
            secret = texts[number][1][span.start : span.end]
            values[tag_of(secret, span.kind)] = secret
    return _put_back(value, values) if values else value


def _put_back(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return TAG.sub(lambda found: values.get(found[0], found[0]), value)
    if isinstance(value, list):
        return [_put_back(item, values) for item in value]
    if isinstance(value, dict):
        return {_put_back(k, values): _put_back(v, values) for k, v in value.items()}
    return value


def _hide_known(text: str) -> str:
    shown = _shown.get()
    for value, kind in shown.values if shown else ():
        if value in text:
            text = text.replace(value, tag_of(value, kind))
    return text


def _hide_cut(text: str) -> str:
    shown = _shown.get()
    whole = text.removesuffix("…")
    for value, kind in shown.values if shown else ():
        for length in range(min(len(value) - 1, len(whole)), SHORTEST_END - 1, -1):
            if whole.endswith(value[:length]):
                return whole[:-length] + tag_of(value, kind) + text[len(whole) :]
    return _tagged(text, secrets_in(text, emails=settings.MASK_EMAILS, is_cut=True))


def _hide_field(name: str, text: str) -> str:
    kind = kind_of_field(name)
    return tag_of(text, kind) if kind and is_field_secret(kind, text) else text


def _tagged(text: str, spans: Iterable[Span]) -> str:
    parts, at = [], 0
    for span in spans:
        parts += [text[at : span.start], tag_of(text[span.start : span.end], span.kind)]
        at = span.end
    return "".join((*parts, text[at:])) if parts else text
