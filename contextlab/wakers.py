"""How readers of events hear that somebody wrote: in this process, and through Redis in the others.

Neither is needed for anything but speed: readers look once a second anyway.
"""

from __future__ import annotations

import logging
import threading
import time
from functools import cache
from typing import Any, Final

import redis
from django.conf import settings

from sessions_app import stream
from sessions_app.signals import session_told

CHANNEL: Final = "contextlab:events"
PAUSE_SECONDS: Final = 5.0
log = logging.getLogger(__name__)


def connect() -> None:
    """To be called once when the process starts."""
    session_told.connect(_told, dispatch_uid="contextlab.wakers")
    stream.listen_with(listen)


def _told(**_: Any) -> None:
    stream.wake()
    if settings.REDIS_URL:
        try:
            _redis().publish(CHANNEL, b"")
        except redis.RedisError as error:
            log.warning("readers elsewhere hear of it a second later: %s", error)


@cache
def listen() -> None:
    """Start to hear what other processes write, once a process."""
    if settings.REDIS_URL:
        threading.Thread(target=_hear, name="events-redis", daemon=True).start()


def _hear() -> None:
    while True:
        try:
            with _redis().pubsub(ignore_subscribe_messages=True) as heard:  # type: ignore[no-untyped-call]
                heard.subscribe(CHANNEL)
                for _ in heard.listen():
                    stream.wake()
        except redis.RedisError as error:
            log.warning("Redis does not answer, readers look once a second: %s", error)
            time.sleep(PAUSE_SECONDS)


@cache
def _redis() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=2, health_check_interval=30
    )
