"""The prompt of a summary (spec compaction 2)."""

from __future__ import annotations

from compaction_app.engine.compaction.prompt import serialise_conversation, summary_prompt
from compaction_app.engine.compaction.requests import ModelCall
from tests.engine.compaction.driving import assistant, result, user


def test_each_kind_of_content_has_its_label() -> None:
    thinking = {
        "role": "assistant",
        "content": [
            {"type": "toolCall", "id": "1", "name": "read", "arguments": {"path": "/a", "n": 2}},
            {"type": "text", "text": "said"},
            {"type": "thinking", "thinking": "thought"},
        ],
    }
    assert serialise_conversation([user("hi"), thinking, result("1", "ok")]) == (
        "[User]: hi\n\n[Assistant thinking]: thought\n\n[Assistant]: said\n\n"
        '[Assistant tool calls]: read(path="/a", n=2)\n\n[Tool result]: ok'
    )


def test_a_long_result_is_cut_and_an_empty_message_left_out() -> None:
    text = serialise_conversation([user(""), result("1", "x" * 2005)])
    assert text == f"[Tool result]: {'x' * 2000}\n\n[... 5 more characters truncated]"


def test_the_summary_so_far_makes_it_an_update() -> None:
    first = summary_prompt(ModelCall([user("hi")], 1000))
    later = summary_prompt(ModelCall([user("hi")], 1000, "old", "focus"))
    assert (first.kind, later.kind) == ("initial", "update")
    assert later.before.endswith("<previous-summary>\nold\n</previous-summary>\n\n")
    assert later.text.endswith("\n\nAdditional focus: focus")


def test_a_summary_may_fill_a_share_of_the_reserve_and_no_more_than_the_model_writes() -> None:
    assert ModelCall([], 1001).max_output(None) == 800
    assert ModelCall([], 1001, turn_prefix=True).max_output(0) == 500
    assert ModelCall([assistant()], 1001).max_output(300) == 300
