"""A pruning knob that is said to do nothing does nothing, and the others can do something."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.circumstances import PATHS, Circumstances
from compaction_app.engine.effects import is_disabled
from compaction_app.engine.policy import BY_KEY, SETTINGS, Policy, with_changes
from compaction_app.engine.pruning_effects import NEVER_LOCKED, pruning_notes
from compaction_app.engine.replay import replay
from compaction_app.engine.rule_sets import RULE_SETS
from sessions_app.transcripts.timeline import Timeline
from tests.engine.policies import values
from tests.engine.pruning.messages import IMAGE, answer, calls, result, user
from tests.engine.timelines import timed

KEYS = [s.key for s in SETTINGS if s.key.startswith("contextPruning.")]
HOUR = 3600
ANTHROPIC = Circumstances(provider="anthropic", model="claude")
ON = replace(
    Policy(), context_window=80_000, pruning_mode="cache-ttl", soft_trim_ratio=0.1,
    hard_clear_ratio=0.05, min_prunable_tool_chars=0,
)  # fmt: skip


def session(chars: int) -> Timeline:
    """Hourly turns with results of growing length, one of them an image."""
    turns: list[tuple[int, Any]] = []
    for turn in range(8):
        at = turn * HOUR + 1
        content = [{"type": "text", "text": "t" * chars * (turn + 1)}]
        if turn == 1:
            content.append(IMAGE)
        turns += [
            (at, user()),
            (at + 1, calls(f"c{turn}")),
            (at + 2, {**result("", f"c{turn}"), "content": content}),
            (at + 400, answer()),
        ]
    return timed(*turns)


SHORT, LONG = session(900), session(2_600)


def acts(grown: Timeline, policy: Policy, around: Circumstances) -> Any:
    done = replay(grown, policy, around)
    events = [(e.kind, e.call, e.tokens_before, e.tokens_after) for e in done.events]
    return done.prompt.tolist(), events, done.totals


@settings(max_examples=150, deadline=None)
@given(
    grown=st.sampled_from([SHORT, LONG]),
    chosen=st.lists(st.sampled_from(KEYS), unique=True, max_size=5),
    ttl=st.sampled_from(["5m", "0s", "soon", "2h"]),
    path=st.sampled_from(PATHS),
    provider=st.sampled_from(["anthropic", "openai", ""]),
    rules=st.sampled_from(list(RULE_SETS.values())),
    data=st.data(),
)
def test_a_setting_said_to_do_nothing_does_nothing(
    grown: Timeline, chosen: list[str], ttl: str, path: Any, provider: str, rules: Any, data: Any
) -> None:
    drawn = {key: data.draw(values(BY_KEY[key])) for key in chosen}
    policy = with_changes(ON, {**drawn, "contextPruning.ttl": ttl})
    around = Circumstances(provider=provider, model="m", path=path, rules=rules)
    notes = pruning_notes(policy, around)
    locked = [key for key in notes if is_disabled(key, notes)]
    if locked:
        key = data.draw(st.sampled_from(locked))
        moved = with_changes(policy, {key: data.draw(values(BY_KEY[key]))})
        off = replay(grown, policy, around).totals.pruned is None
        if not (off and key == "contextPruning.mode"):
            left, right = acts(grown, moved, around), acts(grown, policy, around)
            assert left[:2] == right[:2]


MOVES: list[tuple[str, Any, Any]] = [
    ("contextPruning.mode", "off", "cache-ttl"),
    ("contextPruning.ttl", "2h", "5m"),
    ("contextPruning.keepLastAssistants", 0, 12),
    ("contextPruning.softTrimRatio", 0, 1),
    ("contextPruning.hardClearRatio", 0, 1),
    ("contextPruning.minPrunableToolChars", 0, 500_000),
    ("contextPruning.softTrim.maxChars", 0, 50_000),
    ("contextPruning.softTrim.headChars", 0, 2_000),
    ("contextPruning.softTrim.tailChars", 0, 2_000),
    ("contextPruning.hardClear.enabled", True, False),
    ("contextPruning.tools.allow", ("read",), ("exec",)),
    ("contextPruning.tools.deny", ("read",), ("exec",)),
]


@pytest.mark.parametrize(("key", "low", "high"), MOVES)
def test_every_knob_does_something(key: str, low: Any, high: Any) -> None:
    assert key not in pruning_notes(ON, ANTHROPIC)
    ends = [acts(LONG, with_changes(ON, {key: end}), ANTHROPIC) for end in (low, high)]
    assert ends[0] != ends[1]


def test_with_the_mode_off_only_the_mode_is_free() -> None:
    notes = pruning_notes(replace(ON, pruning_mode="off"), ANTHROPIC)
    assert set(KEYS) - set(notes) == {"contextPruning.mode"}
    assert notes["contextPruning.ttl"] == "No effect: contextPruning.mode is off."


def test_a_provider_that_is_not_eligible_is_named() -> None:
    notes = pruning_notes(ON, Circumstances(provider="openai", model="gpt"))
    assert set(notes) == set(KEYS)
    assert "provider openai with model gpt is not one" in notes["contextPruning.mode"]
    assert notes["contextPruning.ttl"] == "No effect: provider openai is not eligible."
    assert "the provider is unknown" in pruning_notes(ON, Circumstances())["contextPruning.mode"]


def test_a_ttl_of_0_switches_everything_else_off() -> None:
    notes = pruning_notes(replace(ON, pruning_ttl="0s"), ANTHROPIC)
    assert notes["contextPruning.softTrimRatio"] == "No effect: a ttl of 0 switches pruning off."
    assert not is_disabled("contextPruning.ttl", notes)


def test_what_is_no_duration_is_told_and_the_default_holds() -> None:
    notes = pruning_notes(replace(ON, pruning_ttl="soon"), ANTHROPIC)
    assert set(notes) == {"contextPruning.ttl"}
    assert "5m holds" in notes["contextPruning.ttl"]
    assert acts(LONG, replace(ON, pruning_ttl="soon"), ANTHROPIC) == acts(LONG, ON, ANTHROPIC)


def test_without_hard_clear_its_settings_are_idle() -> None:
    notes = pruning_notes(replace(ON, hard_clear_enabled=False), ANTHROPIC)
    assert {key.rpartition(".")[2] for key in notes} == {
        "hardClearRatio", "minPrunableToolChars", "placeholder",
    }  # fmt: skip


def test_the_knobs_that_open_the_others_are_never_locked() -> None:
    assert set(NEVER_LOCKED) == {"contextPruning.mode", "contextPruning.ttl"}
