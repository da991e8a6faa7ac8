"""The broker of files: a message is whole, is taken once, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection

from contextlab import broker


# Kombu remembers per process which queues it has declared: each test uses a name of its own.
@pytest.fixture
def folder(tmp_path: Path) -> Path:
    broker.create(tmp_path)
    return tmp_path


def connection(folder: Path) -> Connection:
    return Connection(
        "filesystem://localhost//",
        transport=broker.Transport,
        transport_options=broker.options(folder),
    )


def files(folder: Path) -> list[Path]:
    return list((folder / "messages").iterdir())


def test_messages_come_out_in_the_order_in_which_they_went_in(folder: Path) -> None:
    with connection(folder) as one, one.SimpleQueue(folder.name) as queue:
        for number in range(20):
            queue.put({"number": number})
        assert len(files(folder)) == 20
        taken: list[Any] = []
        for _ in range(20):
            message = queue.get(timeout=5)
            taken.append(message.payload["number"])
            message.ack()
    assert taken == list(range(20))
    assert files(folder) == []


def test_two_readers_never_get_the_same_message(folder: Path) -> None:
    with connection(folder) as one, connection(folder) as other:
        left, right = one.SimpleQueue(folder.name), other.SimpleQueue(folder.name)
        left.put("only once")
        assert left.get(timeout=5).payload == "only once"
        with pytest.raises(Empty):
            right.get(block=False)


def test_a_message_that_is_still_being_written_is_not_seen(folder: Path) -> None:
    (folder / "messages" / "1_x.writing").write_text('{"half')
    with connection(folder) as one, one.SimpleQueue(folder.name) as queue, pytest.raises(Empty):
        queue.get(block=False)


def test_queues_do_not_see_each_other(folder: Path) -> None:
    with connection(folder) as one:
        one.SimpleQueue(folder.name).put("for jobs")
        with pytest.raises(Empty):
            one.SimpleQueue("other").get(block=False)


def test_nobody_else_can_look_into_the_folders(folder: Path) -> None:
    assert (folder / "messages").stat().st_mode & 0o077 == 0
