"""What an attempt takes over from the stored history."""

from __future__ import annotations

from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28
from compaction_app.engine.turn.history import attempt_history
from tests.engine.turn.playing import answer, calling, result


def user(text):
    return {"role": "user", "content": text}


def texts(messages):
    return [
        m["content"] if isinstance(m["content"], str) else [b.get("text") for b in m["content"]]
        for m in messages
    ]


def history(*messages):
    return attempt_history(messages, OPENCLAW_2026_5_28, 0)


def test_silent_answers_and_the_gateways_own_are_left_out():
    own = answer("Context overflow", provider="openclaw", model="gateway-injected")
    kept = history(user("a"), answer("NO_REPLY"), user("b"), own)
    assert texts(kept) == [["a", "b"]]


def test_messages_of_one_side_in_a_row_become_one():
    kept = history(user("a"), user("b"), answer("c"), answer("d"))
    assert texts(kept) == [["a", "b"], ["c", "d"]]


def test_a_call_and_its_result_stay_between_answers():
    kept = history(user("a"), calling(), result("r"), answer("done"))
    assert [m["role"] for m in kept] == ["user", "assistant", "toolResult", "assistant"]


def test_a_call_without_a_result_gets_one():
    kept = history(user("a"), calling(), user("b"))
    assert [m["role"] for m in kept] == ["user", "assistant", "toolResult", "user"]
