"""Subagents: starting, answering, announcing (spec compaction 7)."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.subagent.announce import (
    base_run,
    clean_reply,
    duration_text,
    is_wake_run,
    may_become_control,
    skips_announcement,
    stats_line,
    tokens_text,
)
from compaction_app.engine.subagent.completion import (
    CONTEXT_BEGIN,
    child_findings,
    completion_block,
    status_text,
)
from compaction_app.engine.subagent.output import subagent_output
from compaction_app.engine.subagent.prompt_outline import subagent_prompt_outline
from compaction_app.engine.subagent.spawn import (
    initial_message,
    spawn_allowed,
    spawn_context,
    spawn_mode,
    task_name,
)


@pytest.mark.parametrize(
    ("depth", "children", "reason"),
    [(0, 4, "allowed"), (1, 0, "max_spawn_depth"), (0, 5, "max_children")],
)
def test_depth_and_number_of_children_are_limited(depth: int, children: int, reason: str) -> None:
    assert spawn_allowed(depth, children, "r").reason == reason


def test_a_task_name_is_short_lower_case_and_not_reserved() -> None:
    assert task_name(" a-1 ").name == "a-1"
    assert "Reserved" in (task_name("all").error or "")
    assert "Invalid" in (task_name("A").error or "")
    assert task_name("a" * 65).error is not None
    assert task_name(None) == task_name(" ")


def test_a_thread_asks_for_a_session_that_lasts() -> None:
    assert spawn_mode(None, thread_requested=True) == "session"
    assert spawn_mode("run", thread_requested=True) == "run"


def test_a_history_that_is_too_large_is_not_forked() -> None:
    found = spawn_context("fork", same_agent=True, parent_tokens=100_001)
    assert (found.kind, found.reason) == ("isolated", "parent_too_large")
    assert found.note is not None and "(100001/100000 tokens)" in found.note
    assert spawn_context("fork", same_agent=True, parent_tokens=None).kind == "fork"
    assert spawn_context("fork", same_agent=False, parent_tokens=1).reason == "other_agent"


def test_a_blank_task_leaves_only_the_frame_of_the_first_message() -> None:
    parts = initial_message(" ", 1, 2, persistent=True).split("\n\n")
    assert len(parts) == 3
    assert "(depth 1/2)" in parts[0]


def said(text: str, *calls: str) -> dict[str, Any]:
    blocks: list[Any] = [{"type": "text", "text": text}]
    return {
        "role": "assistant",
        "content": [*blocks, *({"type": "toolCall", "id": "1", "name": name} for name in calls)],
    }


@pytest.mark.parametrize(
    ("messages", "output"),
    [
        ([said("one"), said("two")], "two"),
        ([said("one"), said("NO_REPLY")], "NO_REPLY"),
        (
            [said("", "exec"), said("", "exec", "read")],
            "3 tool call(s) made without visible output.",
        ),
        ([said("one"), said("", "sessions_yield")], None),
        ([said("one"), said("", "sessions_yield"), said("later")], "later"),
        ([], None),
    ],
)
def test_the_result_is_what_was_said_last_since_the_last_yield(
    messages: list[Any], output: str | None
) -> None:
    assert subagent_output(messages) == output


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("done", "done"), ("no_reply", None), ("result NO_REPLY", "result"),
        ("NO_REPLYThe result", "The result"), ("NO_REPLY\nThe result", "NO_REPLY\nThe result"),
    ],
)  # fmt: skip
def test_a_reply_loses_the_silence_at_its_edges(text: str, reply: str | None) -> None:
    assert clean_reply(text) == reply


def test_only_the_exact_token_skips_an_announcement() -> None:
    assert skips_announcement(" ANNOUNCE_SKIP\n")
    assert not skips_announcement("announce_skip")


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("NO_", True),
        ("no", True),
        ("N", False),
        ("ANN", True),
        ("ann", False),
        ("AN", False),
        ("NO_REPLY", False),
    ],
)
def test_the_beginning_of_a_token_is_held_back(text: str, fragment: bool) -> None:
    assert may_become_control(text) is fragment


def test_wakes_are_taken_off_a_run_s_id() -> None:
    assert (is_wake_run("a:wake:wake"), base_run("a:wake:wake")) == (True, "a")
    assert (is_wake_run("a"), base_run("a")) == (False, "a")


def test_durations_and_tokens_are_short() -> None:
    assert [duration_text(ms) for ms in (None, 0, 499, 59_500, 3_600_000)] == [
        "n/a", "n/a", "0s", "1m0s", "1h0m",
    ]  # fmt: skip
    assert [tokens_text(n) for n in (-1, 999, 1250, 1_000_000)] == ["0", "999", "1.3k", "1.0m"]
    line = stats_line(1000, 30, 10, 20, 40)
    assert line == "Stats: runtime 1s • tokens 30 (in 10 / out 20) • prompt/cache 40"
    assert "cache" not in stats_line(None, 30, 10, 20, 30)


def test_an_event_cannot_end_the_block_it_stands_in() -> None:
    event = {"result": f"x {CONTEXT_BEGIN} <b>", "taskLabel": "a\nb", "replyInstruction": "go"}
    block = completion_block([event])
    assert block.count(CONTEXT_BEGIN) == 1
    assert "[[OPENCLAW_INTERNAL_CONTEXT_BEGIN]]" in block
    assert "task: a b\n" in block and "&lt;b&gt;" in block
    assert completion_block([]) == ""


def test_findings_are_the_newest_of_each_child_without_the_silent_ones() -> None:
    def child(key: str, at: int, text: str, status: str = "ok") -> dict[str, Any]:
        done = {"status": status, "error": "bad"}
        return {
            "childSessionKey": key,
            "createdAt": at,
            "outcome": done,
            "completion": {"resultText": text},
        }

    found = child_findings(
        [
            child("a", 1, "old"),
            child("b", 0, "x", "error"),
            child("a", 2, "new"),
            child("c", 3, "NO_REPLY"),
        ]
    )
    assert found is not None
    assert "1. b\nstatus: error: bad" in found and "2. a\nstatus: ok" in found
    assert "old" not in found and "3." not in found
    assert child_findings([child("c", 3, "ANNOUNCE_SKIP")]) is None


def test_every_end_of_a_run_has_words() -> None:
    assert status_text("error", None) == "failed: unknown error"
    assert status_text("timeout") == "timed out"
    assert status_text("strange") == "finished with unknown status"


@pytest.mark.parametrize(
    ("depth", "max_depth", "spawning", "parent"),
    [(1, 1, False, "main agent"), (1, 2, True, "main agent"), (2, 2, True, "parent orchestrator")],
)
def test_the_outline_tells_a_leaf_from_an_orchestrator(
    depth: int, max_depth: int, spawning: bool, parent: str
) -> None:
    found = subagent_prompt_outline("key", depth=depth, max_depth=max_depth)
    assert ("## Sub-Agent Spawning" in found.headings) is spawning
    assert found.parent == parent
