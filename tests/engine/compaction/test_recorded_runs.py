"""Compactions recorded from the real runtime, made again by the engine.

Each transcript is cut where the runtime compacted it; the model answers what it answered then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compaction_app.engine.budget import CompactionSettings
from compaction_app.engine.compaction.run import CompactionOrder, CompactionRun, run_compaction
from compaction_app.engine.compaction.safeguard_settings import SafeguardSettings
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28
from tests.engine.compaction.driving import ERROR, Model

RUNS = Path(__file__).parents[2] / "data" / "runs" / "2026.5.28"
FAILING = "overflow-summary-500-safeguard"
KEEP = {FAILING: 3000, "manual-compact-keep": 3000, "keep-small-32k": 2000, "safeguard-audit": 3000}
TOKENS_AFTER = {
    "manual-compact-keep": [3360, 3666],
    "keep-small-32k": [2403, 2885, 2832],
    "safeguard-audit": [4287, 3700],
}
PRESERVED = "\n\n## Recent turns preserved verbatim\n"
MODEL = {"provider": "mock", "id": "mock", "contextWindow": 64_000, "maxTokens": 4096}


def compactions(run: str) -> Iterator[tuple[list[Any], Any]]:
    """Each recorded compaction with the branch it was made from."""
    lines = (RUNS / run / "transcript.jsonl").read_text().splitlines()
    entries = [entry for entry in map(json.loads, lines) if entry["type"] != "session"]
    by_id = {entry["id"]: entry for entry in entries}
    for entry in entries:
        if entry["type"] == "compaction":
            path: list[Any] = []
            parent = entry["parentId"]
            while parent is not None:
                path.insert(0, by_id[parent])
                parent = path[0]["parentId"]
            yield path, entry


def order(run: str, entry: Any) -> CompactionOrder:
    return CompactionOrder(
        mode="default",
        settings=CompactionSettings(reserve_tokens=20_000, keep_recent_tokens=KEEP[run]),
        entry_id=entry["id"],
        timestamp=entry["timestamp"],
        now_ms=0,
        manual=True,
        model=MODEL,
        configured_keep=KEEP[run],
    )


def made(run: CompactionRun, entry: Any) -> dict[str, Any]:
    """The entry as the recording has it, which holds more beside what a rule decides."""
    assert run.entry is not None
    return {key: run.entry[key] for key in run.entry if key in entry}


def answers(summary: str) -> list[str]:
    """What the model said: without the file lists, history and split turn apart."""
    said = re.split("\n\n<(?:read|modified)-files>\n", summary)[0]
    parts = said.split("\n\n---\n\n**Turn Context (split turn):**\n\n")
    return [part for part in parts if part != "No prior history."]


@pytest.mark.parametrize("run", ["manual-compact-keep", "keep-small-32k"])
def test_a_recorded_compaction_without_safeguard_comes_out_the_same(run: str) -> None:
    after = []
    for path, entry in compactions(run):
        again = Model(*answers(entry["summary"])).run(
            run_compaction(path, order(run, entry), OPENCLAW_2026_5_28)
        )
        assert made(again, entry) == entry
        after.append(again.tokens_after)
    assert after == TOKENS_AFTER[run]


def test_recorded_quality_checks_found_the_same_and_the_summaries_are_the_same() -> None:
    missing = [
        "missing_identifiers:5EED1EEF,5EED3DDE,5EED5CCD",
        "missing_identifiers:5EEDF778,5EEE1667,5EEE3556",
    ]
    outcomes = [("retried", "passed"), ("retried", "kept_although_failed")]
    after = []
    for number, (path, entry) in enumerate(compactions("safeguard-audit")):
        summary = entry["summary"].partition(PRESERVED)[0]
        asked = replace(
            order("safeguard-audit", entry), mode="safeguard", safeguard=SafeguardSettings()
        )
        again = Model("Summary without headings.", summary).run(
            run_compaction(path, asked, OPENCLAW_2026_5_28)
        )
        assert made(again, entry) == entry
        after.append(again.tokens_after)
        attempts = again.safeguard.attempts.attempts
        assert tuple(attempt.outcome for attempt in attempts) == outcomes[number]
        reasons = attempts[0].check.reasons
        assert [reason for reason in reasons if reason.startswith("missing_i")] == [missing[number]]
        assert again.safeguard.sizes.reserve == 4096
    assert after == TOKENS_AFTER["safeguard-audit"]


def test_a_summariser_that_always_failed_left_the_same_notice_behind() -> None:
    ((path, entry),) = compactions(FAILING)
    asked = replace(order(FAILING, entry), mode="safeguard", safeguard=SafeguardSettings())
    model = Model(ERROR)
    again = model.run(run_compaction(path, asked, OPENCLAW_2026_5_28))
    assert made(again, entry) == entry
    assert len(model.calls) == 12
    assert again.safeguard.attempts.attempts[-1].outcome == "kept_although_failed"
