"""Every threshold from both sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.builders import Script, chat
from tests.engine.diagnose.files import Json, config, found, growth

FRESH: Json = {"totalTokensFresh": True}


def settings(window: int, **compaction: Any) -> Json:
    return config(window, compaction)


def soft(tokens: int) -> Json:
    return {"memoryFlush": {"softThresholdTokens": tokens}}


@pytest.mark.parametrize(
    ("code", "inside", "outside"),
    [
        ("FLUSH_UNREACHABLE", settings(100_000, **soft(0)), settings(100_000, **soft(1))),
        ("FLUSH_DISABLED", config(24_000), config(24_001)),
        (
            "FLUSH_DISABLED",
            settings(100_000, memoryFlush={"enabled": False}),
            settings(100_000, memoryFlush={"enabled": True}),
        ),
        (
            "FLUSH_DISABLED",
            config(100_000, sandbox={"mode": "all", "workspaceAccess": "ro"}),
            config(100_000, sandbox={"mode": "all", "workspaceAccess": "rw"}),
        ),
        (
            "COMPACTS_FROM_FIRST_TOKEN",
            settings(50_000, reserveTokens=50_000),
            settings(50_000, reserveTokens=49_999),
        ),
        ("RESERVE_SHRINKS_PROMPT", config(39_999), config(40_000)),
        ("SOFT_IS_DISTANCE", settings(200_000, **soft(80_001)), settings(200_000, **soft(80_000))),
        (
            "KEEP_GE_THRESHOLD",
            settings(100_000, keepRecentTokens=76_000),
            settings(100_000, keepRecentTokens=75_999),
        ),
        ("WINDOW_TOO_SMALL", config(7_999), config(8_000)),
        ("WINDOW_ASSUMED", config(None), config(200_000)),
        ("WINDOW_MISMATCH", config(96_000, contextTokens=96_001), config(96_000, contextTokens=96_000)),
        (
            "RESERVE_IGNORED",
            settings(100_000, mode="safeguard", reserveTokens=30_000),
            settings(100_000, mode="default", reserveTokens=30_000),
        ),
        (
            "RESERVE_IGNORED",
            settings(100_000, mode="safeguard", reserveTokensFloor=30_000),
            settings(100_000, mode="safeguard"),
        ),
        (
            "TRIGGER_INACTIVE",
            settings(100_000, mode="safeguard", reserveTokens=30_000),
            settings(100_000, mode="safeguard", reserveTokensFloor=30_000),
        ),
        (
            "PRUNE_INELIGIBLE",
            config(100_000, contextPruning={"mode": "cache-ttl"}),
            config(100_000, contextPruning={"mode": "cache-ttl"}, provider={"api": "anthropic-messages"}),
        ),
        (
            "PRUNE_INELIGIBLE",
            config(100_000, contextPruning={"ttl": "1m"}),
            config(100_000, contextPruning={"ttl": "1m", "mode": "off"}),
        ),
        (
            "PRUNE_TTL_INVALID",
            config(100_000, contextPruning={"ttl": "5y", "mode": "off"}),
            config(100_000, contextPruning={"ttl": "1h30m", "mode": "off"}),
        ),
    ],
)  # fmt: skip
def test_a_configuration_alone(tmp_path: Path, code: str, inside: Json, outside: Json) -> None:
    finding = found(tmp_path / "inside", inside)[code]
    assert finding.consequence.endswith("No session was looked at.")
    assert code not in found(tmp_path / "outside", outside)


def test_a_server_that_compacts_at_the_flush_line_or_below(tmp_path: Path) -> None:
    def server(threshold: int) -> Json:
        params = {"responsesServerCompaction": True, "responsesCompactThreshold": threshold}
        return config(100_000, params=params)

    assert found(tmp_path, server(76_000))["FLUSH_UNREACHABLE"].numbers["gap"] == 0
    assert "FLUSH_UNREACHABLE" not in found(tmp_path, server(76_001))


def test_the_check_is_judged_by_five_billed_calls_and_never_by_fewer(tmp_path: Path) -> None:
    assert "FLUSH_SHADOWED_BY_PRECHECK" in found(tmp_path, config(96_000), chat(5))
    assert "FLUSH_SHADOWED_BY_PRECHECK" not in found(tmp_path, config(96_000), chat(4))
    dense = chat(6, density=1.3, chars=8_000)
    assert "FLUSH_SHADOWED_BY_PRECHECK" not in found(tmp_path, config(96_000), dense)
    assert "FLUSH_SHADOWED_BY_PRECHECK" not in found(tmp_path, config(40_000), chat(5))


def test_compactions_of_one_turn_are_a_loop_and_do_not_come_often_besides(tmp_path: Path) -> None:
    script = chat(40)
    for letter in "stu":
        script.answer(4_000).compaction(f"e{len(script.entries) - 1}", letter * 40)
    codes = found(tmp_path, config(96_000), script)
    assert "COMPACTION_LOOP" in codes and "COMPACTS_OFTEN" not in codes


def test_where_all_growth_and_the_median_step_differ_both_are_told(tmp_path: Path) -> None:
    script, prompt = Script(), 3_000
    for number in range(12):
        script.user(400).answer(4_000, prompt + 130)
        prompt += 130 + (3_000 if number == 5 else 1_300)
    finding = found(tmp_path, config(200_000), script)["ESTIMATOR_LOW"]
    assert finding.numbers["ratio"] != finding.numbers["medianRatio"] == 1.3
    assert "the median of the steps between calls, which the what-if works with, is 1.30" in finding.consequence  # fmt: skip


@pytest.mark.parametrize(("density", "code"), [(1.25, "ESTIMATOR_LOW"), (0.8, "ESTIMATOR_HIGH")])
def test_an_estimate_that_is_off_by_more_than_the_margin(
    tmp_path: Path, density: float, code: str
) -> None:
    def codes(ratio: float) -> set[str]:
        session = chat(6, density=ratio, chars=8_000)
        return {c for c in found(tmp_path, config(40_000), session) if c.startswith("ESTIMATOR")}

    assert codes(density) == {code}
    assert codes(1.19) == codes(0.85) == set()


def test_an_overhead_is_no_fault_of_the_estimator(tmp_path: Path) -> None:
    session = chat(6, overhead=50_000, chars=8_000)
    assert "ESTIMATOR_LOW" not in found(tmp_path, config(400_000), session)


@pytest.mark.parametrize(("chars", "raised"), [(64_000, False), (64_001, True)])
def test_one_result_over_its_cap(tmp_path: Path, chars: int, raised: bool) -> None:
    session = Script().user().answer(prompt=3_000).result(chars).answer(prompt=19_000)
    assert ("TOOL_RESULT_OVERSIZED" in found(tmp_path, config(200_000), session)) is raised


@pytest.mark.parametrize(("last", "raised"), [(24_000, False), (24_001, True)])
def test_results_of_one_turn_over_the_cap_together(tmp_path: Path, last: int, raised: bool) -> None:
    session = Script().user().answer(prompt=3_000).result(40_000).result(last)
    assert ("TOOL_RESULTS_AGGREGATE" in found(tmp_path, config(200_000), session)) is raised
    apart = Script().user().answer(prompt=3_000).result(40_000).user().result(last)
    assert "TOOL_RESULTS_AGGREGATE" not in found(tmp_path, config(200_000), apart)


def compacted(summary_chars: int, **billed: Any) -> Script:
    session = Script().user(40_000).answer(400).user(400).answer(400)
    return session.compaction("e2", "s" * summary_chars).user(400).answer(400)


@pytest.mark.parametrize(("summary", "raised"), [(38_000, False), (38_800, True)])
def test_a_compaction_that_frees_less_than_a_twentieth(
    tmp_path: Path, summary: int, raised: bool
) -> None:
    codes = found(tmp_path, config(200_000), compacted(summary))
    assert ("NO_PROGRESS" in codes) is raised
    assert "COMPACTION_GREW" not in codes
    assert ("COMPACTION_GREW" in found(tmp_path, config(200_000), compacted(40_500))) is True


def test_a_user_s_turn_between_two_compactions_makes_them_no_loop(tmp_path: Path) -> None:
    session = Script().user(40_000).answer(400).user(40_000).answer(400)
    session.compaction("e2").user(4_000).answer(400).compaction("e5", "t" * 400)
    assert "COMPACTION_LOOP" not in found(tmp_path, config(200_000), session)
    session = Script().user(40_000).answer(400).user(40_000).answer(400)
    session.compaction("e2").answer(40_000).compaction("e5", "t" * 400)
    assert "COMPACTION_LOOP" in found(tmp_path, config(200_000), session)


@pytest.mark.parametrize(("turns", "raised"), [(5, True), (6, False)])
def test_compactions_that_follow_each_other_closely(
    tmp_path: Path, turns: int, raised: bool
) -> None:
    session = Script()
    for _ in range(3):
        for _ in range(turns):
            session.user(8_000).answer(400)
        session.compaction(f"e{len(session.entries) - 2}")
    codes = found(tmp_path, config(200_000), session)
    assert ("COMPACTS_OFTEN" in codes) is raised
    if raised:
        assert codes["COMPACTS_OFTEN"].numbers["turnsBetween"] == turns


@pytest.mark.parametrize(("replies", "raised"), [(1, False), (2, True)])
def test_turns_in_a_row_that_ended_in_the_overflow_reply(
    tmp_path: Path, replies: int, raised: bool
) -> None:
    session = Script().user().answer()
    for _ in range(replies):
        session.user().message(
            "assistant", "Context overflow: prompt too large", provider="openclaw"
        )
    assert ("STUCK_OVERFLOW" in found(tmp_path, config(200_000), session)) is raised
    session.user().answer().user()
    session.message("assistant", "Context overflow: prompt too large", provider="openclaw")
    numbers = found(tmp_path, config(200_000), session).get("STUCK_OVERFLOW")
    assert (numbers is not None) is raised


@pytest.mark.parametrize(("total", "raised"), [(200_001, True), (200_000, False)])
def test_a_stored_total_above_the_window(tmp_path: Path, total: int, raised: bool) -> None:
    codes = found(tmp_path, config(200_000), entry={"totalTokens": total, **FRESH})
    assert ("TOTAL_IS_CUMULATIVE" in codes) is raised


@pytest.mark.parametrize(("fresh", "raised"), [(True, False), (False, True), (None, True)])
def test_a_total_that_is_not_fresh(tmp_path: Path, fresh: bool | None, raised: bool) -> None:
    entry = {"totalTokens": 5_000, "totalTokensFresh": fresh}
    assert ("TOTAL_STALE" in found(tmp_path, config(200_000), entry=entry)) is raised
    new = {"updatedAt": 1}
    assert "TOTAL_STALE" not in found(tmp_path, config(200_000), entry=new)


@pytest.mark.parametrize(
    ("stored", "raised"), [(200_000, False), (64_000, False), (100_000, True), (None, False)]
)
def test_a_window_in_the_index_that_nobody_configured(
    tmp_path: Path, stored: int | None, raised: bool
) -> None:
    entry = {"contextTokens": stored, **FRESH}
    codes = found(tmp_path, config(200_000, contextTokens=64_000), entry=entry)
    assert ("STORE_WINDOW_STALE" in codes) is raised
    if raised:
        assert codes["STORE_WINDOW_STALE"].numbers["tokensOff"] == 36_000


@pytest.mark.parametrize(("count", "raised"), [(None, True), (0, True), (1, False)])
def test_a_count_below_the_compactions_of_the_branch(
    tmp_path: Path, count: int | None, raised: bool
) -> None:
    entry = {"compactionCount": count, **FRESH} if count is not None else FRESH
    codes = found(tmp_path, config(200_000), compacted(400), entry)
    assert ("COUNT_UNDERSTATED" in codes) is raised


@pytest.mark.parametrize(("chars", "raised"), [(100_000, False), (100_004, True)])
def test_a_system_prompt_that_takes_more_than_a_quarter(
    tmp_path: Path, chars: int, raised: bool
) -> None:
    report = {"systemPrompt": {"chars": chars // 2}, "tools": {"schemaChars": chars // 2}}
    codes = found(tmp_path, config(100_000), entry={"systemPromptReport": report, **FRESH})
    assert ("OVERHEAD_HIGH" in codes) is raised


@pytest.mark.parametrize(("images", "raised"), [(8, False), (9, True)])
def test_images_that_take_more_than_a_tenth(tmp_path: Path, images: int, raised: bool) -> None:
    session = Script()
    for _ in range(images):
        session.message("user", [{"type": "image", "data": "x", "mimeType": "image/png"}]).answer()
    assert ("ATTACHMENTS_ACCUMULATE" in found(tmp_path, config(100_000), session)) is raised


def test_a_file_that_the_report_says_was_cut(tmp_path: Path) -> None:
    file = {"name": "AGENTS.md", "rawChars": 26_359, "injectedChars": 20_000, "truncated": True}
    report = {"injectedWorkspaceFiles": [file, {**file, "name": "SOUL.md", "truncated": False}]}
    entry = {"systemPromptReport": report, **FRESH}
    finding = found(tmp_path, config(200_000), entry=entry)["CONTEXT_FILE_TRUNCATED"]
    assert (finding.numbers["file"], finding.numbers["lostChars"]) == ("AGENTS.md", 6_359)


def flushed(answer: str, calls: tuple[str, ...] = (), failed: bool = False) -> Script:
    session = chat(3)
    session.user("Continue the OpenClaw runtime event.")
    if calls:
        blocks = [{"type": "toolCall", "id": f"f{c}", "name": c, "arguments": {}} for c in calls]
        session.message("assistant", blocks, provider="mock", model="m")
        for call in calls:
            content = [{"type": "text", "text": "ok"}]
            session.message("toolResult", content, toolCallId=f"f{call}", isError=failed)
    return session.message("assistant", answer, provider="mock", model="m").user().answer()


@pytest.mark.parametrize(
    ("session", "raised"),
    [
        (flushed("NO_REPLY"), False),
        (flushed("NO_REPLY", ("write",)), False),
        (flushed("", ("write",)), False),
        (flushed("I would remember the deadline."), True),
        (flushed("Saved it!", ("write",)), True),
        (flushed("NO_REPLY", ("write",), failed=True), True),
        (flushed("NO_REPLY", ("read",), failed=True), False),
    ],
)
def test_a_flush_that_saved_nothing_or_spoke_to_the_user(
    tmp_path: Path, session: Script, raised: bool
) -> None:
    assert ("FLUSH_NOT_SAVED" in found(tmp_path, config(200_000), session)) is raised


@pytest.mark.parametrize(
    ("total", "flush", "raised"), [(176_000, False, True), (175_999, False, False), (176_000, True, False)]
)  # fmt: skip
def test_a_counter_that_says_a_flush_ran(
    tmp_path: Path, total: int, flush: bool, raised: bool
) -> None:
    entry = {
        "totalTokens": total, "compactionCount": 0, "memoryFlushCompactionCount": 0, **FRESH
    }  # fmt: skip
    session = flushed("NO_REPLY") if flush else chat(3)
    codes = found(tmp_path, config(200_000), session, entry)
    assert ("FLUSH_SKIPPED_ALREADY_FLUSHED" in codes) is raised


@pytest.mark.parametrize(("keep", "raised"), [(20_000, True), (1_000, False)])
def test_a_compaction_that_is_due_in_a_session_smaller_than_its_tail(
    tmp_path: Path, keep: int, raised: bool
) -> None:
    session = growth(5_000, 7_000, 9_000)
    codes = found(tmp_path, settings(32_000, keepRecentTokens=keep), session)
    assert ("SESSION_BELOW_KEEP" in codes) is raised
    small = growth(4_000, 5_000, 6_000)
    assert "SESSION_BELOW_KEEP" not in found(tmp_path, config(32_000), small)


def test_one_giant_turn_leaves_nowhere_to_cut(tmp_path: Path) -> None:
    session = Script().user(40).answer(40, prompt=190_000).result(200_000).result(200_000)
    codes = found(tmp_path, settings(200_000, keepRecentTokens=20_000), session)
    assert "SESSION_BELOW_KEEP" not in codes
    assert "NO_LEGAL_CUT" in codes
    assert "NO_LEGAL_CUT" not in found(
        tmp_path, settings(200_000), growth(60_000, 120_000, 181_000)
    )


@pytest.mark.parametrize(("failed", "raised"), [(False, True), (True, False)])
def test_calls_that_failed_need_no_usage(tmp_path: Path, failed: bool, raised: bool) -> None:
    session = Script().user()
    stop = {"stopReason": "error", "errorMessage": "500"} if failed else {"stopReason": "stop"}
    session.message("assistant", "x", provider="mock", model="m", **stop)
    assert ("USAGE_MISSING" in found(tmp_path, config(200_000), session)) is raised


@pytest.mark.parametrize(
    ("summary", "codes"),
    [
        (
            "Context contained 12 messages (1 oversized). Summary unavailable due to size limits.",
            {"COMPACTION_FALLBACK", "SUMMARY_LOST_HISTORY"},
        ),
        ("## Decisions\nNone.", {"COMPACTION_FALLBACK"}),
        (
            "## Decisions\nd\n## Open TODOs\nt\n## Constraints/Rules\nr\n## Pending user asks\na\n"
            "## Exact identifiers\ni",
            set(),
        ),
    ],
)
def test_a_summary_that_is_none(tmp_path: Path, summary: str, codes: set[str]) -> None:
    session = Script().user(40_000).answer(400).user(400).answer(400)
    session.compaction("e2", summary).entries[-1]["fromHook"] = True
    raised = found(tmp_path, settings(200_000, mode="safeguard"), session)
    assert raised.keys() & {"COMPACTION_FALLBACK", "SUMMARY_LOST_HISTORY"} == codes
    if "SUMMARY_LOST_HISTORY" in codes:
        assert raised["SUMMARY_LOST_HISTORY"].numbers["messages"] == 12
    plain = found(tmp_path, settings(200_000), session)
    assert ("COMPACTION_FALLBACK" in plain) is ("SUMMARY_LOST_HISTORY" in codes)
