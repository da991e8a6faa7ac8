"""Every real transcript of the test data compacted by the safeguard without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compaction_app.engine.budget import CompactionSettings
from compaction_app.engine.compaction.ask_overlap import overlap_tokens
from compaction_app.engine.compaction.drive import Means, drive
from compaction_app.engine.compaction.keywords import keywords
from compaction_app.engine.compaction.requests import ModelCall
from compaction_app.engine.compaction.run import CompactionRun, run_compaction
from compaction_app.engine.compaction.safeguard_settings import SafeguardSettings
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28
from compaction_app.summarisers.extractive import extractive_summary
from sessions_app.tokens import javascript as js
from tests.summarisers.conversations import REAL, branch_of, invented, order, said

NAMES = [f"{path.parent.name}/{path.stem}" for path in REAL]


def compacted(path: Path, keep: int, turns: int, mode: str) -> tuple[CompactionRun, list[Any]]:
    """The compaction and the model's calls with their answers."""
    calls: list[tuple[ModelCall, str]] = []

    def summarise(call: ModelCall) -> str:
        calls.append((call, extractive_summary(call)))
        return calls[-1][1]

    asked = order(
        mode=mode,
        settings=CompactionSettings(reserve_tokens=20_000, keep_recent_tokens=keep),
        safeguard=SafeguardSettings(recent_turns_preserve=turns),
    )
    branch = branch_of(path)
    run = drive(run_compaction(branch, asked, OPENCLAW_2026_5_28), Means(summarise))
    return run, calls


def can_be_reflected(ask: str | None) -> bool:
    """No summary with headings reflects an ask of stop words alone: headings have keywords, it none."""
    return not overlap_tokens(ask or "") or bool(keywords((ask or "").lower()))


@pytest.mark.parametrize(("keep", "turns"), [(2000, 0), (20_000, 3)])
@pytest.mark.parametrize("path", REAL, ids=NAMES)
def test_the_first_attempt_passes_the_strict_quality_check(
    path: Path, keep: int, turns: int
) -> None:
    run, calls = compacted(path, keep, turns, "safeguard")
    if run.outcome == "skipped":
        assert run.message == "no real conversation messages"
        return
    assert run.entry is not None and js.utf16_len(run.entry["summary"]) <= 16_000
    assert run.safeguard is not None and run.safeguard.attempts is not None
    attempts = run.safeguard.attempts
    expected = ("latest_user_ask_not_reflected",)
    if can_be_reflected(attempts.latest_ask):
        expected = ()
    check = attempts.attempts[0].check
    assert check is None or check.reasons == expected
    for call, answer in calls:
        assert js.utf8_len(answer) <= 2 * call.max_output(None)


@pytest.mark.parametrize("mode", ["safeguard", "default"])
@pytest.mark.parametrize("path", REAL, ids=NAMES)
def test_every_word_of_a_summary_was_said(path: Path, mode: str) -> None:
    _, calls = compacted(path, 2000, 0, mode)
    entries = branch_of(path)
    messages = [entry["message"] for entry in entries if "message" in entry]
    source = said([*messages, *(entry for entry in entries if "summary" in entry)])
    for _, answer in calls:
        assert invented(answer, source) == []


def test_the_real_transcripts_include_chinese_and_large_ones() -> None:
    assert any("cjk" in name for name in NAMES)
    assert any(path.stat().st_size > 1_000_000 for path in REAL)
