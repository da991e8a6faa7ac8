"""Whether there is anything to summarise (spec compaction 3.6)."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.compaction.real_conversation import (
    has_real_conversation,
    is_meaningful,
    is_real,
)
from tests.engine.compaction.driving import assistant, result, user


@pytest.mark.parametrize(
    ("text", "meaningful"),
    [
        ("hello", True),
        ("  ", False),
        ("no_reply NO_REPLY", False),
        ("HEARTBEAT_OK", False),
        ("<b>HEARTBEAT_OK</b>", False),
        ("`HEARTBEAT_OK`", True),
        ("HEARTBEAT_OK but the disk is full", True),
        ("say HEARTBEAT_OK when idle", True),
    ],
)
def test_silence_and_heartbeats_say_nothing(text: str, meaningful: bool) -> None:
    assert is_meaningful(text) is meaningful


@pytest.mark.parametrize(
    ("message", "real"),
    [
        (assistant("", "a"), False),
        ({"role": "assistant", "content": [{"type": "image"}]}, True),
        ({"role": "user", "content": [{"x": 1}]}, True),
        ({"role": "custom", "content": "note"}, True),
        ({"role": "custom", "content": "note", "display": False}, False),
        ({"role": "bashExecution", "command": "ls", "excludeFromContext": True}, False),
        ({"role": "branchSummary", "summary": "S"}, True),
        ({"role": "compactionSummary", "summary": "S"}, False),
    ],
)
def test_each_kind_of_message_counts_by_what_it_holds(message: Any, real: bool) -> None:
    assert is_real([message], 0) is real


def test_a_tool_result_is_real_only_shortly_behind_something_somebody_asked() -> None:
    assert is_real([user(), assistant("", "a"), result("a")], 2)
    assert not is_real([assistant("fine", "a"), result("a")], 1)
    assert not is_real([user(), *[assistant("", "a")] * 20, result("a")], 21)
    assert not has_real_conversation([])
