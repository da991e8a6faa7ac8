"""Calls that a recording pruned tell nothing about what entries weigh."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.calibration import LONGEST_DIP, weigh
from tests.engine.builders import Script, chat

OVERHEAD = 3_000
STEP = 600


def dipping(low: set[int], calls: int = 30) -> Script:
    """A steady session whose calls ``low`` were billed next to nothing."""
    script = Script()
    for number in range(calls):
        prompt = 10 if number in low else OVERHEAD + 100 + STEP * number
        script.user(400).answer(2_000, prompt, 500)
    return script


@settings(max_examples=30)
@given(st.sets(st.integers(6, 28), max_size=6))
def test_pruned_calls_leave_the_weights_as_they_are(low: set[int]) -> None:
    steady, dips = weigh(dipping(set()).grown()), weigh(dipping(low).grown())
    assert dips.calibration.density == pytest.approx(steady.calibration.density)
    assert np.allclose(dips.rows, steady.rows)


def test_a_prompt_that_fell_for_good_still_tells_what_entries_weigh() -> None:
    low = set(range(10, 10 + LONGEST_DIP + 5))
    found = weigh(dipping(low).grown())
    assert found.calibration.calls == 30


def test_a_dip_before_a_compaction_is_no_return() -> None:
    script = chat(10).compaction("e16")
    script.user(400).answer(2_000, 9_000, 500).user(400).answer(2_000, 9_600, 500)
    assert weigh(script.grown()).calibration.calls == 12
