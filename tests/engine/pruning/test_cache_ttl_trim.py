"""How an old tool result is shortened in view."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.pruning.cache_ttl_settings import SoftTrim
from compaction_app.engine.pruning.cache_ttl_trim import head_of, soft_trimmed, tail_of
from sessions_app.tokens import javascript as js
from sessions_app.tokens.pruner_chars import OPENCLAW_2026_3, OPENCLAW_2026_5_28
from tests.engine.pruning.messages import IMAGE, result, results, text_of, texts, unchanged

SMALL = SoftTrim(max_chars=100, head_chars=20, tail_chars=10)
NOTE_CHARS = 110


@given(
    message=results,
    settings=st.builds(SoftTrim, st.integers(0, 300), st.integers(0, 99), st.integers(0, 99)),
)
def test_a_trimmed_text_is_head_tail_and_note(message: dict[str, Any], settings: SoftTrim) -> None:
    before = unchanged(message)
    trimmed = soft_trimmed(message, settings, OPENCLAW_2026_5_28)
    assert message == before
    if trimmed is not None:
        most = max(settings.max_chars, settings.head_chars + settings.tail_chars + NOTE_CHARS)
        assert js.utf16_len(text_of(trimmed)) <= most
        assert {**trimmed, "content": None} == {**message, "content": None}


def test_parts_are_joined_and_the_joints_count() -> None:
    message = result("a" * 60)
    message["content"] += [IMAGE, {"type": "json"}, {"type": "text", "text": "b" * 60}]
    trimmed = soft_trimmed(message, SMALL, OPENCLAW_2026_5_28)
    assert trimmed is not None and text_of(trimmed) == (
        "a" * 20
        + "\n...\n"
        + "b" * 10
        + "\n\n[Tool result trimmed: kept first 20 chars and last 10 chars of 160 chars.]"
    )


def test_a_short_result_is_left_alone_unless_it_holds_an_image() -> None:
    assert soft_trimmed(result("a" * 100), SMALL, OPENCLAW_2026_5_28) is None
    message = result("a")
    message["content"].append(IMAGE)
    trimmed = soft_trimmed(message, SMALL, OPENCLAW_2026_5_28)
    assert trimmed is not None and text_of(trimmed) == "a\n[image removed during context pruning]"


def test_head_and_tail_that_cover_the_text_leave_it() -> None:
    settings = SoftTrim(max_chars=10, head_chars=30, tail_chars=30)
    assert soft_trimmed(result("a" * 60), settings, OPENCLAW_2026_5_28) is None


@given(parts=st.lists(texts, max_size=3), chars=st.integers(0, 50))
def test_head_and_tail_are_cut_out_of_the_joined_text(parts: list[str], chars: int) -> None:
    joined = "\n".join(parts)
    assert js.utf16_len(head_of(parts, chars)) == min(chars, js.utf16_len(joined))
    assert js.utf16_len(tail_of(parts, chars)) == min(chars, js.utf16_len(joined))


def test_a_malformed_text_block_is_its_json_or_an_error() -> None:
    message = {**result(""), "content": [{"type": "text", "value": "q" * 200}, None]}
    trimmed = soft_trimmed(message, SMALL, OPENCLAW_2026_5_28)
    assert trimmed is not None and text_of(trimmed).startswith('{"type":"text","valu\n...\n')
    with pytest.raises(TypeError, match="null"):
        soft_trimmed(message, SMALL, OPENCLAW_2026_3)
