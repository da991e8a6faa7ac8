"""The commands of docker-compose.yml, run without an engine: services start and are found healthy.

What is changed of them: the folder for temporary files and the port, which are the test's own.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.services.conftest import free_port, wait_until
from tests.services.processes import ROOT, Program, environment

pytestmark = [pytest.mark.service, pytest.mark.timeout(300)]

SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


IMAGE = (ROOT / "Dockerfile").read_text()
PORT = "8000"


def command(name: str, data: Path, port: int = 0) -> list[str]:
    """A service's command behind ``python``, the image's own where it has none."""
    words = SERVICES[name].get("command") or json.loads(
        re.findall(r"^CMD (\[.*\])$", IMAGE, re.MULTILINE)[-1]
    )
    first, *rest = (str(word).replace("/tmp/", f"{data}/") for word in words)
    assert first == "python"
    return [str(port) if word == PORT else word for word in rest]


def healthy(name: str, data: Path, port: int = 0, **settings: str) -> bool:
    kind, *test = SERVICES[name]["healthcheck"]["test"]
    words = [one.replace("$$", "$").replace(f":{PORT}/", f":{port}/") for one in test]
    if kind == "CMD-SHELL":
        text = words[0].replace("find /tmp ", f"find {data} ")
        words = ["sh", "-c", re.sub(r"^python ", f"{sys.executable} ", text)]
    else:
        assert words[0] == "python"
        words[0] = sys.executable
    done = subprocess.run(
        words,
        cwd=ROOT, env=environment(data, **settings) | {"HOSTNAME": socket.gethostname()},
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    return done.returncode == 0


def answers(port: int, path: str) -> tuple[int, dict[str, Any]]:
    """The status of an address of the web service, and what it says."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_all_services_run_and_are_watched(
    tmp_path: Path, postgres_url: str, redis_url: str
) -> None:
    settings = {
        "DATABASE_URL": postgres_url, "REDIS_URL": redis_url, "WORKER_PROCESSES": "1",
        "ALLOWED_HOSTS": "127.0.0.1,localhost", "HOST": "0.0.0.0", "SECRET_KEY": "k" * 60,
        "LOG_FORMAT": "json",
    }  # fmt: skip
    port = free_port()
    with Program(command("prepare", tmp_path), tmp_path, **settings) as prepare:
        assert prepare.process.wait(timeout=150) == 0, prepare.output()
    assert not healthy("worker", tmp_path, **settings)
    assert not healthy("beat", tmp_path, **settings)
    with (
        Program(command("web", tmp_path, port), tmp_path, **settings),
        Program(command("worker", tmp_path), tmp_path, **settings) as worker,
        Program(command("beat", tmp_path), tmp_path, **settings),
    ):
        wait_until(lambda: healthy("web", tmp_path, port, **settings), "the web's health", 60)
        worker.wait_for(r" ready\.")
        wait_until(lambda: healthy("worker", tmp_path, **settings), "the worker's health", 60)
        wait_until(lambda: healthy("beat", tmp_path, **settings), "the health of beat", 60)
        wait_until(lambda: answers(port, "/readyz")[0] == 200, "everything to be ready", 60)
        ready = answers(port, "/readyz")[1]
        assert ready["ready"] and set(ready["parts"]) >= {"database", "migrations", "broker"}
