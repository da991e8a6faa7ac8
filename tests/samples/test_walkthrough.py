"""The story of the walk-through, number by number, as the engine tells it.

``docs/walkthrough.md`` tells the same numbers to people.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from compaction_app.engine.compaction.prepare import prepare_compaction
from compaction_app.engine.compaction.safeguard_source import (
    SafeguardTask,
    Source,
    share_decision,
)
from compaction_app.engine.decision import Decision
from compaction_app.engine.lines import lines_of
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28
from compaction_app.engine.simulation.audit import AuditedTurn, audit
from compaction_app.engine.simulation.inputs import (
    Asked,
    SimulationInputs,
    simulation_inputs,
    what_if,
)
from compaction_app.engine.simulation.usage import Scripted
from compaction_app.session_files import find_sessions
from tests.samples.walkthrough import FOLDER, SAMPLES

DENSE, SPARSE = SAMPLES
Events = list[tuple[int, str, Any, Any]]


@cache
def inputs_of(folder: str) -> SimulationInputs:
    (files,) = find_sessions([FOLDER / folder])
    sizes = SAMPLES[folder].sizes
    rule = Scripted(sizes.divisor, 0, sizes.tools, sizes.flush_tools)
    return simulation_inputs(files, Asked(OPENCLAW_2026_5_28), rule)


@cache
def audited(folder: str) -> list[AuditedTurn]:
    return audit(inputs_of(folder))


def decisions(folder: str, turn: int, stage: str, run: str = "turn") -> list[Decision]:
    stages = audited(folder)[turn - 1].turn.result.stages
    return [s.decision for s in stages if (s.stage, s.run) == (stage, run)]


def step(decision: Decision, name: str) -> Any:
    return next(s.value for s in decision.steps if s.name == name)


def total(folder: str, turn: int) -> Any:
    """What the store holds after a turn."""
    return audited(folder)[turn - 1].turn.result.state.index["totalTokens"]


def events(folder: str) -> Events:
    return [
        (done.turn.recorded.number, e.kind, e.tokens_before, e.tokens_after)
        for done in audited(folder)
        for e in done.turn.result.events
    ]


@pytest.mark.parametrize("folder", SAMPLES)
def test_the_files_are_what_the_script_writes(folder: str) -> None:
    written = SAMPLES[folder].files()

    for name, text in written.items():
        assert (FOLDER / folder / name).read_text(encoding="utf-8") == text, "run: python -m tests.samples"  # fmt: skip
    assert {p.name for p in (FOLDER / folder).iterdir()} == set(written)


@pytest.mark.parametrize("folder", SAMPLES)
def test_the_audit_agrees_with_the_recording_turn_by_turn(folder: str) -> None:
    assert [done.agrees for done in audited(folder)] == [True] * len(SAMPLES[folder].turns)


@pytest.mark.parametrize("folder", SAMPLES)
def test_the_what_if_under_its_own_settings_is_the_recording(folder: str) -> None:
    turns = what_if(inputs_of(folder))

    told = [(t.recorded.number, e.kind, e.tokens_before, e.tokens_after) for t in turns for e in t.result.events]  # fmt: skip
    assert told == events(folder)
    _, played = SAMPLES[folder].play()
    assert [t.result.state.index["totalTokens"] for t in turns] == [
        result.state.index["totalTokens"] for result in played
    ]


def test_the_lines_are_those_of_the_defaults() -> None:
    setup = inputs_of(DENSE).setup
    lines = {line.name: line.tokens for line in lines_of(setup.policy, setup.around).lines}

    assert setup.lines.window == 96_000
    assert (setup.lines.floor, setup.lines.soft) == (20_000, 4_000)
    assert (lines["flush"], lines["preflight"], lines["inner_threshold"]) == (
        72_000,
        72_000,
        76_000,
    )


def test_it_grows_to_30k_and_to_70k_and_nothing_fires() -> None:
    assert total(DENSE, 3) == 30_000
    assert total(DENSE, 10) == 70_000
    assert all(turn > 10 for turn, *_ in events(DENSE))
    (check,) = decisions(DENSE, 10, "pre_prompt_check")
    assert (check.outcome, check.inputs["estimatedPromptTokens"]) == ("fits", 60_272)


def test_a_projected_74k_flushes_before_anything_else() -> None:
    (preflight,) = decisions(DENSE, 11, "preflight")
    (flush,) = decisions(DENSE, 11, "flush")

    assert (preflight.outcome, preflight.reason) == ("skip", "below_threshold")
    assert preflight.inputs["totalTokens"] == 70_000
    assert (flush.outcome, flush.reason) == ("flush", "flush_due")
    assert step(flush, "projected") == 74_000 >= step(flush, "threshold") == 72_000
    formula = next(s.formula for s in flush.steps if s.name == "projected")
    assert formula == "70000 + lastOutput 1500 + prompt 2500"


def test_the_estimate_and_the_inner_threshold_leave_that_turn_alone() -> None:
    (check,) = decisions(DENSE, 11, "pre_prompt_check")
    *_, inner = decisions(DENSE, 11, "inner_trigger")

    assert (
        check.inputs["estimatedPromptTokens"] < step(check, "promptBudgetBeforeReserve") == 76_000
    )
    assert (inner.outcome, inner.reason) == ("none", "below_threshold")
    assert inner.inputs["contextTokens"] == 75_756 < step(inner, "innerThreshold") == 76_000
    assert total(DENSE, 11) == 74_956


def test_one_turn_later_preflight_compacts() -> None:
    (preflight,) = decisions(DENSE, 12, "preflight")
    (flush,) = decisions(DENSE, 12, "flush")

    assert (preflight.outcome, preflight.reason) == ("compact", "preflight_due")
    assert preflight.inputs["totalTokens"] == 74_956
    assert events(DENSE) == [
        (11, "flush", 74_000, 74_956),
        (12, "preflight_compaction", 74_956, 48_663),
    ]
    assert flush.outcome == "skip"


def test_the_next_prompt_is_the_kept_tail_the_summary_and_the_overhead() -> None:
    (cut,) = decisions(DENSE, 12, "compaction_cut")
    (compaction,) = decisions(DENSE, 12, "compaction")
    kept = step(cut, "collected")
    sizes = SAMPLES[DENSE].sizes
    (call,) = audited(DENSE)[11].turn.result.calls
    billed = (call.answer or {})["usage"]["input"]
    overhead = (sizes.system + sizes.tools) / sizes.divisor
    summary = step(compaction, "tokensAfter") - kept

    assert billed == 48_663  # about 48K
    assert overhead == 16_000
    assert kept == 20_599 and round(kept * 4 / 3, -3) == 27_000  # billed
    assert summary == 3_729 and round(summary * 4 / 3, -3) == 5_000
    assert abs(billed - overhead - (kept + summary) * 4 / 3 - 600 / 3) < 60


def test_the_store_knows_the_messages_only() -> None:
    (compaction,) = decisions(DENSE, 12, "compaction")

    assert step(compaction, "tokensAfter") == 24_328  # about 25K, without the overhead of 16K
    assert step(compaction, "tokensBefore") == 75_756


def test_the_share_of_the_history_is_57_600_and_what_is_new_is_within_it() -> None:
    """Checked in safeguard mode only; the defaults do not run it."""
    rules, done = OPENCLAW_2026_5_28, audited(DENSE)[11]
    path = inputs_of(DENSE).recording.entries[: done.start]
    preparation = prepare_compaction(path, 20_000, rules).preparation
    assert preparation is not None
    source = Source(preparation.messages, (), "preparation")
    task = SafeguardTask(preparation.messages, tokens_before=75_756)

    share = share_decision(source, task, 96_000, 0.5, rules)

    assert step(share, "limit") == 57_600
    assert step(share, "newContent") == 51_527
    assert (share.fired, share.reason) == (False, "within_share")


def test_at_four_characters_a_token_the_check_comes_first_at_70k() -> None:
    first, second = decisions(SPARSE, 11, "pre_prompt_check")

    assert total(SPARSE, 10) == 70_000
    assert (first.outcome, first.reason) == ("truncate_tool_results_only", "truncation_suffices")
    assert (
        first.inputs["estimatedPromptTokens"] == 76_478 > step(first, "promptBudgetBeforeReserve")
    )
    assert second.outcome == "fits"
    assert total(SPARSE, 11) == 69_475


def test_then_it_compacts_and_the_flush_never_runs() -> None:
    kinds = [(turn, kind) for turn, kind, *_ in events(SPARSE)]

    assert kinds == [
        (11, "truncate"),
        (11, "truncate"),
        (11, "truncate"),
        (14, "guard"),
        (14, "guard"),
        (14, "overflow_compaction"),
    ]
    (route, *_) = decisions(SPARSE, 14, "pre_prompt_check")
    assert (route.outcome, route.inputs["estimatedPromptTokens"]) == ("compact_only", 76_067)
    flushes = [d for turn in range(1, 16) for d in decisions(SPARSE, turn, "flush")]
    assert {d.fired for d in flushes} == {False}
    assert max(d.inputs["totalTokens"] or 0 for d in flushes) < 72_000


def test_the_page_tells_the_same_numbers() -> None:
    page = (FOLDER.parents[1] / "docs" / "walkthrough.md").read_text(encoding="utf-8")
    (check,) = decisions(DENSE, 10, "pre_prompt_check")
    (flush,) = decisions(DENSE, 11, "flush")
    (cut,) = decisions(DENSE, 12, "compaction_cut")
    (compaction,) = decisions(DENSE, 12, "compaction")
    routes = [decisions(SPARSE, turn, "pre_prompt_check")[0] for turn in (11, 14)]
    after = step(compaction, "tokensAfter")
    told = [
        check.inputs["estimatedPromptTokens"],
        step(flush, "projected"),
        total(DENSE, 11),
        total(DENSE, 12),
        step(cut, "collected"),
        after,
        after - step(cut, "collected"),
        step(compaction, "tokensBefore"),
        total(SPARSE, 11),
        *(route.inputs["estimatedPromptTokens"] for route in routes),
    ]

    assert [number for number in told if f"{number:,}" not in page] == []
    pictures = re.findall(r"\]\((img/[\w-]+\.png)\)", page)
    assert len(pictures) == 8
    assert all((FOLDER.parents[1] / "docs" / name).stat().st_size < 80_000 for name in pictures)
