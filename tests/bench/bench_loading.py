"""Loading a transcript against reading the same lines with the JSON parser alone.

Loading is to know every entry in its tree and everything that is wrong with the file. The importer does so
with a stretch of the file at a time; what entries mean and weigh is asked of them later, and is no part
of this.

Both are timed in one run and by turns, so that whatever else the machine does meets both alike; each
round gives one ratio, and the median of the rounds is the result. Processor time, not the clock.
"""

from __future__ import annotations

import gc
import statistics
from collections import deque
from collections.abc import Callable
from itertools import chain
from time import process_time
from typing import Any

import orjson

from sessions_app.importers.links import Links
from sessions_app.importers.loading import load
from sessions_app.tape import CHUNK_BYTES
from sessions_app.transcripts.json_lines import parse_json_lines
from sessions_app.transcripts.loading import load_loose, load_strict
from tests.bench.sessions import SAMPLE

SAMPLES = sorted(SAMPLE.parent.rglob("*.jsonl"))
ROUNDS = 15
GOAL = 0.5
LEAST_BYTES = 1_000_000
"""Short samples are read several times in a round, so that a round is long enough to be timed."""


Run = Callable[[bytes], object]


def _read_all(data: bytes) -> object:
    return [orjson.loads(line) for line in data.split(b"\n") if line]


def _read_by_line(data: bytes) -> None:
    for line in data.split(b"\n"):
        if line:
            orjson.loads(line)


def _stream(data: bytes) -> None:
    chunks = (data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES))
    deque(chain.from_iterable(stretch.items for stretch in load(chunks, Links())), maxlen=0)


PAIRS: dict[str, tuple[Run, Run]] = {
    "loose loader": (_read_all, lambda data: load_loose(parse_json_lines(data))),
    "strict loader": (_read_all, lambda data: load_strict(parse_json_lines(data))),
    "streaming loader": (_read_by_line, _stream),
}
"""What is measured, beside the parser that keeps as much: the whole file, or a line at a time."""


def _seconds(run: Run, data: bytes) -> float:
    start = process_time()
    for _ in range(-(-LEAST_BYTES // len(data))):
        run(data)
    return process_time() - start


def ratios(data: bytes, rounds: int = ROUNDS) -> dict[str, float]:
    """By loader: its rate as a share of the parser's, 1 being as fast as parsing alone."""
    found: dict[str, list[float]] = {name: [] for name in PAIRS}
    for _ in range(rounds):
        for name, (parse, loader) in PAIRS.items():
            gc.collect()
            before = _seconds(parse, data)
            spent = _seconds(loader, data)
            after = _seconds(parse, data)
            found[name].append((before + after) / 2 / spent)
    return {name: statistics.median(rates) for name, rates in found.items()}


def measure() -> list[dict[str, Any]]:
    by_sample = {path.stem[:24]: ratios(path.read_bytes()) for path in SAMPLES}
    rows = []
    for name in PAIRS:
        shares = {sample: found[name] for sample, found in by_sample.items()}
        rows.append(
            {
                "name": f"{name}, share of the JSON parser's rate",
                "value": min(shares.values()),
                "unit": "x",
                "goal": f">= {GOAL} x",
                "ok": min(shares.values()) >= GOAL,
                "detail": ", ".join(f"{sample}: {share:.2f}" for sample, share in shares.items()),
            }
        )
    return rows
