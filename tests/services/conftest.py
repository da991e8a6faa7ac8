"""Real services: those of TEST_DATABASE_URL and TEST_REDIS_URL, else own ones in temporary folders."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import redis

from contextlab.process import die_with_parent
from tests.conftest import missing


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(true: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds:.0f} s for {what}")
        time.sleep(0.05)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A server's URL, with the right to create databases."""
    if given := os.environ.get("TEST_DATABASE_URL"):
        yield given
        return
    if not can_run_postgres():
        missing("a PostgreSQL server")
    with own_postgres() as url:
        yield url


def _postgres_program(name: str) -> Path | None:
    programs = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return programs[-1] if programs else None


def _postgres_user() -> str | None:
    """Who runs a server: it refuses to run as root."""
    return "postgres" if os.getuid() == 0 else None


def can_run_postgres() -> bool:
    """Whether a server is installed that we may start."""
    user = _postgres_user()
    known = user is None or user in {entry.pw_name for entry in pwd.getpwall()}
    return _postgres_program("initdb") is not None and known


@contextmanager
def own_postgres() -> Iterator[str]:
    """A server in a temporary folder; its URL, with the right to create databases."""
    initdb, server_program = _postgres_program("initdb"), _postgres_program("postgres")
    assert initdb is not None
    assert server_program is not None
    user = _postgres_user()
    folder = Path(tempfile.mkdtemp(prefix="contextlab-postgres-"))
    if user:
        shutil.chown(folder, user)
    data, port = folder / "data", free_port()
    # Roles first, then the promise to end with this process: a change of user would undo it.
    subprocess.run(
        [initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"],
        user=user, cwd="/", check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    server = subprocess.Popen(
        [server_program, "-D", data, "-p", str(port), "-F",
         "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
        user=user, cwd="/", preexec_fn=die_with_parent, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
    try:
        wait_until(lambda: answers(url), "PostgreSQL")
        yield url
    finally:
        server.send_signal(signal.SIGQUIT)
        server.wait()
        shutil.rmtree(folder)


def answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """An empty database of one test's own."""
    name = f"lab_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield f"{postgres_server.rpartition('/')[0]}/{name}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """A server's URL, without the number of a database."""
    if given := os.environ.get("TEST_REDIS_URL"):
        yield given.rpartition("/")[0]
        return
    if not (program := shutil.which("redis-server")):
        missing("a Redis server")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="contextlab-redis-") as folder:
        server = subprocess.Popen(
            [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder],
            preexec_fn=die_with_parent, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        url = f"redis://127.0.0.1:{port}"
        try:
            with redis.Redis.from_url(url) as client:
                wait_until(lambda: pings(client), "Redis")
            yield url
        finally:
            server.terminate()
            server.wait()


def pings(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


@pytest.fixture
def redis_url(redis_server: str) -> Iterator[str]:
    """An empty database of one test's own."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    url = f"{redis_server}/{int(worker) + 1}"
    with redis.Redis.from_url(url) as client:
        client.flushdb()
        yield url
        client.flushdb()
