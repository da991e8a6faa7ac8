"""The embedded message broker: a folder of files, for one machine without a Redis server.

Kombu's filesystem transport writes a message under its final name and takes it through the
system's temporary folder, so that a reader can meet half a message, and two readers on another
file system can meet the same one. Here a message appears whole and is taken by one rename.
"""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import filesystem
from kombu.utils.json import dumps, loads

POLL_SECONDS = 0.2


def options(folder: Path) -> dict[str, Any]:
    """Transport options for a broker that lives in ``folder``."""
    messages = str(folder / "messages")
    return {
        "data_folder_in": messages,
        "data_folder_out": messages,
        "control_folder": str(folder / "control"),
        "polling_interval": POLL_SECONDS,
    }


def create(folder: Path) -> None:
    """Make the folders; they hold ids of jobs, which are nobody else's business."""
    for name in ("messages", "control"):
        (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)


class Channel(filesystem.Channel):
    """A channel whose messages are never seen half written and never taken twice."""

    # The transport and its base name the second parameter differently.
    def _put(self, queue: str, payload: Any, **_: Any) -> None:  # type: ignore[override]
        folder = Path(self.data_folder_out)
        name = f"{time.time_ns():020}_{uuid.uuid4()}"
        unfinished = folder / f"{name}.writing"
        unfinished.write_text(dumps(payload), encoding="utf-8")  # type: ignore[no-untyped-call]
        unfinished.rename(folder / f"{name}.{queue}.msg")

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        folder = Path(self.data_folder_in)
        waiting = (n for n in os.listdir(folder) if n.partition(".")[2] == f"{queue}.msg")
        for name in sorted(waiting):
            taken = folder / f"{name}.taken"
            try:
                (folder / name).rename(taken)
            except FileNotFoundError:
                continue  # another worker was faster
            payload = taken.read_text(encoding="utf-8")
            taken.unlink()
            return loads(payload)  # type: ignore[no-untyped-call]
        raise Empty


class Transport(filesystem.Transport):
    """Kombu's transport with the channel above."""

    Channel = Channel
