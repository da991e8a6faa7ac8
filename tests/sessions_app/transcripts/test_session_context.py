"""What a branch puts before the model."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.transcripts.loading import UnreadableTranscript, load_loose
from sessions_app.transcripts.session_context import (
    ModelRef,
    bash_execution_text,
    llm_messages,
    session_context,
)
from tests.sessions_app.transcript_lines import HEADER, assistant, compaction, entry, user


def context(*lines: Any) -> Any:
    return session_context(load_loose([HEADER, *lines]))


def texts(*lines: Any) -> list[str]:
    return [m.get("content", m.get("summary")) for m in context(*lines).messages]


def test_the_last_compaction_stands_before_what_it_kept() -> None:
    lines = [
        user("a", None, "1"),
        user("b", "a", "2"),
        compaction("k", "b", "b"),
        user("c", "k", "3"),
        compaction("l", "c", "b"),
        user("d", "l", "4"),
    ]
    assert texts(*lines) == ["S", "2", "3", "4"]


@pytest.mark.parametrize("kept", ["gone", "k", "d"])
def test_nothing_before_a_compaction_survives_when_its_first_kept_entry_is_not_before_it(
    kept: str,
) -> None:
    lines = [user("a", None, "1"), compaction("k", "a", kept), user("d", "k", "2")]
    assert texts(*lines) == ["S", "2"]


def test_model_and_thinking_level_come_from_the_whole_path() -> None:
    found = context(
        entry("t", None, "thinking_level_change", thinkingLevel="high"),
        assistant("a", "t"),
        entry("m", "a", "model_change", provider="q", modelId="n"),
        compaction("k", "m", "gone"),
    )
    assert (found.thinking_level, found.model) == ("high", ModelRef("q", "n"))
    assert context(user("a", None)).model is None


@pytest.mark.parametrize("timestamp", ["", "soon", None, True, [], "2026-13-01T00:00:00Z"])
def test_a_summary_at_an_unreadable_time_is_an_error(timestamp: object) -> None:
    line = compaction("k", None, "a") | {"timestamp": timestamp}
    with pytest.raises(UnreadableTranscript):
        context(line)


def test_only_entries_for_the_model_contribute() -> None:
    lines = [
        entry("a", None, "custom", customType="x", data=1),
        entry("b", "a", "label", targetId="a"),
        entry("c", "b", "session_info", name="n"),
        entry("d", "c", "branch_summary", fromId="root", summary=""),
        entry("e", "d", "odd"),
        entry("f", "e", "custom_message", customType="x", content="in", display=True),
    ]
    assert texts(*lines) == ["in"]


def test_messages_are_worded_for_the_model() -> None:
    worded = llm_messages(
        [
            {"role": "branchSummary", "summary": "B", "timestamp": 1},
            {"role": "custom", "content": [{"type": "text", "text": "x"}], "timestamp": 2},
            {"role": "odd"},
            "text",
            {"role": "bashExecution", "command": "x", "output": "", "excludeFromContext": True},
        ]
    )
    assert [m["timestamp"] for m in worded] == [1, 2]
    assert worded[0]["content"][0]["text"].endswith("<summary>\nB</summary>")


@pytest.mark.parametrize(
    ("fields", "ending"),
    [
        ({"exitCode": 0}, "(no output)"),
        ({"exitCode": None}, "(no output)"),
        ({"exitCode": 3}, "\n\nCommand exited with code 3"),
        ({"exitCode": 3, "cancelled": True}, "\n\n(command cancelled)"),
        ({"truncated": True}, "(no output)"),
        ({"truncated": True, "fullOutputPath": "/o"}, "\n\n[Output truncated. Full output: /o]"),
        ({"output": "x"}, "```\nx\n```"),
    ],
)
def test_the_text_of_a_command(fields: dict[str, Any], ending: str) -> None:
    text = bash_execution_text({"command": "ls", "output": ""} | fields)
    assert text.startswith("Ran `ls`\n") and text.endswith(ending)
