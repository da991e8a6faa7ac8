"""What an entry weighs: density and overhead found again in sessions made with known ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.calibration import Calibration, weigh
from tests.engine.builders import FLUSH_TEXT, Script, chat

NONE = Calibration(1, 1, 1, 0, 0, enough=False)


@settings(max_examples=60)
@given(
    st.integers(5, 40), st.integers(0, 20_000), st.floats(0.6, 4), st.integers(400, 8_000),
)  # fmt: skip
def test_density_and_overhead_are_found_again(
    turns: int, overhead: int, density: float, chars: int
) -> None:
    found = weigh(chat(turns, overhead, density, chars).grown()).calibration
    assert found.enough and found.calls == turns
    assert found.density == pytest.approx(density, abs=0.02)
    assert found.low <= found.density <= found.high
    assert found.overhead == pytest.approx(overhead, abs=5)


@given(st.integers(1, 4), st.floats(0.6, 4))
def test_below_five_billed_calls_there_is_not_enough(turns: int, density: float) -> None:
    found = weigh(chat(turns, density=density).grown()).calibration
    assert not found.enough
    assert (found.density, found.low, found.high, found.calls) == (1, 1, 1, turns)


def test_steps_of_a_few_tokens_say_nothing() -> None:
    assert not weigh(chat(20, chars=8, user_chars=4).grown()).calibration.enough


def test_without_usage_an_entry_weighs_its_estimate() -> None:
    script = Script().user(400).answer(400).result(800)
    found = weigh(script.grown())
    assert found.calibration == NONE
    assert found.rows.tolist() == [100, 100, 200]


def test_an_empty_session_weighs_nothing() -> None:
    found = weigh(Script().add("label", label="x").grown())
    assert found.calibration == NONE and found.rows.tolist() == [0]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 4_000), st.integers(0, 3_000)), min_size=2, max_size=30))
def test_growth_between_two_calls_is_shared_out_among_the_entries_between(
    steps: list[tuple[int, int]],
) -> None:
    script, prompt = Script(), 5_000
    for chars, more in steps:
        prompt += more
        script.user(chars).answer(chars, prompt)
    grown = script.grown()
    found = weigh(grown)
    sums = np.concatenate(([0.0], np.cumsum(found.rows)))
    sent = sums[grown.place] + found.calibration.overhead
    assert np.round(sent).tolist() == grown.billed_prompt.tolist()


def test_a_compaction_weighs_nothing_and_no_step_leads_across_it() -> None:
    script = chat(8)
    script.compaction("e10")
    for number in range(8):
        script.user(400).answer(2_000, 2_000 + 600 * number, 500)
    found = weigh(script.grown())
    assert found.rows[16] == 0
    assert found.calibration.density == pytest.approx(1, abs=0.01)
    assert found.calibration.overhead == 3_000


def test_behind_a_summary_that_nobody_billed_the_overhead_is_unknown() -> None:
    script = Script().user().compaction("e0")
    for number in range(8):
        script.user(400).answer(2_000, 9_000 + 600 * number, 500)
    assert weigh(script.grown()).calibration.overhead == 0


def test_calls_of_flush_turns_tell_nothing() -> None:
    plain, flushed = chat(10), chat(10)
    flushed.user(FLUSH_TEXT).answer(40, prompt=50_000)
    found = weigh(flushed.grown()).calibration
    assert found == weigh(plain.grown()).calibration


def test_a_first_call_smaller_than_its_messages_leaves_no_overhead() -> None:
    script = Script().user(4_000).answer(400, 600).user(400).answer(400, 800)
    found = weigh(script.grown())
    assert found.calibration.overhead == 0
    assert found.rows[0] == 600
