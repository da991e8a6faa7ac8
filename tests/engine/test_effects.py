"""A knob that is said to do nothing does nothing, and the others can do something."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compaction_app.engine.circumstances import PATHS, Circumstances
from compaction_app.engine.effects import NO_EFFECT, ineffective, is_disabled, unread
from compaction_app.engine.policy import BY_KEY, SETTINGS, Policy, with_changes
from compaction_app.engine.replay import Replay, replay
from compaction_app.engine.rule_sets import RULE_SETS
from sessions_app.transcripts.timeline import Timeline
from tests.engine.builders import Script, chat
from tests.engine.policies import policies, values

KNOBS = [s for s in SETTINGS if s.has_slider and s.group != "Pruning"] + [
    BY_KEY[key] for key in ("compaction.memoryFlush.enabled", "compaction.mode")
]
PLAIN = chat(40).grown()
WITH_RESULTS = (
    Script().user().answer(100, 3_000).result(16_000).answer(100, 7_100).user().answer(100, 7_300)
).grown()
COMPACTED = chat(12).compaction("e10").user().answer(prompt=6_000).user().answer().grown()
SMALL = replace(Policy(), context_window=32_000)
AROUND = st.builds(
    Circumstances,
    path=st.sampled_from(PATHS),
    provider=st.sampled_from(["mock", "zai"]),
    model=st.just("m"),
    rules=st.sampled_from(list(RULE_SETS.values())),
)


def acts(done: Replay) -> Any:
    """All that a what-if shows: its curve, its events, its totals, the lines that act."""
    events = [(e.kind, e.call, e.tokens_before, e.tokens_after, e.threshold) for e in done.events]
    lines = [(line.name, line.tokens) for line in done.lines.lines if line.active]
    return done.prompt.tolist(), events, done.totals, lines


def reasons(policy: Policy, around: Circumstances, grown: Timeline = PLAIN) -> dict[str, str]:
    done = replay(grown, policy, around)
    return dict(ineffective(policy, done.lines, done.summaries))


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([PLAIN, WITH_RESULTS, COMPACTED]),
    policies(),
    st.integers(10_000, 60_000),
    AROUND,
    st.data(),
)
def test_a_setting_said_to_do_nothing_does_nothing(
    grown: Timeline, policy: Policy, window: int, around: Circumstances, data: st.DataObject
) -> None:
    policy = replace(policy, context_window=window)
    before = replay(grown, policy, around)
    found = {**ineffective(policy, before.lines, before.summaries), **unread(around.rules)}
    locked = [key for key in found if is_disabled(key, found)]
    assume(locked)  # where every setting acts there is nothing to hold still
    key = data.draw(st.sampled_from(locked))
    moved = with_changes(policy, {key: data.draw(values(BY_KEY[key]))})
    assert acts(replay(grown, moved, around)) == acts(before)


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 9_000), st.integers(0, 9_000), st.integers(0, 9_000), st.booleans(),
    st.sampled_from(["chat", "agent"]),
)  # fmt: skip
def test_in_safeguard_mode_a_locked_reserve_bounds_no_summary(
    reserve: int, floor: int, moved: int, moves_floor: bool, path: Any
) -> None:
    policy = replace(
        SMALL, compaction_mode="safeguard", reserve_tokens=reserve, reserve_tokens_floor=floor,
        keep_recent_tokens=2_000,
    )  # fmt: skip
    around = Circumstances(path=path)
    key = "compaction.reserveTokensFloor" if moves_floor else "compaction.reserveTokens"
    if is_disabled(key, reasons(policy, around)):
        other = with_changes(policy, {key: moved})
        assert acts(replay(PLAIN, other, around)) == acts(replay(PLAIN, policy, around))


@pytest.mark.parametrize("knob", KNOBS, ids=lambda s: s.key)
def test_every_knob_does_something_somewhere_or_says_that_it_never_does(knob: Any) -> None:
    ends: list[Any] = [knob.low, knob.high]
    if knob.kind in ("bool", "choice"):
        ends = [True, False] if knob.kind == "bool" else list(knob.choices)
    changed = False
    for grown in (PLAIN, WITH_RESULTS):
        for start in ({}, {"compaction.keepRecentTokens": 2_000, "maxTokens": 800}):
            policy = with_changes(replace(Policy(), context_window=32_000), start)
            seen = {
                repr(acts(replay(grown, with_changes(policy, {knob.key: end}), Circumstances())))
                for end in [*ends, getattr(policy, knob.name)]
            }
            changed |= len(seen) > 1
    policy = replace(Policy(), context_window=32_000)
    if not changed:
        assert reasons(policy, Circumstances())[knob.key]
    else:
        assert not is_disabled(knob.key, reasons(policy, Circumstances()))


def test_on_paths_without_gates_the_flush_knobs_say_so() -> None:
    found = reasons(SMALL, Circumstances(path="agent"))
    for key in ("softThresholdTokens", "enabled"):
        assert "only the chat path" in found[f"compaction.memoryFlush.{key}"]
    off = reasons(replace(SMALL, memory_flush_enabled=False), Circumstances(path="agent"))
    assert "only the chat path" in off["compaction.memoryFlush.enabled"]


def test_the_switch_of_a_flush_that_is_off_can_be_used() -> None:
    found = reasons(replace(SMALL, memory_flush_enabled=False), Circumstances())
    assert "compaction.memoryFlush.enabled" not in found
    # Preflight is measured from the same line, so the soft threshold still matters.
    assert "compaction.memoryFlush.softThresholdTokens" not in found


def test_a_reserve_below_the_floor_is_told_and_can_be_moved() -> None:
    found = reasons(SMALL, Circumstances())
    assert found["compaction.reserveTokens"] == "Below the floor: 20,000 is reserved."
    assert not is_disabled("compaction.reserveTokens", found)
    above = reasons(replace(SMALL, reserve_tokens=22_000), Circumstances())
    assert "compaction.reserveTokens" not in above


def test_in_safeguard_mode_the_reserve_is_idle_unless_it_bounds_summaries() -> None:
    safeguard = replace(SMALL, compaction_mode="safeguard")
    assert is_disabled("compaction.reserveTokens", reasons(safeguard, Circumstances()))
    tiny = replace(safeguard, reserve_tokens=1_000, reserve_tokens_floor=0)
    found = reasons(tiny, Circumstances())
    assert found["compaction.reserveTokens"].startswith("Only bounds the summaries")
    assert not is_disabled("compaction.reserveTokens", found)
    assert is_disabled("compaction.reserveTokens", reasons(tiny, Circumstances(), COMPACTED))


def test_recorded_summaries_leave_max_tokens_without_effect() -> None:
    assert is_disabled("maxTokens", reasons(SMALL, Circumstances(), COMPACTED))
    assert "maxTokens" not in reasons(SMALL, Circumstances())


def test_a_command_line_backend_leaves_every_line_idle() -> None:
    found = reasons(SMALL, Circumstances(path="cli"))
    for key in ("compaction.reserveTokens", "compaction.keepRecentTokens", "compaction.mode"):
        assert found[key] == NO_EFFECT + "a command line backend keeps its own context."


def test_history_share_says_what_it_changes() -> None:
    assert is_disabled("compaction.maxHistoryShare", reasons(SMALL, Circumstances()))
    found = reasons(replace(SMALL, compaction_mode="safeguard"), Circumstances())
    assert "what a summary is made of" in found["compaction.maxHistoryShare"]
