"""What is said beside a setting that can hardly be what is wanted."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.effects import is_disabled
from compaction_app.engine.lines import lines_of
from compaction_app.engine.odd_settings import odd_settings
from compaction_app.engine.policy import Policy, with_changes

AROUND = Circumstances(provider="mock", model="m")


def odd(**changes: Any) -> dict[str, str]:
    policy = with_changes(Policy(), {"contextWindow": 96_000, **changes})
    return dict(odd_settings(policy, lines_of(policy, AROUND)))


@pytest.mark.parametrize(
    ("key", "silly", "sound"),
    [
        ("contextWindow", 3_999, 96_000),
        ("contextWindow", 7_999, 8_000),
        ("contextWindow", 10_000_001, 10_000_000),
        ("maxTokens", 96_000, 95_999),
        ("maxTokens", 255, 256),
        ("compaction.keepRecentTokens", 499, 500),
        ("contextLimits.toolResultMaxChars", 499, 500),
    ],
)
def test_a_silly_value_gets_a_word_and_a_sound_one_none(key: str, silly: int, sound: int) -> None:
    assert key in odd(**{key: silly})
    assert key not in odd(**{key: sound})


def test_without_a_reserve_the_answer_has_no_room() -> None:
    nothing = {"compaction.reserveTokens": 0, "compaction.reserveTokensFloor": 0}
    assert "compaction.reserveTokens" in odd(**nothing)
    assert "compaction.reserveTokens" not in odd()


def test_the_guard_says_whether_it_blocks_or_warns() -> None:
    assert "starts no run below 4,000" in odd(contextWindow=3_000)["contextWindow"]
    assert "warns below 8,000" in odd(contextWindow=5_000)["contextWindow"]


def test_a_word_locks_no_knob() -> None:
    notes = odd(contextWindow=10, maxTokens=20, **{"compaction.keepRecentTokens": 1})
    assert notes and not any(is_disabled(key, notes) for key in notes)


def test_defaults_are_not_odd() -> None:
    assert odd() == {}
