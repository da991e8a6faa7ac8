"""Thirty-two writers on one session of a real PostgreSQL lose nothing and reorder nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.services.processes import Program

pytestmark = [pytest.mark.service, pytest.mark.timeout(300)]
WRITERS, ROUNDS = 32, 10


def test_writers_at_once_lose_and_reorder_nothing(postgres_url: str, tmp_path: Path) -> None:
    given = {"DATABASE_URL": postgres_url}
    with Program(["manage.py", "migrate", "--no-input"], tmp_path, **given) as program:
        assert program.process.wait(120) == 0, program.output()
    script = ["-m", "tests.services.many_writers", str(WRITERS), str(ROUNDS)]
    with Program(script, tmp_path, **given) as program:
        assert program.process.wait(240) == 0, program.output()
        done = json.loads(program.output().splitlines()[-1])
    assert done["failures"] == []
    texts = done["texts"]
    assert len(texts) == len(set(texts)) == done["entries"] == WRITERS * ROUNDS * 2
    for number in range(WRITERS):
        own = [text for text in texts if text.startswith(f"{number}:")]
        assert own == [f"{number}:{turn}:{part}" for turn in range(ROUNDS) for part in "ab"]
    pairs = zip(texts[::2], texts[1::2], strict=True)
    assert all(a[:-1] == b[:-1] for a, b in pairs), "what was sent together stands together"
    assert done["chained"] and done["receipts"] and done["bytes"]
    assert done["events"] == list(range(1, WRITERS * ROUNDS + 1))
    assert done["turns"] == WRITERS * ROUNDS * 2
