"""SQLite as this site opens it: readers do not wait, writers wait for each other and never fail."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler
from pytest_django import DjangoDbBlocker

from contextlab.database import database


@pytest.fixture
def connections(tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[ConnectionHandler]:
    """Each thread gets a connection of its own to the same new file."""
    handler = ConnectionHandler({"default": database(f"sqlite:///{tmp_path}/lab.sqlite3")})
    with django_db_blocker.unblock():
        execute(handler["default"], "CREATE TABLE counter (value INTEGER)")
        execute(handler["default"], "INSERT INTO counter VALUES (0)")
        yield handler
        handler.close_all()


def execute(connection: BaseDatabaseWrapper, statement: str) -> int | str | None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        row = cursor.fetchone()
        return row[0] if row else None


@pytest.mark.parametrize(
    ("pragma", "value"),
    [("journal_mode", "wal"), ("synchronous", 1), ("foreign_keys", 1), ("busy_timeout", 20_000)],
)
def test_every_connection_is_set_up(
    connections: ConnectionHandler, pragma: str, value: int | str
) -> None:
    assert execute(connections["default"], f"PRAGMA {pragma}") == value


def test_a_reader_does_not_wait_for_a_writer(connections: ConnectionHandler) -> None:
    def read() -> int | str | None:
        try:
            return execute(connections["default"], "SELECT value FROM counter")
        finally:
            connections["default"].close()

    writer = connections["default"]
    execute(writer, "BEGIN IMMEDIATE")
    execute(writer, "UPDATE counter SET value = 7")
    with ThreadPoolExecutor() as pool:
        assert pool.submit(read).result(timeout=5) == 0
    execute(writer, "COMMIT")


def test_transactions_that_read_before_they_write_wait_for_each_other(
    connections: ConnectionHandler,
) -> None:
    def count_up() -> None:
        connection = connections["default"]
        for _ in range(3):
            connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
            value = execute(connection, "SELECT value FROM counter")
            time.sleep(0.02)  # long enough for the others to read as well, if they could
            execute(connection, f"UPDATE counter SET value = {value} + 1")
            connection.commit()
            connection.set_autocommit(True)
        connection.close()

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(count_up) for _ in range(4)]:
            done.result()
    assert execute(connections["default"], "SELECT value FROM counter") == 12
