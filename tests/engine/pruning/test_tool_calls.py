"""What counts as a tool call, and which result belongs to it."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.pruning.tool_calls import (
    REDACTED_ATTACHMENT,
    TOOL_CALLS_2026_3,
    TOOL_CALLS_2026_4_20,
    TOOL_CALLS_2026_5_28,
    allowed_names,
    missing_result,
    normal_result_name,
    result_id,
    result_ids,
    run_missing_text,
    sanitize_tool_calls,
    tool_calls,
    without_details,
)
from tests.engine.pruning.messages import answer, call, result, unchanged, user


def test_only_camel_case_blocks_with_an_id_are_calls() -> None:
    message = answer(call("A"), {"type": "tool_use", "id": "B"}, {"type": "toolUse", "id": ""}, "x")
    assert [found.id for found in tool_calls(message)] == ["A"]
    assert tool_calls({"role": "assistant", "content": "text"}) == tool_calls(None) == []


def test_ids_of_a_result_are_read_in_order_and_once() -> None:
    message = {"toolCallId": " a ", "toolUseId": "b", "tool_call_id": "a", "callId": "c"}
    assert result_ids(message, TOOL_CALLS_2026_5_28) == ["a", "b", "c"]
    assert result_id(message, TOOL_CALLS_2026_4_20) == " a "
    assert result_id({"call_id": "c"}, TOOL_CALLS_2026_4_20) is None


@pytest.mark.parametrize(
    ("name", "fallback", "expected"),
    [(" read ", "x", "read"), (" ", " exec ", "exec"), ("", None, "unknown"), (None, None, None)],
)
def test_a_result_s_name_is_trimmed_or_filled_in(
    name: str | None, fallback: str | None, expected: str | None
) -> None:
    message = {"role": "toolResult", **({} if name is None else {"toolName": name})}
    assert normal_result_name(message, fallback).get("toolName") == expected


def test_a_clean_name_and_other_roles_stay_the_same_object() -> None:
    for message in (result("x"), user(), {"role": "toolResult"}, None):
        assert normal_result_name(message) is message


def test_only_the_current_version_lets_the_missing_text_be_set() -> None:
    current = missing_result("a", None, "", 5, TOOL_CALLS_2026_5_28)
    earlier = missing_result("a", None, "", 5, TOOL_CALLS_2026_4_20)
    assert current["content"][0]["text"] == "" and earlier["content"][0]["text"] != ""
    assert current["toolName"] == "unknown" and current["timestamp"] == 5


def test_the_responses_apis_say_aborted() -> None:
    assert run_missing_text("openai-responses") == "aborted"
    assert run_missing_text("anthropic-messages") is run_missing_text(None) is None


def test_calls_no_provider_would_take_are_removed() -> None:
    bad: list[dict[str, Any]] = [
        {**call("A"), "arguments": None},
        {**call(" ")},
        call("A", "read name"),
        call("A", "a" * 65),
        {**call("A"), "name": 7},
        {"type": "tool_use", "id": "A", "name": "x"},
    ]
    text = {"type": "text", "text": "t"}
    before = unchanged(bad)
    (clean,) = sanitize_tool_calls([answer(text, *bad)], TOOL_CALLS_2026_5_28)
    assert clean["content"] == [text] and bad == before


def test_clean_messages_are_the_same_list() -> None:
    messages = [user(), answer(call("A", "ns:tool.x")), None, {"role": "assistant", "content": "t"}]
    assert sanitize_tool_calls(messages, TOOL_CALLS_2026_5_28) is messages


def test_an_answer_left_empty_is_dropped_and_an_empty_one_is_not() -> None:
    empty = {"role": "assistant", "content": []}
    allowed = allowed_names([" READ "])
    messages = [answer(call("A", "exec")), empty, answer(call("A", "Read"))]
    assert sanitize_tool_calls(messages, TOOL_CALLS_2026_5_28, allowed) == messages[1:]


def test_an_empty_allow_list_is_no_list() -> None:
    assert allowed_names(["  "]) is allowed_names(None) is None


def test_2026_3_looks_at_fewer_blocks_and_takes_fewer_names() -> None:
    odd = [answer({"type": "tool_use"}), answer(call("A", "ns:tool"))]
    assert sanitize_tool_calls(odd, TOOL_CALLS_2026_3) == odd[:1]


def test_2026_3_blanks_what_is_handed_to_a_sub_agent() -> None:
    spawn = {
        **call("A", " Sessions_Spawn"),
        "arguments": {"attachments": [{"name": "f", "content": "secret"}, "x"], "task": "t"},
    }
    (clean,) = sanitize_tool_calls([answer(spawn)], TOOL_CALLS_2026_3)
    arguments = clean["content"][0]["arguments"]
    assert arguments["attachments"][0] == {"name": "f", "content": REDACTED_ATTACHMENT}
    assert spawn["arguments"]["attachments"][0]["content"] == "secret"


def test_details_go_only_from_tool_results() -> None:
    messages = [result("x", details=None), {**user(), "details": 1}]
    assert without_details(messages) == [result("x"), messages[1]]
    assert without_details([result("x")]) == [result("x")]
