"""The numbers of one entry."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.importers import read_transcript
from sessions_app.transcripts.measures import EXCERPT_CHARS, Measures, measure
from sessions_app.transcripts.transcript import Entry
from tests.builders import Chain, header, jsonl, usage


def last(chain: Chain) -> Measures:
    return measure(read_transcript([chain.data()]).entries[-1])


def of(kind: str, **fields: Any) -> Measures:
    chain = Chain()
    chain.add(kind, **fields)
    return last(chain)


def said(role: str, content: object, **fields: Any) -> Measures:
    chain = Chain()
    chain.message(role, content=content, **fields)
    return last(chain)


def test_texts_are_characters_by_four_rounded_up() -> None:
    assert said("user", "x" * 41).tokens == 11
    assert said("user", "🎈" * 4).tokens == 2  # two UTF-16 units each


def test_parts_of_an_answer_are_told_apart() -> None:
    found = said(
        "assistant",
        [
            {"type": "thinking", "thinking": "t" * 40},
            {"type": "text", "text": "x" * 80},
            {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "abcdefghij"}},
        ],
    )
    assert (found.thinking_tokens, found.call_tokens) == (10, 7)
    assert found.tokens == 37


def test_only_tool_results_have_result_characters() -> None:
    content = [{"type": "text", "text": "x" * 50}, {"type": "image", "data": "d", "mimeType": "i"}]
    assert said("toolResult", content, toolCallId="c").result_chars == 50
    assert said("user", content).result_chars == 0
    assert said("user", content).images == 1


@pytest.mark.parametrize(
    ("given", "known"),
    [
        (usage(100, 5, 20, 30), True),
        ({"input": 0, "output": 0, "totalTokens": 0}, False),
        ({}, False),
        (None, False),
        ("many", False),
        ({"output": 3}, True),
    ],
)
def test_usage_of_zero_is_no_usage(given: Any, known: bool) -> None:
    assert (said("assistant", [], usage=given).usage is not None) is known


@pytest.mark.parametrize(
    ("given", "known"),
    [(900, 900), (0, 0), (-5, None), ("900", None), (None, None), (True, None), (1e300, 2**53 - 1)],
)
def test_what_a_compaction_says_it_measured(given: Any, known: int | None) -> None:
    assert of("compaction", summary="s", tokensBefore=given).tokens_before == known


def test_what_the_context_never_holds_measures_nothing() -> None:
    assert of("custom", data="x" * 400).tokens == 0
    assert of("session_info", name="x" * 400).tokens == 0
    assert of("label", targetId="e1", label="x" * 400).tokens == 0
    assert of("compaction", summary="").tokens == 0
    runtime = of("custom_message", customType="openclaw.runtime-context", content="x" * 400)
    assert runtime.tokens == 0
    assert of("custom_message", customType="notes", content="x" * 400).tokens == 100
    assert of("branch_summary", summary="x" * 400).tokens == 100


@pytest.mark.parametrize(
    ("measures", "excerpt"),
    [
        (said("user", "  several \n lines\tand  tabs "), "several lines and tabs"),
        (
            said("user", [{"type": "text", "text": "  "}, {"type": "text", "text": "second"}]),
            "second",
        ),
        (said("user", "x" * 900), "x" * EXCERPT_CHARS),
        (said("user", None), ""),
        (of("model_change", provider="p", modelId="m"), "p/m"),
        (of("model_change", provider=["p"], modelId="m"), "m"),
        (of("compaction", summary="What was"), "What was"),
    ],
)
def test_the_excerpt_is_how_it_begins_on_one_line(measures: Measures, excerpt: str) -> None:
    assert measures.excerpt == excerpt


def test_exact_tokens_are_counted_only_when_asked() -> None:
    (entry,) = read_transcript(
        [
            jsonl(
                header(), {"type": "message", "message": {"role": "user", "content": "hello world"}}
            )
        ]
    ).entries
    assert measure(entry).exact is None
    assert measure(entry, "o200k_base").exact == 2


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["type", "text", "thinking", "id", "name", "arguments", "content", "usage"]
            ),
            st.one_of(inner, st.sampled_from(["text", "toolCall", "image", "thinking"])),
            max_size=4,
        ),
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(["message", "compaction", "custom_message", "branch_summary", "model_change"]),
    st.dictionaries(
        st.sampled_from(
            ["message", "summary", "content", "customType", "provider", "modelId", "tokensBefore"]
        ),
        ANYTHING,
    ),
    st.sampled_from(["user", "assistant", "toolResult", "custom", "bashExecution", "odd"]),
)
def test_nothing_malformed_makes_it_fail(kind: str, fields: dict[str, Any], role: str) -> None:
    if isinstance(fields.get("message"), dict):
        fields["message"]["role"] = role
    entry = Entry(0, 2, "a", None, kind, None, {"type": kind, **fields}, b"")
    found = measure(entry)
    assert found.tokens >= 0
    assert found.pressure >= 0
