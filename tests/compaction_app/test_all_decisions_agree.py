"""Every decision of a recorded run or real transcript, made again from its row: the same to the byte.

Here for some that are short; ``tests.bench decisions`` does it for all there are.
"""

from __future__ import annotations

import pytest

from compaction_app import replays
from tests.compaction_app.agreeing import TRANSCRIPTS, of_run, of_transcript

pytestmark = pytest.mark.django_db
SHORTEST = min(TRANSCRIPTS, key=lambda path: path.stat().st_size)


@pytest.mark.parametrize("name", ["2026.9.6/smoke", "manual-compact", "subagent"])
def test_of_a_recorded_run(name: str) -> None:
    found = of_run(name)

    assert set(found) == {replays.AGREES}
    assert found.total() > 10


def test_of_a_real_transcript() -> None:
    found = of_transcript(SHORTEST)

    assert set(found) == {replays.AGREES}
