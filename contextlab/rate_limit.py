"""How many API calls a token may make in a minute, counted in the cache that all processes share.

With Redis all machines count together; without it there is one web process, and its memory is enough.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from django.core.cache import cache

SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Rate:
    """Where a token stands: ``reset`` in seconds until the count begins anew."""

    limit: int
    used: int
    reset: int

    @property
    def remaining(self) -> int:
        return max(self.limit - self.used, 0)

    @property
    def exceeded(self) -> bool:
        return self.used > self.limit

    def headers(self) -> dict[str, str]:
        """The headers that clients know (RateLimit fields), and when to come back."""
        told = {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset),
        }
        return told | ({"Retry-After": str(self.reset)} if self.exceeded else {})


def count_call(token: str, limit: int, now: float | None = None) -> Rate:
    """Count one call of a token."""
    now = time.time() if now is None else now
    minute, into = divmod(int(now), SECONDS)
    key = f"api-calls:{token}:{minute}"
    cache.add(key, 0, timeout=2 * SECONDS)
    try:
        used = cache.incr(key)
    except ValueError:  # dropped between the two, by a full cache
        used = 1
    return Rate(limit, used, SECONDS - into)
