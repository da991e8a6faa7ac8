"""The troubles of real users, rebuilt from their numbers: each code where it belongs, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compaction_app.engine.rule_sets import OPENCLAW_2026_3, OPENCLAW_2026_4_20, OPENCLAW_2026_5_28
from tests.engine.builders import Script
from tests.engine.diagnose.files import config, found, growth

MINUTE = 60


def timed(script: Script, seconds: list[int]) -> Script:
    """The script with its entries at these moments."""
    for entry, second in zip(script.entries, seconds, strict=True):
        hour, rest = divmod(second, 3600)
        entry["timestamp"] = f"2026-01-01T{hour:02}:{rest // 60:02}:{rest % 60:02}.000Z"
    return script


def test_the_flush_line_lies_above_the_line_that_compacts(tmp_path: Path) -> None:
    reserve = {"reserveTokens": 62_500, "reserveTokensFloor": 20_000}
    session = growth(*range(150_000, 260_001, 10_000), density=1.3)
    codes = found(tmp_path, config(272_000, reserve), session)
    numbers = codes["FLUSH_UNREACHABLE"].numbers
    assert (numbers["flushLine"], numbers["innerThreshold"]) == (248_000, 209_500)
    assert numbers["gap"] == -38_500
    assert "FLUSH_BYPASSED_BY_JUMP" not in codes


def test_with_a_larger_floor_the_session_jumps_over_the_gap(tmp_path: Path) -> None:
    reserve = {"reserveTokens": 62_500, "reserveTokensFloor": 62_500}
    session = growth(*range(150_000, 260_001, 10_000), density=1.3)
    codes = found(tmp_path, config(272_000, reserve), session)
    assert "FLUSH_UNREACHABLE" not in codes
    numbers = codes["FLUSH_BYPASSED_BY_JUMP"].numbers
    assert (numbers["jump"], numbers["gap"], numbers["flushLine"]) == (10_000, 4_000, 205_500)
    slower = growth(*range(150_000, 209_001, 3_500), 211_000, density=1.3)
    assert "FLUSH_BYPASSED_BY_JUMP" not in found(tmp_path, config(272_000, reserve), slower)


@pytest.mark.parametrize("rules", [OPENCLAW_2026_3, OPENCLAW_2026_4_20, OPENCLAW_2026_5_28])
def test_a_tiny_window_compacts_from_the_first_token(tmp_path: Path, rules: Any) -> None:
    finding = found(tmp_path, config(16_384), rules=rules)["COMPACTS_FROM_FIRST_TOKEN"]
    effective = 20_000 if rules is OPENCLAW_2026_3 else 16_384
    assert finding.numbers["reserveTokens"] == effective
    assert finding.consequence.endswith("No session was looked at.")
    fixed = config(16_384, {"reserveTokens": 4_096, "reserveTokensFloor": 4_096})
    assert "COMPACTS_FROM_FIRST_TOKEN" not in found(tmp_path, fixed, rules=rules)


def test_a_soft_threshold_that_was_read_backwards(tmp_path: Path) -> None:
    totals = growth(60_000, 90_000, 120_000, 150_000, 175_000, density=1.3)

    def soft(tokens: int, **more: int) -> dict[str, Any]:
        compaction = {"memoryFlush": {"softThresholdTokens": tokens}, **more}
        return found(tmp_path, config(200_000, compaction), totals)

    assert soft(35_000) == {} or "SOFT_IS_DISTANCE" not in soft(35_000)
    numbers = soft(100_000)["SOFT_IS_DISTANCE"].numbers
    assert (numbers["flushLine"], numbers["softThresholdTokens"]) == (80_000, 100_000)
    assert "KEEP_GE_THRESHOLD" not in soft(100_000)
    kept = soft(100_000, keepRecentTokens=100_000)["KEEP_GE_THRESHOLD"].numbers
    assert (kept["keepRecentTokens"], kept["line"]) == (100_000, 80_000)


def test_two_windows_for_one_model(tmp_path: Path) -> None:
    codes = found(tmp_path, config(96_000, contextTokens=128_000))
    assert codes["WINDOW_MISMATCH"].numbers["flushWindow"] == 128_000
    assert codes["WINDOW_MISMATCH"].numbers["runWindow"] == 96_000
    unreachable = codes["FLUSH_UNREACHABLE"].numbers
    assert (unreachable["flushLine"], unreachable["innerThreshold"]) == (104_000, 76_000)
    assert unreachable["gap"] == -28_000
    assert found(tmp_path / "a", config(96_000)) == {}
    assert found(tmp_path / "b", config(96_000, contextTokens=64_000)) == {}


def test_a_window_that_is_only_assumed_shows_where_the_provider_refused(tmp_path: Path) -> None:
    refusal = "This model's maximum context length is 64000 tokens. However, your messages resulted in 64120 tokens."
    session = growth(20_000, 40_000, 60_000, density=1.3).user()
    session.message(
        "assistant", [], provider="mock", model="m", stopReason="error", errorMessage=refusal
    )
    codes = found(tmp_path, config(None, contextTokens=128_000), session)
    assert codes["WINDOW_ASSUMED"].numbers["observedLimit"] == 64_000
    assert codes["WINDOW_ASSUMED"].fix == {"contextWindow": 64_000}
    assert "WINDOW_MISMATCH" not in codes


def test_one_turn_jumps_over_the_flush_line_and_the_threshold(tmp_path: Path) -> None:
    soft = {"memoryFlush": {"softThresholdTokens": 10_000}}
    session = growth(40_000, 80_000, 120_000, 160_000, density=1.3)
    session.user().answer(400, prompt=160_300, output=50).result(80_000)
    session.answer(400, prompt=180_500, output=100)
    finding = found(tmp_path, config(200_000, soft), session)["FLUSH_BYPASSED_BY_JUMP"]
    assert (finding.numbers["before"], finding.numbers["after"]) == (160_000, 180_600)
    assert finding.numbers["flushLine"] == 170_000
    assert finding.line == 13
    session = growth(40_000, 80_000, 120_000, 160_000, 172_000, 181_000, density=1.3)
    assert "FLUSH_BYPASSED_BY_JUMP" not in found(tmp_path, config(200_000, soft), session)


def test_149_percent_is_an_unknown_total(tmp_path: Path) -> None:
    entry = {
        "inputTokens": 297_000,
        "outputTokens": 2_000,
        "totalTokens": None,
        "totalTokensFresh": False,
    }
    codes = found(tmp_path, config(200_000), entry={**entry, "contextTokens": 200_000})
    assert "unknown" in codes["TOTAL_STALE"].consequence
    assert "TOTAL_IS_CUMULATIVE" not in codes
    assert not any("149" in finding.consequence for finding in codes.values())


def test_the_sum_of_several_calls_is_no_context(tmp_path: Path) -> None:
    session = Script().user(150_000)
    for call in range(8):
        session.answer(400, prompt=51_500 + 640 * call, output=100).result(1_600)
    entry = {"totalTokens": 433_428, "totalTokensFresh": True, "contextTokens": 370_000}
    codes = found(tmp_path, config(370_000), session, entry)
    assert codes["TOTAL_IS_CUMULATIVE"].numbers["lastCallTokens"] == 55_980
    crossed = {"FLUSH_SKIPPED_ALREADY_FLUSHED", "SESSION_BELOW_KEEP", "NO_LEGAL_CUT"}
    assert not crossed & codes.keys()
    honest = {"totalTokens": 55_980, "totalTokensFresh": True}
    assert "TOTAL_IS_CUMULATIVE" not in found(tmp_path, config(370_000), session, honest)


def test_three_results_that_no_cap_catches(tmp_path: Path) -> None:
    session = growth(50_000, 100_000, 154_535)
    session.user(4).answer(4, prompt=154_640, output=20)
    for chars in (38_662, 155_016, 136_693):
        session.result(chars)
    session.answer(4, prompt=390_607, output=20)
    codes = found(tmp_path, config(200_000), session, rules=OPENCLAW_2026_3)
    numbers = codes["TOOL_RESULTS_AGGREGATE"].numbers
    assert (numbers["chars"], numbers["cap"], numbers["results"]) == (330_371, 240_000, 3)
    assert "TOOL_RESULT_OVERSIZED" not in codes
    assert codes["ESTIMATOR_LOW"].numbers["estimator"] == "characters / 4"


def test_a_chinese_text_counts_about_three_times_its_estimate(tmp_path: Path) -> None:
    text = "汉" * 11_580 + "w" * 17_369
    session = Script().user(4).answer(4, prompt=3_000, output=1)
    session.user(text).answer(4, prompt=24_700, output=1)
    numbers = found(tmp_path, config(200_000), session)["ESTIMATOR_LOW"].numbers
    assert numbers["estimatedTokens"] == 7_239
    assert numbers["cjkShare"] == pytest.approx(0.4, abs=0.001)
    assert numbers["ratio"] == pytest.approx(3, abs=0.01)


def idle_pruning(marks: bool) -> Script:
    script, seconds, now = Script(), [], 0
    for turn in range(49):
        now += 30 + turn % 31
        script.user(40)
        for _ in range(2 if turn < 38 else 1):
            script.answer(40, prompt=3_000 + turn * 3_000, output=10)
            script.result(4_000 + turn * 300)
        script.answer(40, prompt=4_000 + turn * 3_000, output=10)
        if marks:
            script.add(
                "custom",
                customType="openclaw.cache-ttl",
                data={"timestamp": 1_767_225_600_000 + now * 1000},
            )
        seconds += [now] * (len(script.entries) - len(seconds))
    return timed(script, seconds)


def test_pruning_whose_ttl_never_expires(tmp_path: Path) -> None:
    pruning = {"mode": "cache-ttl", "ttl": "5m"}
    settings = config(200_000, contextPruning=pruning, provider={"api": "anthropic-messages"})
    codes = found(tmp_path, settings, idle_pruning(marks=True))
    numbers = codes["PRUNE_TTL_NEVER_EXPIRES"].numbers
    assert (numbers["largestGapSeconds"], numbers["suggestedTtl"]) == (60, "30s")
    assert numbers["charsThatWouldGo"] > 100_000
    assert codes["PRUNE_TTL_NEVER_EXPIRES"].fix == {"contextPruning.ttl": "30s"}
    assert "PRUNE_COLD_START" not in codes
    assert "PRUNE_COLD_START" in found(tmp_path, settings, idle_pruning(marks=False))
    pruning["ttl"] = "30s"
    codes = found(tmp_path, settings, idle_pruning(marks=True))
    assert not {code for code in codes if code.startswith("PRUNE")}


def test_cutting_results_is_enough_and_nothing_has_to_be_compacted(tmp_path: Path) -> None:
    session = growth(40_000, 80_000, density=1.3)
    session.user(4).answer(4, prompt=80_200, output=20)
    for chars in (60_000, 60_000, 60_000):
        session.result(chars)
    session.answer(4, prompt=133_000, output=20)
    codes = found(tmp_path, config(200_000, {"reserveTokens": 40_000}), session)
    assert not {"SESSION_BELOW_KEEP", "NO_LEGAL_CUT", "COMPACTION_LOOP"} & codes.keys()
    assert "TOOL_RESULTS_AGGREGATE" in codes


def test_rules_that_do_not_fit_into_the_prompt(tmp_path: Path) -> None:
    text = "".join(f"# Part {part}\n" + "word " * 1_045 + "\n" for part in range(5))
    text += "x" * (26_359 - len(text))
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "AGENTS.md").write_text(text)
    finding = found(tmp_path, config(200_000, bootstrapMaxChars=20_000))["CONTEXT_FILE_TRUNCATED"]
    assert finding.numbers["rawChars"] == 26_359
    assert finding.numbers["injectedChars"] <= 20_000
    assert finding.numbers["lostChars"] >= 26_359 - 20_000
    assert "Part 2:" in finding.numbers["lostBySection"]
    assert "Part 0:" not in finding.numbers["lostBySection"]
    whole = found(tmp_path, config(200_000, bootstrapMaxChars=27_000))
    assert "CONTEXT_FILE_TRUNCATED" not in whole


def endless(compactions: int) -> Script:
    """The first compaction frees half of the messages, each further one almost nothing."""
    session = growth(50_000, 100_000, 150_000)
    for number in range(compactions):
        session.compaction("e4", "s" * (12_000 - 4 * number))
    return session


@pytest.mark.parametrize("count", [2, 29])
def test_endless_summaries_are_known_at_the_second(tmp_path: Path, count: int) -> None:
    codes = found(tmp_path, config(200_000), endless(count))
    assert codes["NO_PROGRESS"].line == codes["COMPACTION_LOOP"].line == 9
    assert codes["COMPACTION_LOOP"].numbers["compactions"] == count
    once = found(tmp_path, config(200_000), endless(1))
    assert not {"NO_PROGRESS", "COMPACTION_LOOP"} & once.keys()
