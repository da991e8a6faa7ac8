"""Whatever is killed, stopped or cut off, and whenever: nothing is lost and nothing is done twice.

A fixed sample; with ``FAULTS`` set, as in the benchmark, every step of a compaction and of a flush. The
results are then written to the file it names, one line of JSON each.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.services.conftest import free_port
from tests.services.faults.scenarios import (
    BROKER,
    FULL_SAMPLE,
    FULL_SERVICES,
    SAMPLE,
    Scenario,
    all_points,
    tried,
)

REPORT = os.environ.get("FAULTS", "")
EMBEDDED = [*SAMPLE[:-1], *all_points(), SAMPLE[-1]] if REPORT else SAMPLE
FULL = [*FULL_SERVICES, *FULL_SAMPLE] if REPORT else FULL_SAMPLE
SECONDS = 1_800 if REPORT else 300

pytestmark = [pytest.mark.service, pytest.mark.timeout(SECONDS + 60)]


def unharmed(scenarios: list[Scenario], results: list[Any], setup: str) -> None:
    if REPORT:
        with Path(REPORT).open("a") as report:
            report.writelines(json.dumps({"setup": setup, **r}) + "\n" for r in results)
    assert len(results) == len(scenarios)
    assert [r for r in results if r["problems"]] == []
    for result in results:
        if result["scenario"].get("act") in ("child", "worker") and not REPORT:
            assert result["step"] and result["attempts"] >= 2, result  # it was killed indeed


def test_the_embedded_setup_survives(tmp_path: Path) -> None:
    unharmed(EMBEDDED, tried(EMBEDDED, tmp_path, SECONDS), "embedded")


def test_postgresql_and_redis_survive(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    results = tried(FULL, tmp_path, SECONDS, DATABASE_URL=postgres_url, REDIS_URL=redis_url)
    unharmed(FULL, results, "PostgreSQL and Redis")
    dropped = [r for r in results if r["scenario"].get("act") == "drop"]
    assert all(r["attempts"] >= 2 for r in dropped), dropped


def test_a_broker_that_was_away_only_delays(tmp_path: Path, redis_server: str) -> None:
    url = f"redis://127.0.0.1:{free_port()}/0"
    unharmed(BROKER, tried(BROKER, tmp_path, REDIS_URL=url), "Redis away")
