"""Python looks for garbage in cycles after every 700 new objects; an import makes millions that live on."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

RARELY: Final = (50_000, 20, 20)
"""An import's own values hold no cycles; what others leave meanwhile waits a little longer."""

_lock = Lock()
_asking: list[tuple[int, int, int]] = []


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Look for cycles rarely until the last of those who asked for it is done."""
    with _lock:
        _asking.append(_asking[0] if _asking else gc.get_threshold())
        gc.set_threshold(*RARELY)
    try:
        yield
    finally:
        with _lock:
            before = _asking.pop()
            if not _asking:
                gc.set_threshold(*before)
