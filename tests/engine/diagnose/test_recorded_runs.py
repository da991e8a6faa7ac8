"""What is said of sessions that the real runtime recorded, and of real transcripts: all of it, and no more.

Each code has its cause in the run: stuck sessions are smaller than what a compaction keeps; usage near
characters / 4 in a window above about 44,000 tokens lets the pre-prompt check come before the flush; a
counter says that a flush ran which its own overflow kept from the transcript.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from compaction_app.diagnosis import diagnose
from compaction_app.engine.diagnose import Finding
from tests.engine.builders import ROOT, run_folder

TRANSCRIPTS = ROOT / "tests" / "data" / "transcripts"
SAMPLES = ROOT / "sessions_app" / "samples"
SPIRAL = {
    "STUCK_OVERFLOW", "COMPACTION_LOOP", "SESSION_BELOW_KEEP", "NO_PROGRESS", "KEEP_GE_THRESHOLD",
    "RESERVE_SHRINKS_PROMPT", "COMPACTION_GREW",
}  # fmt: skip
RUNS = {
    "cjk-32k": SPIRAL
    | {"FLUSH_BYPASSED_BY_JUMP", "FLUSH_SKIPPED_ALREADY_FLUSHED", "ESTIMATOR_LOW"},
    "contexttokens-over-window": SPIRAL
    | {"FLUSH_UNREACHABLE", "WINDOW_MISMATCH", "COUNT_UNDERSTATED"},
    "flush-never-keep": {"FLUSH_UNREACHABLE", "RESERVE_SHRINKS_PROMPT"},
    "flush-never-reserve": {"FLUSH_SHADOWED_BY_PRECHECK", "RESERVE_IGNORED", "TRIGGER_INACTIVE"},
    "force-flush-bytes": {"FLUSH_SHADOWED_BY_PRECHECK", "NO_PROGRESS", "COMPACTION_GREW"},
    "growth-32k": SPIRAL | {"FLUSH_SKIPPED_ALREADY_FLUSHED"},
    "growth-32k-safeguard": SPIRAL | {"FLUSH_SKIPPED_ALREADY_FLUSHED"},
    "growth-96k": {"FLUSH_SHADOWED_BY_PRECHECK"},
    "growth-96k-dense": {"COMPACTION_STALLED", "ESTIMATOR_LOW"},
    "inner-threshold": {"FLUSH_DISABLED", "COMPACTION_STALLED", "ESTIMATOR_LOW"},
    "keep-small-32k": {"RESERVE_SHRINKS_PROMPT"},
    "local-agent": {
        "SESSION_BELOW_KEEP", "KEEP_GE_THRESHOLD", "RESERVE_SHRINKS_PROMPT", "COUNT_UNDERSTATED",
        "TOTAL_STALE",
    },
    "manual-compact": {"FLUSH_SHADOWED_BY_PRECHECK", "NO_PROGRESS", "COMPACTION_GREW"},
    "manual-compact-keep": {"FLUSH_SHADOWED_BY_PRECHECK"},
    "overflow-recover": {"FLUSH_SHADOWED_BY_PRECHECK"},
    "overflow-summary-500-safeguard": {
        "SUMMARY_LOST_HISTORY", "COMPACTION_FALLBACK", "FLUSH_SHADOWED_BY_PRECHECK",
    },
    "prune-cache-ttl": {"FLUSH_UNREACHABLE"},
    "prune-hard-clear": {"FLUSH_UNREACHABLE"},
    "safeguard-audit": {"COMPACTION_FALLBACK", "FLUSH_SHADOWED_BY_PRECHECK"},
    "subagent": set(),
    "tool-over-cap-200k": {"FLUSH_UNREACHABLE", "TOOL_RESULT_OVERSIZED", "TOOL_RESULTS_AGGREGATE"},
    "tools-aggregate": {"FLUSH_DISABLED", "KEEP_GE_THRESHOLD"},
    "zero-usage-32k": SPIRAL | {"COUNT_UNDERSTATED", "TOTAL_STALE", "USAGE_MISSING"},
}  # fmt: skip


def by_code(path: Path) -> dict[str, Finding]:
    return {finding.code: finding for finding in reversed(diagnose([path]))}


@pytest.mark.parametrize("run", sorted(RUNS))
def test_a_recorded_run_raises_what_happened_in_it(run: str) -> None:
    assert set(by_code(run_folder(run))) == RUNS[run]


@pytest.mark.parametrize(
    ("path", "codes"),
    [
        (SAMPLES / "openclaw-1-large-tool-results.jsonl", {"USAGE_MISSING"}),
        (TRANSCRIPTS / "openclaw-6-provider-errors.jsonl", set()),
        (TRANSCRIPTS / "openclaw-7-golden.jsonl", {"FILE_BROKEN_PARENT", "USAGE_MISSING"}),
        (TRANSCRIPTS / "openclaw-8-schema-drift.jsonl", {"FILE_BROKEN_PARENT", "USAGE_MISSING"}),
        (TRANSCRIPTS / "pi-v1-1-two-compactions.jsonl", {"ESTIMATOR_LOW"}),
        (
            TRANSCRIPTS / "pi-v1-2-compaction-and-joined-records.jsonl",
            {"FILE_JOINED_RECORDS", "ESTIMATOR_LOW"},
        ),
        (SAMPLES / "pi-v3-1-two-compactions.jsonl", {"ESTIMATOR_LOW"}),
        (TRANSCRIPTS / "pi-v3-3-golden-compaction.jsonl", set()),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_a_transcript_alone_is_judged_by_what_is_recorded_and_never_by_settings(
    path: Path, codes: set[str], tmp_path: Path
) -> None:
    alone = tmp_path / path.name
    alone.write_bytes(path.read_bytes())
    assert set(by_code(alone)) == codes


def test_the_figures_of_a_stuck_session_are_those_of_the_run() -> None:
    codes = by_code(run_folder("growth-32k"))
    assert (codes["STUCK_OVERFLOW"].numbers["firstTurn"], codes["STUCK_OVERFLOW"].line) == (20, 64)
    assert codes["NO_PROGRESS"].numbers["compactions"] == 20
    assert codes["KEEP_GE_THRESHOLD"].numbers["line"] == 8_000
    assert codes["STUCK_OVERFLOW"].session == "0f903d11-abb0-4222-9c44-4c82ee1c47d3"
    assert codes["STUCK_OVERFLOW"].agent == "main"


def test_the_check_before_the_prompt_fires_where_the_run_saw_it() -> None:
    numbers = by_code(run_folder("growth-96k"))["FLUSH_SHADOWED_BY_PRECHECK"].numbers
    assert numbers["flushLine"] == 72_000
    assert abs(int(numbers["firesAtBilledTokens"]) - 63_222) < 500


def test_a_compaction_that_only_the_check_can_have_made_is_told_by_its_figures() -> None:
    finding = by_code(run_folder("96k-walkthrough-by-4"))["FLUSH_SHADOWED_BY_PRECHECK"]
    assert (finding.numbers["flushLine"], finding.numbers["firesAtBilledTokens"]) == (
        72_000,
        70_675,
    )
    assert 76_000 < int(finding.numbers["estimatedTokens"]) < 76_100
    assert finding.line == 46
    assert "FLUSH_SHADOWED_BY_PRECHECK" not in by_code(run_folder("96k-walkthrough"))


def test_a_summary_that_was_never_written_names_what_was_dropped() -> None:
    finding = by_code(run_folder("overflow-summary-500-safeguard"))["SUMMARY_LOST_HISTORY"]
    assert (finding.numbers["messages"], finding.line) == (6, 25)


def test_a_stalled_compaction_gives_the_wait() -> None:
    numbers = by_code(run_folder("growth-96k-dense"))["COMPACTION_STALLED"].numbers
    assert numbers["waitSeconds"] == pytest.approx(65.9)
    assert (numbers["totalTokens"], numbers["innerThreshold"]) == (76_438, 76_000)


def test_a_cut_result_counts_as_the_tool_returned_it() -> None:
    numbers = by_code(run_folder("tool-over-cap-200k"))["TOOL_RESULT_OVERSIZED"].numbers
    assert (numbers["tool"], numbers["chars"], numbers["cap"]) == ("exec", 150_000, 64_000)


def test_the_grave_come_first_and_each_code_has_one_severity() -> None:
    found = diagnose([run_folder("zero-usage-32k")])
    order = [finding.severity for finding in found]
    assert order == sorted(order, key=["grave", "warn", "info"].index)
