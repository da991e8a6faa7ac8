"""Work with the database for answers that wait: threads that everybody shares, connections given back.

An answer that waits for a job holds neither a thread nor a connection while it waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

from django.db import connections

THREADS: Final = 8
P = ParamSpec("P")
T = TypeVar("T")
_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="waiting")


async def in_pool(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of a call that asks the database."""

    def run() -> T:
        try:
            return call(*args, **kwargs)
        finally:
            connections.close_all()

    return await asyncio.get_running_loop().run_in_executor(_pool, run)
