"""What finding the anchors of a long session costs, and how the cost grows."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import zstandard

from compaction_app.anchor_store import BLOCK
from compaction_app.engine.replay_context import Cut
from compaction_app.engine.retention.extract import Extractor
from compaction_app.engine.retention.ledger import Ledger
from compaction_app.engine.retention.session_index import SessionIndex
from compaction_app.engine.retention.stored_form import add_block, block_of
from compaction_app.lost import EXTRACTIVE
from sessions_app.importers import read_transcript
from tests.bench.sessions import long_session

LENGTHS = (1_000, 10_000)
GOAL_MS = 2_000
GOAL_GROWTH = 1.5
GOAL_MOVE_MS = 20
GOAL_STORED_MS = 1_000


def conversation(messages: int) -> list[dict[str, Any]]:
    lines = (json.loads(line) for line in long_session(2 * messages, with_compactions=False))
    found = [line["message"] for line in lines if line.get("type") == "message"]
    return found[:messages]


def _moves(messages: list[dict[str, Any]]) -> float:
    """Milliseconds that a moved knob costs: two what-ifs of twenty compactions each."""
    extractor = Extractor()
    found = {n: extractor.add(n, message) for n, message in enumerate(messages)}
    ledger = Ledger(range(len(messages)), found)
    step = len(messages) // 21
    cuts = [Cut(step * n, step * (n + 1), step * (n + 2)) for n in range(20)]
    ledger.tally(cuts, EXTRACTIVE)
    start = process_time()
    for _ in range(10):
        ledger.tally(cuts, EXTRACTIVE)
    return 1000 * (process_time() - start) / 10 * 2


def _from_blocks(length: int) -> tuple[float, int]:
    """Milliseconds to know a session from its stored blocks, and how many bytes these have."""
    lines = b"".join(long_session(length, with_compactions=False))
    index = SessionIndex()
    blocks: list[bytes] = []
    entries = read_transcript([lines]).entries
    for first in range(0, len(entries), BLOCK):
        index.add(entries[first : first + BLOCK])
        blocks.append(zstandard.compress(block_of(index, first)))
    start = process_time()
    again = SessionIndex()
    for block in blocks:
        add_block(again, zstandard.decompress(block))
    spent = 1000 * (process_time() - start)
    assert again.anchors == index.anchors
    return spent, sum(map(len, blocks))


def measure() -> list[dict[str, Any]]:
    spent: dict[int, float] = {}
    found = chars = 0
    for length in LENGTHS:
        messages = conversation(length)
        chars = sum(len(json.dumps(message)) for message in messages)
        extractor = Extractor()
        start = process_time()
        found = sum(len(extractor.add(n, message)) for n, message in enumerate(messages))
        spent[length] = process_time() - start
    moved = _moves(messages)
    stored, stored_bytes = _from_blocks(LENGTHS[-1])
    short, long = LENGTHS
    growth = (spent[long] / long) / (spent[short] / short)
    return [
        {
            "name": f"anchors of {long} messages",
            "value": 1000 * spent[long],
            "unit": "ms",
            "goal": f"<= {GOAL_MS} ms of processor time",
            "ok": 1000 * spent[long] <= GOAL_MS,
            "detail": f"{chars / 1e6:.0f} MB, {found} anchors",
        },
        {
            "name": f"anchors of {long} entries from stored blocks",
            "value": stored,
            "unit": "ms",
            "goal": f"<= {GOAL_STORED_MS} ms of processor time",
            "ok": stored <= GOAL_STORED_MS,
            "detail": f"{stored_bytes / 1e3:,.0f} kB stored",
        },
        {
            "name": f"anchors lost in a what-if of {long} messages",
            "value": moved,
            "unit": "ms",
            "goal": f"<= {GOAL_MOVE_MS} ms of processor time",
            "ok": moved <= GOAL_MOVE_MS,
            "detail": "two what-ifs of 20 compactions each",
        },
        {
            "name": "anchors, growth",
            "value": growth,
            "unit": "x",
            "goal": f"<= {GOAL_GROWTH} x per message from {short} to {long}",
            "ok": growth <= GOAL_GROWTH,
            "detail": ", ".join(f"{n}: {1e6 * s / n:.0f} µs/message" for n, s in spent.items()),
        },
    ]
