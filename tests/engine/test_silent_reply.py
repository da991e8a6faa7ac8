"""Which replies are meant for nobody."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine import silent_reply as silent
from compaction_app.engine.silent_reply import OPENCLAW_2026_4_20

PIECES = st.lists(
    st.sampled_from(
        ["NO_REPLY", "no_reply", " ", "\n", "<think>", "</think>", "thinking", ":", "*", ".", "I will stay quiet",
         "answer", "{", '"action"', "}", "\ufeff", "x"]
    )
).map("".join)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "NO_REPLY",
        " no_reply\n",
        "NO_REPLY NO_REPLY",
        '{"action": " NO_REPLY "}',
        "<think>a</think><thought>b</thinking> NO_REPLY",
        "<THINKING x='1'>a</THINK>I'll be silent for now. NO_REPLY",
        "<think>a</think>We have nothing to add. NO_REPLY",
        "<think>NO_REPLY",
        "<think>Nothing for me.\nThe assistant will not respond in this thread.\nNO_REPLY",
        "thought:\nprivate notes are none.\nOpenClaw has nothing to say\nNO_REPLY",
        "analysis\ninternal thinking notes NO_REPLY",
        "reasoning:\n**NO_REPLY",
    ],
)
def test_silent(text: str) -> None:
    assert silent.is_silent(text)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        " ",
        "NO_REPLY.",
        "**NO_REPLY**",
        "NO_REPLYNO_REPLY",
        "I will stay quiet. NO_REPLY",
        '{"action": "no_reply"}',
        '{"action": "NO_REPLY", "x": 1}',
        '["NO_REPLY"]',
        "<think>a</think>The answer is 5. NO_REPLY",
        "<think>a</think>I will stay quiet.",
        "<think>Yes.\nI will stay silent.\nNO_REPLY",
        "<think>No, wait.\nI will stay silent.\nNO_REPLY",
        "thinking NO_REPLY",
        "<thinker>a</thinker>NO_REPLY",
    ],
)
def test_not_silent(text: str | None) -> None:
    assert not silent.is_silent(text)


def test_the_earlier_version_knows_neither_repetition_nor_reasoning() -> None:
    assert silent.is_silent("NO_REPLY", OPENCLAW_2026_4_20)
    assert silent.is_silent('{"action":"NO_REPLY"}', OPENCLAW_2026_4_20)
    assert not silent.is_silent("NO_REPLY NO_REPLY", OPENCLAW_2026_4_20)
    assert not silent.is_silent("<think>x</think>NO_REPLY", OPENCLAW_2026_4_20)


@pytest.mark.parametrize(
    ("text", "trailing", "leading"),
    [
        ("done. NO_REPLY", "done.", "done. NO_REPLY"),
        ("x**no_reply ", "x", "x**no_reply"),
        ("x** NO_REPLY", "x**", "x** NO_REPLY"),
        ("x.NO_REPLY", "x.NO_REPLY", "x.NO_REPLY"),
        ("NO_REPLYNO_REPLY hi", "NO_REPLYNO_REPLY hi", "hi"),
        ("", "", ""),
    ],
)
def test_a_token_beside_an_answer_is_stripped(text: str, trailing: str, leading: str) -> None:
    assert silent.strip_trailing_token(text) == trailing
    assert silent.strip_leading_tokens(text) == leading


def test_a_token_glued_to_a_word_is_noticed() -> None:
    assert silent.starts_with_glued_token("NO_REPLY NO_REPLYThe user")
    assert silent.starts_with_glued_token("no_reply5")
    assert not silent.starts_with_glued_token("NO_REPLY_X")
    assert not silent.starts_with_glued_token("NO_REPLY.")


@pytest.mark.parametrize(
    ("text", "held"),
    [("NO", True), ("NO_", True), (" NO_RE", True), ("N", False), ("no_", False), ("NOT", False)],
)
def test_only_what_can_still_become_the_token_is_held_back(text: str, held: bool) -> None:
    assert silent.may_become_silent(text) is held


def test_other_tokens_are_taken_literally() -> None:
    assert silent.is_silent_text("a.b*c", token="a.b*c")
    assert not silent.is_silent_text("axbbc", token="a.b*c")
    assert not silent.may_become_silent("HE", silent.HEARTBEAT_TOKEN)


@given(PIECES)
def test_what_is_exactly_the_token_leaves_nothing_when_stripped(text: str) -> None:
    if silent.is_silent_text(text):
        assert silent.strip_leading_tokens(text) == ""
        assert silent.is_silent(text)
    silent.strip_trailing_token(text)
    silent.is_silent_reasoning(text)
    silent.starts_with_glued_token(text)


def test_long_hostile_texts_take_no_time() -> None:
    start = time.process_time()
    for text in (
        "*" * 200_000,
        " " * 200_000 + "x",
        "<think></think>" * 20_000,
        "<think>" * 50_000,
    ):
        silent.is_silent(text)
        silent.strip_trailing_token(text)
        silent.strip_leading_tokens(text)
    assert time.process_time() - start < 5
