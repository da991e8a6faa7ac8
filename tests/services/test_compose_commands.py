"""The commands of docker-compose.yml, run without an engine: services start and are found healthy."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.services.conftest import wait_until
from tests.services.processes import ROOT, Program, environment

pytestmark = [pytest.mark.service, pytest.mark.timeout(180)]

SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def command(name: str, data: Path) -> list[str]:
    """A service's command behind ``python``; its temporary files are in the test's own folder."""
    first, *rest = (str(word).replace("/tmp/", f"{data}/") for word in SERVICES[name]["command"])
    assert first == "python"
    return rest


def healthy(name: str, data: Path, **settings: str) -> bool:
    kind, *test = SERVICES[name]["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    text = test[0].replace("$$", "$").replace("find /tmp ", f"find {data} ")
    done = subprocess.run(
        ["sh", "-c", re.sub(r"^python ", f"{sys.executable} ", text)],
        cwd=ROOT, env=environment(data, **settings) | {"HOSTNAME": socket.gethostname()},
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    return done.returncode == 0


def test_prepare_worker_and_beat_run_and_are_watched(
    tmp_path: Path, postgres_url: str, redis_url: str
) -> None:
    settings = {"DATABASE_URL": postgres_url, "REDIS_URL": redis_url, "WORKER_PROCESSES": "1"}
    with Program(command("prepare", tmp_path), tmp_path, **settings) as prepare:
        assert prepare.process.wait(timeout=90) == 0, prepare.output()
    assert not healthy("worker", tmp_path, **settings)
    assert not healthy("beat", tmp_path, **settings)
    with (
        Program(command("worker", tmp_path), tmp_path, **settings) as worker,
        Program(command("beat", tmp_path), tmp_path, **settings),
    ):
        worker.wait_for(r" ready\.")
        wait_until(lambda: healthy("worker", tmp_path, **settings), "the worker's health", 60)
        wait_until(lambda: healthy("beat", tmp_path, **settings), "the health of beat", 60)
