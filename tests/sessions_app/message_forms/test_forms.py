"""Messages in the forms of agents come back as they were; bad ones are refused by their place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.message_forms import BadForm, from_stored, stored_usage, to_stored
from tests.sessions_app.message_forms.strategies import anthropic_histories, chat_messages

Json = dict[str, Any]


def back(form: Any, messages: list[Json]) -> list[Json]:
    stored = [made for message in messages for made in to_stored(form, message)]
    return from_stored(form, stored)


@given(st.lists(chat_messages, max_size=4))
def test_a_chat_comes_back_as_it_was(messages: list[Json]) -> None:
    assert back("openai", messages) == messages


@given(anthropic_histories)
def test_an_anthropic_history_comes_back_as_it_was(messages: list[Json]) -> None:
    assert back("anthropic", messages) == messages


@given(anthropic_histories)
def test_what_is_stored_is_what_a_session_knows(messages: list[Json]) -> None:
    for message in messages:
        for stored in to_stored("anthropic", message):
            assert stored["role"] in ("user", "assistant", "toolResult")
            blocks = stored["content"]
            assert isinstance(blocks, str | list)
            kinds = {b["type"] for b in blocks if not isinstance(b, str)}
            assert kinds <= {"text", "thinking", "toolCall", "image", "document"}


@given(anthropic_histories)
def test_calls_results_and_texts_survive_the_way_through_the_other_form(
    messages: list[Json],
) -> None:
    stored = [made for message in messages for made in to_stored("anthropic", message)]
    through = [made for m in from_stored("openai", stored) for made in to_stored("openai", m)]

    def calls(history: list[Json]) -> list[Any]:
        return [
            (b["id"], b["name"], b["arguments"])
            for m in history
            if m["role"] == "assistant"
            for b in m["content"]
            if b["type"] == "toolCall"
        ]

    def results(history: list[Json]) -> list[Any]:
        return [m["toolCallId"] for m in history if m["role"] == "toolResult"]

    assert calls(through) == calls(stored) and results(through) == results(stored)


def test_an_openclaw_message_is_left_alone() -> None:
    message = {"role": "custom", "customType": "x", "content": "y"}
    assert to_stored("openclaw", message) == [message] == from_stored("openclaw", [message])


@pytest.mark.parametrize(
    ("form", "role"), [("openai", "system"), ("openai", "developer"), ("anthropic", "system")]
)
def test_a_system_prompt_is_not_stored(form: Any, role: str) -> None:
    assert to_stored(form, {"role": role, "content": "be kind"}) == []


def test_a_message_that_answers_two_tools_becomes_two_results_and_what_is_said() -> None:
    content = [
        {"type": "tool_result", "tool_use_id": "a", "content": "1"},
        {"type": "tool_result", "tool_use_id": "b", "is_error": True},
        {"type": "text", "text": "go on"},
    ]
    stored = to_stored("anthropic", {"role": "user", "content": content})
    assert [(m["role"], m.get("isError")) for m in stored] == [
        ("toolResult", False),
        ("toolResult", True),
        ("user", None),
    ]


def test_images_of_results_follow_in_a_users_message_of_a_chat() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    results = [
        {"role": "toolResult", "toolCallId": c, "content": [image], "isError": False} for c in "ab"
    ]
    done = from_stored("openai", [*results, {"role": "assistant", "content": []}])
    assert [m["role"] for m in done] == ["tool", "tool", "user", "assistant"]
    assert [p["type"] for p in done[2]["content"]] == ["text", "image_url", "image_url"]


def test_arguments_that_are_no_object_keep_their_text() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "[1"}}
    ((stored),) = to_stored("openai", {"role": "assistant", "content": None, "tool_calls": [call]})
    assert stored["content"][0]["arguments"] == {}
    assert stored["stopReason"] == "toolUse"
    assert from_stored("openai", [stored])[0]["tool_calls"] == [call]


def test_thinking_of_a_chat_becomes_signed_thinking_nowhere() -> None:
    message = {"role": "assistant", "content": "x", "reasoning_content": "hm"}
    stored = to_stored("openai", message)
    assert from_stored("anthropic", stored)[0]["content"][0] == {
        "type": "thinking",
        "thinking": "hm",
    }


@pytest.mark.parametrize(
    ("form", "message", "place"),
    [
        ("openai", {"role": "wizard", "content": "x"}, "role"),
        ("openai", {"role": "user", "content": 3}, "content"),
        ("openai", {"role": "user", "content": [{"text": "x"}]}, r"content\[0\]"),
        ("openai", {"role": "user", "content": [{"type": "text"}]}, r"content\[0\]\.text"),
        ("openai", {"role": "user", "content": [{"type": "image_url"}]}, "image_url"),
        ("openai", {"role": "tool", "content": "x"}, "tool_call_id"),
        ("openai", {"role": "assistant", "tool_calls": [{"type": "function"}]}, "function"),
        ("anthropic", {"role": "tool", "content": "x"}, "role"),
        ("anthropic", {"role": "user"}, "content"),
        ("anthropic", {"role": "user", "content": [{"type": "image"}]}, "source"),
        ("anthropic", {"role": "assistant", "content": [{"type": "tool_use"}]}, r"\[0\]\.id"),
        ("anthropic", {"role": "user", "content": [{"type": "tool_result"}]}, "tool_use_id"),
    ],
)
def test_a_bad_message_is_refused_by_the_place_of_its_fault(
    form: Any, message: Json, place: str
) -> None:
    with pytest.raises(BadForm, match=place):
        to_stored(form, message)


@pytest.mark.parametrize(
    ("reported", "stored"),
    [
        (
            {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105,
             "prompt_tokens_details": {"cached_tokens": 40}},
            {"input": 60, "output": 5, "cacheRead": 40, "cacheWrite": 0, "totalTokens": 105},
        ),
        (
            {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 40,
             "cache_creation_input_tokens": 7},
            {"input": 10, "output": 5, "cacheRead": 40, "cacheWrite": 7, "totalTokens": 62},
        ),
        ({}, None),
        (None, None),
    ],
)  # fmt: skip
def test_usage_is_stored_in_one_form(reported: Any, stored: Json | None) -> None:
    assert stored_usage(reported) == stored
