"""How sure a what-if is where the transcript does not hold its inputs."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from compaction_app.engine.calibration import Calibration, weigh
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.margin import margin_of
from compaction_app.engine.policy import Policy
from compaction_app.engine.replay import Replay, replay
from compaction_app.engine.summary_sizes import SummarySizes
from sessions_app.transcripts.timeline import Timeline
from tests.engine.builders import Script, chat

SIZES = SummarySizes("chosen", (), lambda: 1_000)
KNOWN = Calibration(1.5, 1.4, 1.7, 9_000, 20, enough=True, overhead_spread=40.5)
FEW = Calibration(1, 1, 1, 9_000, 3, enough=False)


def done(grown: Timeline, window: int, system: int | None = None) -> Replay:
    policy = replace(Policy(), context_window=window, keep_recent_tokens=2_000)
    return replay(grown, policy, Circumstances(), system)


def test_a_prompt_is_off_by_what_the_overhead_and_the_summary_are() -> None:
    margin = margin_of(KNOWN, SIZES, 1, knows_system=False)
    assert margin.prompt == math.ceil(40.5 + 0.2 * 1_000)
    assert margin.check == math.ceil(40.5 * 1.2)


def test_a_report_of_the_system_prompt_makes_the_check_sure() -> None:
    assert margin_of(KNOWN, SIZES, 1, knows_system=True).check == 0


def test_too_few_bills_say_nothing() -> None:
    margin = margin_of(FEW, SIZES, 1, knows_system=False)
    assert margin.prompt is margin.check is None


def test_while_nothing_is_compacted_prompts_are_the_recorded_ones() -> None:
    assert margin_of(FEW, SIZES, 0, knows_system=False).prompt == 0
    assert done(chat(20).grown(), 1_000_000).margin.prompt == 0


def test_the_overhead_is_as_sure_as_the_density_of_what_came_before_it() -> None:
    script, prompt = Script(), 3_000
    for number in range(9):  # the density is 1 and 2 in turn
        script.user(400).answer(400, prompt + 100)
        prompt += 200 * (1 + number % 2)
    found = weigh(script.grown()).calibration
    assert found.density_spread == pytest.approx(0.5)
    assert found.overhead_spread == pytest.approx(0.5 * 100), "of the first question"


def test_bills_in_step_leave_no_margin() -> None:
    made = done(chat(60).grown(), 32_000, system=3_000)
    assert made.cuts and made.margin.prompt == 0
