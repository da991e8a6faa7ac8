"""The what-if of a recorded session, held against recordings and against what must always hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compaction_app.engine.circumstances import PATHS, Circumstances
from compaction_app.engine.policy import Policy
from compaction_app.engine.replay import replay
from compaction_app.engine.replay_events import COMPACTIONS
from compaction_app.engine.rule_sets import RULE_SETS
from sessions_app.transcripts.columns import UNKNOWN
from sessions_app.transcripts.timeline import Timeline
from tests.engine.builders import (
    FLUSH_TEXT,
    Script,
    chat,
)
from tests.engine.policies import policies

HUGE = replace(Policy(), context_window=1_000_000)


def small(window: int = 32_000, **settings_: Any) -> Policy:
    return replace(Policy(), context_window=window, **settings_)


@settings(max_examples=50)
@given(st.integers(1, 40), st.integers(0, 5_000), st.sampled_from([0.7, 1.0, 1.37, 3.1]))
def test_a_session_without_events_is_its_own_what_if(
    turns: int, overhead: int, density: float
) -> None:
    grown = chat(turns, overhead, density).grown()
    done = replay(grown, HUGE, Circumstances())
    assert done.prompt.tolist() == grown.billed_prompt.tolist()
    assert done.total.tolist() == grown.billed_total.tolist()
    assert done.totals.tokens_sent == int(grown.billed_prompt.sum())
    assert done.totals.peak == grown.peak


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["turn", "call", "result", "flush", "injected", "compaction", "command"]),
        st.integers(0, 9_000),
    ),
    max_size=30,
)


def session(steps: list[tuple[str, int]], with_usage: bool = True) -> Timeline:
    """A session of any shape; usage grows by what was added."""
    script, prompt = Script(), 3_000
    for step, chars in steps:
        prompt += chars // 4
        usage = prompt if with_usage else None
        if step == "turn":
            script.user(chars).answer(200, usage)
        elif step == "call":
            script.answer(chars, usage)
        elif step == "result":
            script.result(chars).answer(100, usage)
        elif step == "flush":
            script.user(FLUSH_TEXT).answer(chars, usage)
        elif step == "injected":
            script.user(100).injected()
        elif step == "command":
            script.user("/compact")
        elif script.entries:
            prompt = 4_000
            script.compaction(f"e{len(script.entries) - 1}")
    return script.grown()


ANYWHERE = st.builds(
    Circumstances,
    path=st.sampled_from(PATHS),
    provider=st.sampled_from(["", "mock", "zai"]),
    model=st.sampled_from(["", "m"]),
    rules=st.sampled_from(list(RULE_SETS.values())),
)
WINDOWS = st.integers(1_000, 120_000)


@settings(max_examples=120, deadline=None)
@given(STEPS, st.booleans(), WINDOWS, policies(), ANYWHERE)
def test_what_holds_for_every_what_if(
    steps: list[tuple[str, int]],
    with_usage: bool,
    window: int,
    policy: Policy,
    around: Circumstances,
) -> None:
    grown = session(steps, with_usage)
    policy = replace(policy, context_window=window)
    done = replay(grown, policy, around)
    again = replay(grown, policy, around)
    assert done.events == again.events and done.totals == again.totals
    assert done.prompt.tolist() == again.prompt.tolist()

    sent = done.prompt[done.prompt != UNKNOWN]
    assert (sent >= 0).all()
    kinds = Counter(event.kind for event in done.events)
    blocked = [e.turn for e in done.events if e.reason == "context_overflow"]
    assert done.totals.calls == len(sent)
    assert done.totals.tokens_sent == int(sent.sum())
    assert done.totals.peak == max(done.total.tolist(), default=0) or not len(sent)
    assert done.totals.flushes == kinds["flush"]
    assert done.totals.compactions == sum(kinds[kind] for kind in COMPACTIONS)
    assert done.totals.flushed_before <= done.totals.compactions
    assert done.totals.blocked == len(blocked) == len(set(blocked))
    order = [(event.turn, event.call) for event in done.events]
    assert order == sorted(order)
    assert all(1 <= event.call <= max(grown.calls, 1) for event in done.events)
    if around.path == "cli":
        assert done.events == ()
    flushes = [e.turn for e in done.events if e.kind == "flush"]
    assert len(flushes) <= done.totals.compactions + 1, "one flush a cycle"


@settings(max_examples=60, deadline=None)
@given(
    st.integers(5, 60),
    st.integers(200, 8_000),
    st.integers(30_000, 120_000),
    st.integers(0, 60_000),
    st.sampled_from(["default", "safeguard"]),
)
def test_a_larger_window_never_adds_compactions_to_a_growing_session(
    turns: int, chars: int, window: int, more: int, mode: str
) -> None:
    # Where a window is so small that turns are blocked, or that no gate acts at all, a larger one may
    # well compact more often: a blocked turn compacts nothing.
    grown = chat(turns, chars=chars).grown()
    before, after = (
        replay(
            grown, small(size, keep_recent_tokens=2_000, compaction_mode=mode), Circumstances()
        ).totals
        for size in (window, window + more)
    )
    assume(not before.blocked)
    assert after.compactions <= before.compactions


def test_a_compaction_shortens_what_follows() -> None:
    policy = small(keep_recent_tokens=2_000, max_tokens=500)
    done = replay(chat(80).grown(), policy, Circumstances())
    assert done.totals.compactions > 1
    for event in done.events:
        if event.kind in COMPACTIONS:
            assert event.tokens_after is not None and event.tokens_after < event.tokens_before


def test_no_flush_no_gate_on_other_paths() -> None:
    grown = chat(80).grown()
    done = replay(grown, small(keep_recent_tokens=2_000), Circumstances(path="agent"))
    kinds = {event.kind for event in done.events}
    assert "flush" not in kinds and "preflight_compaction" not in kinds
    assert kinds & set(COMPACTIONS)


def test_in_a_turn_without_calls_nothing_is_judged_twice() -> None:
    script = chat(12, overhead=11_000, chars=400)
    for _ in range(5):
        script.user(10).injected()
    done = replay(script.grown(), small(memory_flush_enabled=False), Circumstances(path="local"))
    fired = [e.turn for e in done.events if e.kind == "threshold_compaction"]
    assert fired == sorted(set(fired)) and max(fired) <= 12


def test_events_of_a_blocked_turn_stand_at_the_call_that_comes_next() -> None:
    script = Script().user(40_000).answer(100, 14_000).user(20_000).injected()
    script.user(100).answer(100, 15_000).user(100).answer(100, 15_500)
    done = replay(script.grown(), small(), Circumstances())
    of_second = {event.call for event in done.events if event.turn == 2}
    assert of_second == {2}


def test_right_behind_a_compaction_there_is_none_and_the_turn_is_blocked() -> None:
    # One message larger than the budget: the first compaction keeps it, a second one has nothing new.
    script = Script().user(400).answer(400, 3_000).user(60_000).answer(400, 18_000)
    done = replay(script.grown(), small(), Circumstances())
    of_second = [e.kind for e in done.events if e.turn == 2 and e.kind in COMPACTIONS]
    assert of_second == ["overflow_compaction", "threshold_compaction"]
    assert done.totals.blocked == 1


def test_the_check_counts_as_its_version_does() -> None:
    cjk = Script().user("漢" * 8_000).answer(100, 9_000).user("漢" * 8_000).answer(100, 17_000)
    counts = {
        name: replay(cjk.grown(), small(), Circumstances(rules=rules, path="local")).totals.blocked
        for name, rules in RULE_SETS.items()
    }
    # By length alone 16,000 characters are 4,000 tokens; weighed by script they are 16,000.
    assert counts["openclaw-2026.5.28"] > 0
    assert counts["openclaw-2026.4.20"] == counts["openclaw-2026.3"] == 0


def test_large_results_are_cut_before_anything_is_compacted() -> None:
    script = Script().user(400).answer(100, 3_000)
    script.result(16_000).answer(100, 7_100).user(100).answer(100, 7_200)
    policy = small(tool_result_max_chars=2_000)
    done = replay(script.grown(), policy, Circumstances(path="local"))
    assert [e.kind for e in done.events if e.turn == 2][:2] == ["guard", "truncate"]
    cut = next(e for e in done.events if e.kind == "truncate")
    assert cut.tokens_after is not None and cut.tokens_after < cut.tokens_before


def test_what_is_stripped_is_counted_and_not_sent() -> None:
    script = Script().user().answer(prompt=3_000).user(FLUSH_TEXT).answer(prompt=3_300)
    script.user("/compact").compaction("e0").user().injected()
    done = replay(script.grown(), HUGE, Circumstances())
    assert done.stripped == {"compaction": 1, "flush": 2, "injected": 1, "compact_command": 1}
    assert done.prompt.tolist() == [3_000, UNKNOWN]
    assert done.totals.calls == 1


@pytest.mark.parametrize("script", [Script().user(), Script().add("label", label="x")])
def test_a_session_without_calls_has_no_totals(script: Script) -> None:
    done = replay(script.grown(), small(), Circumstances())
    assert (done.totals.calls, done.totals.tokens_sent, done.totals.peak) == (0, 0, 0)
