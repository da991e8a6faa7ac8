"""A call that may be sent again: with the same key it is carried out once and answered alike.

The answer is kept in the transaction of the work itself, so that neither is there without the other.
Two that come at once wait for each other at the row of their key.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone
from ninja.responses import NinjaJSONEncoder

from sessions_app.api_access import InvalidField, token_of
from sessions_app.models import IdempotentCall

KEPT: Final = timedelta(hours=24)
LONGEST_KEY: Final = 200
HEADER: Final = "Idempotency-Key"


def once(request: HttpRequest, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Do ``work`` and return its answer; a call whose key was used before gets the answer of then.

    Raises:
        InvalidField: for a key that is too long, or that was used for another call.
    """
    key = request.headers.get(HEADER, "")
    if not key:
        return work()
    if len(key) > LONGEST_KEY:
        raise InvalidField({HEADER: f"{HEADER}: at most {LONGEST_KEY} characters."})
    team, digest = token_of(request).team, _digest(request)
    with transaction.atomic():
        try:
            with transaction.atomic():
                row = IdempotentCall.objects.create(team=team, key=key, digest=digest)
        except IntegrityError:
            return _known(IdempotentCall.objects.get(team=team, key=key), digest)
        text = json.dumps(work(), cls=NinjaJSONEncoder)
        IdempotentCall.objects.filter(pk=row.pk).update(answer=text)
    answer: dict[str, Any] = json.loads(text)
    return answer


def forget(now: datetime | None = None) -> int:
    """Drop the keys of yesterday; returns how many."""
    old = IdempotentCall.objects.filter(at__lt=(now or timezone.now()) - KEPT)
    return old.delete()[0]


def _known(row: IdempotentCall, digest: str) -> dict[str, Any]:
    if row.digest != digest:
        text = f"{HEADER}: this key was used for another call; take a new one for each."
        raise InvalidField({HEADER: text})
    answer: dict[str, Any] = json.loads(row.answer)
    return answer


def _digest(request: HttpRequest) -> str:
    head = f"{request.method} {request.path_info}\n".encode()
    return sha256(head + request.body).hexdigest()
