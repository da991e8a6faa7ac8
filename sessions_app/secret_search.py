"""Looking through what is stored for secrets, behind those who write, and what was found in a session.

Only where a secret stands is stored. A window remembers how far it was looked through, and by which
version of the rules; what was rewritten since is looked through again.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F, Q, QuerySet

from sessions_app.models import Entry, Secret, Window
from sessions_app.payload import record_of
from sessions_app.secret_texts.finding import (
    RULES_VERSION,
    SHORTEST,
    secrets_of_texts,
    texts_of,
)

AT_A_TIME: Final = 200
AT_A_TIME_BYTES: Final = 8 << 20
AT_ONCE_SECONDS: Final = 20.0
AT_A_LOOK_SECONDS: Final = 1.5
MOST_VALUES: Final = 500
"""Different secrets of one session that are looked for in every text of it."""
KEPT: Final = 32

log = logging.getLogger(__name__)
Values = Sequence[tuple[str, str]]
_known: OrderedDict[tuple[int, UUID, int], Values] = OrderedDict()
_lock = Lock()


def rules_version() -> int:
    """The version of the rules as they are set: addresses are looked for or not."""
    return RULES_VERSION * 2 + bool(settings.MASK_EMAILS)


def search_all(seconds: float = AT_ONCE_SECONDS) -> int:
    """Look through what is new, for at most about ``seconds``; how many entries were looked at."""
    end, done = time.monotonic() + seconds, 0
    for window in _behind().order_by("pk").iterator(chunk_size=50):
        for looked in search_window(window):
            done += looked
            if time.monotonic() > end:
                return done
    return done


def search_window(window: Window) -> Iterator[int]:
    """Look through a window's entries that were not yet, in transactions of their own; the entries of
    each. It ends early when somebody else has rewritten or searched the window meanwhile."""
    if window.searched_by != rules_version():
        _begin_again(window)
    while True:
        window.refresh_from_db(
            fields=["searched_entries", "searched_by", "entry_count", "content_digest"]
        )
        at = window.searched_entries
        batch = list(_batch(window, at))
        if not batch:
            return
        found = list(_secrets(batch))
        with transaction.atomic():
            same = Window.objects.filter(
                pk=window.pk,
                searched_entries=at,
                searched_by=rules_version(),
                content_digest=window.content_digest,
            )
            if not same.update(searched_entries=batch[-1].seq + 1):
                return
            Secret.objects.bulk_create(found, ignore_conflicts=True, batch_size=500)
        yield len(batch)


def found_values(session: int) -> Values:
    """The secrets found in a session with their kinds, the longest first; short ones are left out,
    for they could stand in any word.

    What was not looked through yet is looked through now, as far as somebody who waits can wait.
    """
    _catch_up(session)
    mine = Secret.objects.filter(entry__window__session=session)
    newest = mine.order_by("-pk").values_list("pk", "entry__window__uuid").first()
    if newest is None:
        return ()
    key = (*newest, mine.count())
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    values = sorted(_read(session).items(), key=lambda item: -len(item[0]))
    with _lock:
        _known[key] = values
        while len(_known) > KEPT:
            _known.popitem(last=False)
    return values


def _catch_up(session: int) -> None:
    end = time.monotonic() + AT_A_LOOK_SECONDS
    try:
        for window in _behind().filter(session=session):
            for _ in search_window(window):
                if time.monotonic() > end:
                    return
    except DatabaseError as error:  # a page is shown also while nothing can be written
        log.info("secrets of session %s are looked for later: %s", session, error)


def _behind() -> QuerySet[Window]:
    """Windows with entries that were not looked through by the rules as they are."""
    written = Window.objects.filter(entry_count__gt=0)
    return written.filter(
        ~Q(searched_entries=F("entry_count")) | ~Q(searched_by=rules_version())
    ).defer("header")


def _read(session: int) -> dict[str, str]:
    values: dict[str, str] = {}
    held: tuple[int, list[tuple[str, str]]] = (-1, [])
    found = Secret.objects.filter(entry__window__session=session).order_by("entry", "text", "start")
    for secret in found.select_related("entry").iterator(chunk_size=50):
        if held[0] != secret.entry_id:
            held = (secret.entry_id, list(texts_of(record_of(secret.entry.payload))))
        value = held[1][secret.text][1][secret.start : secret.end]
        if len(value) >= SHORTEST:
            values[value] = secret.kind
        if len(values) >= MOST_VALUES:
            break
    return values


def _begin_again(window: Window) -> None:
    with transaction.atomic():
        Secret.objects.filter(entry__window=window).delete()
        Window.objects.filter(pk=window.pk).update(searched_entries=0, searched_by=rules_version())


def _batch(window: Window, at: int) -> Iterator[Entry]:
    size = 0
    rows = Entry.objects.filter(window=window, seq__gte=at).order_by("seq").only("seq", "payload")
    for row in rows[:AT_A_TIME].iterator(chunk_size=50):
        yield row
        size += len(row.payload)
        if size >= AT_A_TIME_BYTES:
            return


def _secrets(batch: Sequence[Entry]) -> Iterator[Secret]:
    texts: list[tuple[str, str]] = []
    places: list[tuple[Entry, int]] = []
    for entry in batch:
        for number, text in enumerate(texts_of(record_of(entry.payload))):
            texts.append(text)
            places.append((entry, number))
    for at, spans in secrets_of_texts(texts, emails=settings.MASK_EMAILS).items():
        entry, number = places[at]
        for span in spans:
            yield Secret(
                entry=entry, text=number, start=span.start, end=span.end, kind=span.kind[:40]
            )
