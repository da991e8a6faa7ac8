"""One turn on real messages: its stages, what they change, and what reaches the model."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.pruning.session_rewrite import active_branch
from compaction_app.engine.recovery_limits import OVERFLOW_TEXT
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.engine.turn.requests import ModelAnswer
from compaction_app.engine.turn.state import SessionState, line_bytes
from compaction_app.engine.turn.turn import run_manual_compaction, run_turn
from tests.engine.turn.playing import (
    answer,
    calling,
    play,
    prompt,
    result,
    scripted,
    setup_of,
    turn,
)


def kinds(done):
    return [event.kind for event in done.events]


def roles(state):
    return [e["message"]["role"] for e in state.entries if e["type"] == "message"]


def test_a_quiet_turn_records_every_stage_that_did_not_fire():
    done = turn(setup_of(), SessionState(), "Hello", answer(sent=3000, said=20))
    assert [stage.stage for stage in done.stages] == [
        "preflight", "flush", "pre_prompt_check", "cache_ttl_pruning", "soft_guard", "inner_trigger",
        "cache_touch",
    ]  # fmt: skip
    assert not any(stage.decision.fired for stage in done.stages)
    assert done.events == ()
    assert (done.outcome, roles(done.state)) == ("answered", ["user", "assistant"])
    assert done.state.index["totalTokens"] == 3000


def test_the_call_holds_the_prompt_as_it_is_sent_and_the_session_as_it_is_typed():
    setup = setup_of(system_chars=400)
    asked = prompt("Hello", sent="[12:00] Hello")
    done = play(run_turn(setup, SessionState(), asked), scripted([answer()]))
    (call,) = done.calls
    assert [m["content"] for m in call.context.messages] == ["[12:00] Hello"]
    assert call.context.system_chars == 400
    assert done.state.entries[0]["message"]["content"] == "Hello"


@pytest.mark.parametrize("path", ["agent", "local"])
def test_without_the_reply_pipeline_nothing_is_checked_before_the_run(path):
    state = SessionState(index={"totalTokens": 30_000, "totalTokensFresh": True})
    done = turn(setup_of(path=path), state, "Hello", answer(sent=9000))
    assert done.events == ()
    assert "compactionCount" not in done.state.index


def long_session(setup, turns=12, chars=400, sent=1000):
    state = SessionState()
    for number in range(turns):
        reply = answer("y" * chars, sent=sent * (number + 1), said=chars // 4)
        state = turn(setup, state, f"{number} " + "x" * chars, reply).state
    return state


def test_a_total_on_the_line_compacts_first_and_counts_it():
    setup = setup_of(compaction__keepRecentTokens=500, compaction__memoryFlush__enabled=False)
    state = long_session(setup, turns=8)
    done = turn(setup, state, "Next", answer(sent=2500))
    assert kinds(done) == ["preflight_compaction"]
    (event,) = done.events
    assert (event.tokens_before, event.threshold, event.reason) == (8000, 8000, "compacted")
    assert done.state.index["compactionCount"] == 1
    assert [e["type"] for e in done.state.entries].count("compaction") == 1
    assert done.calls[0].context.messages[0]["content"][0]["text"].count("A summary.") == 1


def test_a_flush_runs_as_a_turn_of_its_own_before_the_users():
    setup = setup_of()
    state = long_session(setup, turns=7)
    flushed = answer("NO_REPLY", sent=7100)
    done = turn(setup, state, "x" * 4000, flushed, answer(sent=8200))
    assert kinds(done) == ["flush"]
    assert [call.run for call in done.calls] == ["flush", "turn"]
    assert done.state.index["memoryFlushCompactionCount"] == 0
    sent = done.calls[1].context.messages
    assert not any("NO_REPLY" in str(message) for message in sent)


def test_a_session_that_no_compaction_shortens_ends_in_the_gateways_reply():
    setup = setup_of(system_chars=60_000)
    done = turn(setup, SessionState(), "Hello", answer())
    assert done.outcome == "blocked"
    assert kinds(done)[-1] == "guard"
    assert done.calls == ()
    assert done.state.entries[-1]["message"]["provider"] == "openclaw"
    assert done.reply in done.state.entries[-1]["message"]["content"][0]["text"]


def test_a_flush_that_cannot_be_sent_ends_its_turn_with_the_overflow():
    setup = setup_of(system_chars=60_000)
    state = SessionState(index={"totalTokens": 7990, "totalTokensFresh": True})
    done = turn(setup, state, "x" * 400, answer())
    assert kinds(done)[0] == "flush"
    assert (done.outcome, done.reply) == ("blocked", OVERFLOW_TEXT)
    assert roles(done.state) == ["user", "assistant"]


def test_results_in_the_way_are_cut_for_good_and_the_prompt_is_tried_again():
    setup = setup_of(window=40_000, contextLimits__toolResultMaxChars=16_000)
    state = SessionState()
    for number in range(2):
        call = ModelAnswer(calling(f"c{number}"), (result("r" * 15_000, f"c{number}"),))
        state = turn(setup, state, f"Read {number}", call, answer(sent=6000)).state
    done = turn(setup, state, "x" * 9000, answer(sent=9000))
    assert kinds(done) == ["truncate", "truncate", "truncate"]
    assert [event.reason for event in done.events] == [
        "truncate_tool_results_only", "tool_results_truncated", "stored_results_shorter",
    ]  # fmt: skip
    assert done.outcome == "answered"
    assert len(done.state.entries) > len(state.entries) + 2


def test_a_result_over_the_cap_is_stored_shorter():
    setup = setup_of(contextLimits__toolResultMaxChars=4000)
    call = ModelAnswer(calling(), (result("r" * 9000),))
    done = turn(setup, SessionState(), "Read", call, answer())
    stored = done.state.entries[2]["message"]["content"][0]["text"]
    assert len(stored) == 4000


def test_an_overflow_of_the_provider_is_compacted_away_and_answered():
    setup = setup_of(window=128_000, compaction__keepRecentTokens=200)
    state = long_session(setup, turns=6)
    refused = answer(
        "", stopReason="error", errorMessage="400 prompt is too long: 20388 tokens > 20000 maximum"
    )
    done = turn(setup, state, "Next", refused, answer(sent=1500))
    assert kinds(done) == ["overflow_compaction"]
    assert done.state.index["totalTokens"] == 1500
    assert done.state.index["compactionCount"] == 1


def test_nobody_answering_leaves_the_prompt_and_the_store_alone():
    done = turn(setup_of(), SessionState(), "Hello")
    assert (done.outcome, roles(done.state), dict(done.state.index)) == ("unanswered", ["user"], {})


def test_a_typed_compact_is_stored_first_and_told_at_the_next_prompt():
    setup = setup_of(window=64_000, compaction__keepRecentTokens=300)
    state = long_session(setup, turns=4)
    done = play(run_manual_compaction(setup, state, prompt("/compact"), None), scripted([]))
    assert (done.outcome, kinds(done)) == ("compacted", ["manual_compaction"])
    assert [e["type"] for e in done.state.entries[-2:]] == ["message", "compaction"]
    after = turn(setup, done.state, "Next", answer(sent=900))
    told = after.calls[0].context.messages[-2]
    assert "Compacted (" in told["content"][0]["text"]
    assert after.state.queued == ()


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
@settings(max_examples=8, deadline=None)
@given(
    window=st.integers(4_000, 200_000),
    sizes=st.lists(st.tuples(st.integers(0, 9_000), st.integers(0, 60_000)), max_size=5),
    path=st.sampled_from(["chat", "agent", "local", "cli"]),
)
def test_whatever_comes_turns_end_and_files_only_grow(rules, window, sizes, path):
    setup = setup_of(window=window, path=path, rules=rules, compaction__keepRecentTokens=400)
    state = SessionState(header_bytes=100)
    for asked, sent in sizes:
        before = deepcopy(state)
        done = turn(setup, state, "x" * asked, answer("y" * 400, sent=sent, said=100), answer())
        assert state == before
        assert done.state.entries[: len(state.entries)] == state.entries
        state = done.state
        assert state.branch == tuple(active_branch(state.entries))
        assert state.entry_bytes == sum(map(line_bytes, state.entries))
        assert all(stage.decision.rule_set == rules.id for stage in done.stages)
