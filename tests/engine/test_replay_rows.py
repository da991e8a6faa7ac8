"""The arrays of a what-if give the answers that the rules give on real entries and messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.calibration import weigh
from compaction_app.engine.compaction.cut import find_cut_point
from compaction_app.engine.pruning.recovery import plan_reduction, truncate_tool_results
from compaction_app.engine.pruning.recovery_rules import (
    RECOVERY_2026_4_20,
    RECOVERY_2026_5_28,
    RecoveryRules,
)
from compaction_app.engine.replay_rows import ReplayRows
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import message_tokens
from sessions_app.tokens.pressure import message_pressure
from tests.engine.builders import Script

STEPS = (
    "user", "answer", "result", "bash", "inner", "unknown", "custom", "branch", "label", "empty",
    "flush", "injected", "command", "compaction",
)  # fmt: skip


def write(script: Script, step: str, chars: int) -> None:
    text = "x" * chars
    if step == "user":
        script.user(chars)
    elif step == "answer":
        script.answer(chars, prompt=100 + 10 * len(script.entries))
    elif step == "result":
        script.result(chars)
    elif step == "bash":
        script.message("bashExecution", [], command="ls", output=text)
    elif step == "inner":
        script.message("custom", text)
    elif step == "unknown":
        script.message("system", text)
    elif step == "custom":
        script.add("custom_message", customType="note", content=text)
    elif step == "branch":
        script.add("branch_summary", summary=text or "s", fromId="e0")
    elif step == "label":
        script.add("label", label="x", targetId="e0")
    elif step == "empty":
        script.user(0)
    elif step == "flush":
        script.user("Continue the OpenClaw runtime event.").answer(chars)
    elif step == "injected":
        script.injected()
    elif step == "command":
        script.user("/compact please")
    else:
        script.compaction("e0", text or "s")


transcripts = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 400)), min_size=1)


def scripted(steps: list[tuple[str, int]]) -> Script:
    script = Script()
    for step, chars in steps:
        write(script, step, chars)
    return script


def rows_of(script: Script) -> ReplayRows:
    grown = script.grown()
    assert len(grown.columns) == len(script.entries)
    return ReplayRows(grown, weigh(grown))


@settings(max_examples=400)
@given(transcripts, st.data())
def test_the_cut_is_that_of_the_rule_on_the_entries_that_are_not_stripped(
    steps: list[tuple[str, int]], data: st.DataObject
) -> None:
    script = scripted(steps)
    rows = rows_of(script)
    count = len(script.entries)
    start = data.draw(st.integers(0, count - 1), "start")
    end = data.draw(st.integers(start, count), "end")
    sums = [rows.estimate(p, end) for p in range(start, end)]
    exact = st.sampled_from([max(n, 1) for n in sums] or [1])
    keep = data.draw(exact | st.integers(1, 500), "keepRecentTokens")
    places = [p for p in range(start, end) if not rows.stripped[p]]
    kept_entries = [script.entries[p] for p in places]
    cut = find_cut_point(
        kept_entries, 0, len(places), keep, lambda i: message_tokens(kept_entries[i]["message"])
    )
    mine = rows.cut(start, end, keep)
    assert [p for p in places if p >= mine] == places[cut.first_kept_index :]
    assert start <= mine <= end


@given(transcripts, st.integers(1, 400), st.integers(0, 400))
def test_keeping_more_never_cuts_later(steps: list[tuple[str, int]], keep: int, more: int) -> None:
    # Behind a trailing tool result there is no place to cut: then everything is kept, whatever `keep`.
    rows = rows_of(scripted(steps).user(4))
    end = len(rows.kind)
    assert rows.cut(0, end, keep + more) <= rows.cut(0, end, keep)


@given(transcripts)
def test_stripped_entries_never_weigh(steps: list[tuple[str, int]]) -> None:
    rows = rows_of(scripted(steps))
    for place in np.flatnonzero(rows.stripped):
        after = place + 1
        assert rows.weight(place, after) == 0
        assert rows.estimate(place, after) == 0
        assert rows.pressure(place, after) == 0


def history(lengths: list[int]) -> Script:
    """Answers and tool results of one text block each, no newline near a cut, no telling tail."""
    script = Script()
    for length in lengths:
        script.answer(40).result(length)
    return script


def least(rules: RecoveryRules) -> int:
    return js.utf16_len(rules.truncation.notice(1))


def messages(script: Script) -> list[dict[str, Any]]:
    return [entry["message"] for entry in script.entries]


VERSIONS = pytest.mark.parametrize("rules", [RECOVERY_2026_5_28, RECOVERY_2026_4_20])


@VERSIONS
@settings(max_examples=150)
@given(data=st.data())
def test_plain_results_are_reducible_by_what_the_rule_says(
    rules: RecoveryRules, data: st.DataObject
) -> None:
    lengths = data.draw(st.lists(st.integers(0, 4_000), max_size=6))
    single = data.draw(st.integers(1_000, 5_000))
    script = history(lengths)
    rows = rows_of(script)
    plan = plan_reduction(messages(script), 200_000, rules, single_cap_chars=single)
    found = rows.reducible(0, len(rows.kind), single, least(rules))
    assert found == plan.max_reducible_chars


@VERSIONS
@settings(max_examples=150)
@given(data=st.data())
def test_cut_results_are_as_long_and_weigh_what_the_cut_messages_do(
    rules: RecoveryRules, data: st.DataObject
) -> None:
    lengths = data.draw(st.lists(st.integers(0, 4_000), max_size=6))
    single = data.draw(st.integers(1_000, 5_000))
    script = history(lengths)
    rows = rows_of(script)
    cut = truncate_tool_results(messages(script), 200_000, rules, single_cap_chars=single).messages
    before = rows.result_chars.sum()
    removed = rows.cut_results(
        0, len(rows.kind), single, least(rules), rules.aggregate == "newest_first"
    )
    for place, message in enumerate(cut):
        if message["role"] == "toolResult":
            assert rows.result_chars[place] == len(message["content"][0]["text"])
        assert rows.estimate(place, place + 1) == message_tokens(message)
        assert rows.pressure(place, place + 1) == message_pressure(message)
    assert removed == before - rows.result_chars.sum()


def test_what_was_cut_once_is_not_cut_again() -> None:
    rows = rows_of(history([9_000, 9_000, 200]))
    assert rows.cut_results(0, 6, 5_000, 60) > 0
    assert rows.reducible(0, 6, 5_000, 60) == 0
    assert rows.cut_results(0, 6, 5_000, 60) == 0


def test_results_outside_the_range_are_left_alone() -> None:
    rows = rows_of(history([9_000, 9_000]))
    rows.cut_results(2, 4, 1_000, 60)
    assert rows.result_chars.tolist() == [0, 9_000, 0, 1_000]


def test_a_session_without_cut_points_keeps_everything() -> None:
    rows = rows_of(Script().result(500).add("label", label="x"))
    assert rows.cut(0, 2, 10) == 0


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 9_000)), min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3_000)), max_size=6),
)
def test_sums_are_right_however_far_they_were_asked_for_before_a_cut(
    steps: list[tuple[str, int]], cuts: list[tuple[int, int]]
) -> None:
    script = Script()
    for step, chars in steps:
        write(script, step, chars)
    grown = script.grown()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("compaction_app.engine.replay_rows.BLOCK_ROWS", 3)
        rows = ReplayRows(grown, weigh(grown))
        for place, cap in cuts:
            end = min(place, len(rows.tokens))
            rows.estimate(0, end)
            rows.cut_results(0, end, cap, 50)
        for end in range(len(rows.tokens) + 1):
            assert rows.estimate(0, end) == int(rows.tokens[:end].sum())
            assert rows.weight(0, end) == pytest.approx(float(rows.weights[:end].sum()))
