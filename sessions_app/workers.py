"""Which workers there are. The floor that keeps their heartbeats hands in a function that says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker's main process, when it last gave a sign of life, and whether that is recent."""

    name: str
    seen_at: datetime
    lives: bool


Known = Callable[[], Sequence[Worker]]
_known: list[Known] = []


def know_by(known: Known) -> None:
    _known[:] = [known]


def workers() -> list[Worker]:
    """The newest sign of life first."""
    return [worker for known in _known for worker in known()]


def has_worker() -> bool:
    """Whether one lives."""
    return any(worker.lives for worker in workers())
