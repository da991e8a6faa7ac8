"""Secrets in the database: sealed with the site's key, so that a copy of the database gives none away."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

_PURPOSE = b"contextlab sealed secrets"


class Unreadable(ValueError):
    """A secret that was sealed with another SECRET_KEY: it must be entered again."""


def seal(secret: str) -> str:
    """A secret as it may be stored; "" stays ""."""
    return _box(settings.SECRET_KEY).encrypt(secret.encode()).decode() if secret else ""


def unseal(stored: str) -> str:
    """The secret itself.

    Raises:
        Unreadable: when the site's key has changed since, or the text was.
    """
    if not stored:
        return ""
    try:
        return _box(settings.SECRET_KEY).decrypt(stored.encode()).decode()
    except InvalidToken:
        raise Unreadable("It was sealed with another SECRET_KEY; enter it again.") from None


@lru_cache(maxsize=2)
def _box(key: str) -> Fernet:
    mixed = hashlib.scrypt(key.encode(), salt=_PURPOSE, n=2**12, r=8, p=1, dklen=32)
    return Fernet(base64.urlsafe_b64encode(mixed))
