"""Everything in one go: database, static files, web server and worker, and how to log in."""

from __future__ import annotations

import errno
import fcntl
import socket
import sys
import time
import urllib.request
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command
from django.db import connection

from contextlab import broker
from contextlab.owner import login_address, owner
from contextlab.static_files import collect_if_changed
from contextlab.supervisor import Supervisor

WEB = (
    *("-m", "uvicorn", "contextlab.asgi:application", "--lifespan", "off", "--no-access-log"),
    *("--timeout-graceful-shutdown", "3", "--log-level", "warning"),
)
WORKER = (
    # Celery warns of root in six lines at each start; with JSON messages nothing depends on it.
    *("-W", "ignore:You're running the worker with superuser"),
    *("-m", "celery", "--quiet", "-A", "contextlab", "worker", "--beat", "-n", "worker@%h"),
    *("--without-gossip", "--without-mingle", "--without-heartbeat"),
)


class Command(BaseCommand):
    help = "Set up what is missing, run the web server and the worker, print a login link."

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_taken_port(settings.HOST, settings.PORT)
        settings.DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        with only_one(settings.DATA_DIR / "up.lock"):
            if not settings.REDIS_URL:
                broker.create(settings.CELERY_BROKER_FOLDER)
            call_command("prepare", stdout=self.stdout)
            collect_if_changed()
            commands = {
                "web": [
                    sys.executable,
                    *WEB,
                    *("--host", settings.HOST),
                    *("--port", str(settings.PORT)),
                ],
                "worker": [sys.executable, *WORKER],
            }
            Supervisor(commands, self.say).run(WebProbe().answers, self.announce)

    def announce(self) -> None:
        user = owner()
        self.say(f"ContextLab runs at {settings.PUBLIC_URL}/")
        if user is not None:
            self.say(
                f"log in once, within {settings.LOGIN_LINK_MINUTES} minutes: {login_address(user)}"
            )
        self.say("Ctrl-C ends it; make link prints a fresh link")
        connection.close()

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


class WebProbe:
    """Whether the web server answers; asked again and again, at most every 0.2 s."""

    def __init__(self) -> None:
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.HOST, settings.HOST)
        netloc = f"[{host}]" if ":" in host else host
        self.url = f"http://{netloc}:{settings.PORT}/healthz"
        self.asked = 0.0

    def answers(self) -> bool:
        if time.monotonic() - self.asked < 0.2:
            return False
        self.asked = time.monotonic()
        try:
            request = urllib.request.Request(
                self.url, headers={"Host": settings.ALLOWED_HOSTS[0].lstrip(".")}
            )
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=1) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


def refuse_taken_port(host: str, port: int) -> None:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandError(
                f"port {port} of {host} is taken, perhaps by another ContextLab: stop it or set PORT"
            ) from error
        raise CommandError(f"cannot listen on HOST={host} PORT={port}: {error}") from error


def only_one(path: Path) -> IO[str]:
    """Two schedulers must not share a folder. The lock goes with the process, whatever ends it."""
    file = path.open("w", encoding="ascii")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise CommandError(
            f"another ContextLab uses DATA_DIR={path.parent}: stop it or set DATA_DIR"
        ) from error
    return file
