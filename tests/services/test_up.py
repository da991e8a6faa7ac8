"""``manage.py up``: one command, one link, nothing left behind."""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import signal
import socket
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.conftest import free_port, wait_until
from tests.services.processes import Program, children, command_line, descendants, is_running

pytestmark = [pytest.mark.service, pytest.mark.timeout(180)]

LINK = r"http://127\.0\.0\.1:\d+/login/[\w-]{40,}/"


def up(data: Path, **settings: str) -> Program:
    return Program(["manage.py", "up"], data, **({"PORT": str(free_port())} | settings))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """One site for the tests that do not end it."""
    with up(tmp_path_factory.mktemp("data")) as program:
        program.wait_for("Ctrl-C")
        yield program
        program.end()


def address(program: Program) -> str:
    return program.wait_for(r"ContextLab runs at (http://127\.0\.0\.1:\d+)/")[1]


class Browser:
    """Keeps cookies, follows redirects, gives the status of errors too."""

    def __init__(self) -> None:
        self.cookies = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.cookies)
        )

    def open(self, url: str, **form: str) -> tuple[int, str]:
        data = urllib.parse.urlencode(form).encode() if form else None
        try:
            with self.opener.open(url, data, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def press_button(self, url: str) -> int:
        status, page = self.open(url)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        return self.open(url, csrfmiddlewaretoken=token[1])[0] if token else status


def ready(program: Program) -> bool:
    status, body = Browser().open(address(program) + "/readyz")
    return status == 200 and bool(json.loads(body)["ready"])


def worker_pid(program: Program) -> int:
    """The worker's main process."""
    (pid,) = [pid for pid in children(program.process.pid) if "celery" in command_line(pid)]
    return pid


def test_the_link_logs_in_once(site: Program) -> None:
    link = site.wait_for(LINK)[0]
    owner, other = Browser(), Browser()
    owner.press_button(link)
    assert owner.open(address(site) + "/admin/auth/user/")[0] == 200
    assert other.press_button(link) == 410
    assert "Log in" in other.open(address(site) + "/admin/auth/user/")[1]


def test_it_becomes_ready(site: Program) -> None:
    wait_until(lambda: ready(site), "readiness")


def test_no_warning_is_printed(site: Program) -> None:
    browser = Browser()
    _, page = browser.open(address(site) + "/login/")
    for source in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
        assert browser.open(address(site) + source)[0] == 200
    assert "arning" not in site.output()


def test_a_second_one_says_that_the_port_is_taken(site: Program, tmp_path: Path) -> None:
    port = address(site).rpartition(":")[2]
    with up(tmp_path, PORT=port) as second:
        assert second.process.wait(timeout=60) == 1
        assert second.output() == (
            f"CommandError: port {port} of 127.0.0.1 is taken, perhaps by another ContextLab: "
            "stop it or set PORT\n"
        )


def test_a_second_one_says_that_the_folder_is_in_use(site: Program) -> None:
    with up(site.log.parent) as second:
        assert second.process.wait(timeout=60) == 1
        assert "another ContextLab uses DATA_DIR=" in second.output()
        assert second.output().count("\n") == 1


def test_a_killed_worker_comes_back_and_nothing_is_left_after_sigterm(tmp_path: Path) -> None:
    with up(tmp_path) as program:
        program.wait_for("Ctrl-C")
        wait_until(lambda: ready(program), "readiness")
        worker = worker_pid(program)
        pool = descendants(worker)
        os.kill(worker, signal.SIGKILL)
        program.wait_for(r"worker died \(killed by SIGKILL\); restarting in 1 s")
        wait_until(lambda: not any(map(is_running, pool)), "the end of the old pool")
        wait_until(lambda: program.output().count(" ready.") == 2, "the new worker")
        family = descendants(program.process.pid)
        assert program.end() == 0
        wait_until(lambda: not any(map(is_running, family)), "the end of all")
        assert port_is_free(program)


def test_nothing_is_left_when_it_is_killed_itself(tmp_path: Path) -> None:
    with up(tmp_path) as program:
        program.wait_for("Ctrl-C")
        wait_until(lambda: ready(program), "readiness")
        family = descendants(program.process.pid)
        assert len(family) >= 4
        program.end(signal.SIGKILL)
        wait_until(lambda: not any(map(is_running, family)), "the end of all")


def test_it_runs_on_postgresql_and_redis(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    with up(tmp_path, DATABASE_URL=postgres_url, REDIS_URL=redis_url) as program:
        program.wait_for("Ctrl-C")
        wait_until(lambda: ready(program), "readiness")
        browser = Browser()
        browser.press_button(program.wait_for(LINK)[0])
        assert browser.open(address(program) + "/admin/auth/user/")[0] == 200
        assert program.end() == 0


def test_a_wrong_setting_is_one_line(tmp_path: Path) -> None:
    with up(tmp_path, WORKER_PROCESSES="many") as program:
        assert program.process.wait(timeout=60) == 1
        assert program.output() == (
            "error: WORKER_PROCESSES='many': must be a whole number from 1 to 64\n"
        )


def test_a_public_address_without_a_key_is_refused(tmp_path: Path) -> None:
    with up(tmp_path, HOST="0.0.0.0") as program:
        assert program.process.wait(timeout=60) == 1
        assert "contextlab.E001" in program.output()
        assert "contextlab.E003" in program.output()


def port_is_free(program: Program) -> bool:
    match = re.search(r"runs at http://127\.0\.0\.1:(\d+)/", program.output())
    assert match is not None
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(match[1]))) != 0
