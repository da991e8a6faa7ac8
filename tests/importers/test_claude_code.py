"""What Claude Code wrote, as session entries: calls, usage, sidechains, and its own compactions."""

from __future__ import annotations

import orjson

from sessions_app.importers.reading import FileReader
from sessions_app.transcripts.measures import measure
from sessions_app.transcripts.transcript import Entry
from tests.importers.other_agents import (
    AT,
    USER,
    claude,
    claude_block,
    growth,
    read,
    said,
    tool_result,
    tool_use,
)


def test_claude_code_lines_of_one_message_are_one_call_with_its_usage_once() -> None:
    found = read(
        USER,
        claude_block(
            "a1", "u1", {"type": "thinking", "thinking": "hm", "signature": "x"}, output=1
        ),
        claude_block("a2", "a1", {"type": "text", "text": "I look"}, output=3),
        claude_block("a3", "a2", tool_use("t1"), output=7),
        claude("user", "r1", "a3", tool_result("t1")),
        claude_block("b1", "r1", {"type": "text", "text": "Done"}, "m2"),
    )
    assert [entry.role for entry in found.entries] == [
        "user",
        "assistant",
        "toolResult",
        "assistant",
    ]
    assert growth(found).calls == 2
    usage = measure(found.entries[1]).usage
    assert usage is not None
    assert (usage.input, usage.cache_read, usage.output) == (10, 90, 7)
    assert [b["type"] for b in found.entries[1].message["content"]] == [
        "thinking",
        "text",
        "toolCall",
    ]
    assert found.entries[2].message["toolName"] == "Read"
    assert [entry.line for entry in found.entries] == [1, 2, 5, 6]
    assert [entry.parent_seq for entry in found.entries] == [None, 0, 1, 2]
    assert found.problems == ()


def test_claude_code_results_that_come_while_a_call_goes_on_stand_behind_it_one_below_the_other() -> (
    None
):
    found = read(
        USER,
        claude_block("a1", "u1", tool_use("t1")),
        claude("user", "r1", "a1", tool_result("t1", "one")),
        claude_block("a2", "a1", tool_use("t2")),
        claude("user", "r2", "a2", tool_result("t2", [{"type": "text", "text": "two"}])),
        claude_block("b1", "r2", {"type": "text", "text": "Done"}, "m2"),
    )
    assert [said(entry) for entry in found.entries[2:]] == ["one", "two", "Done"]
    assert [entry.parent_seq for entry in found.entries] == [None, 0, 1, 2, 3]
    assert growth(found).calls == 2
    assert found.problems == ()


def test_claude_code_boundary_and_summary_are_one_compaction_with_its_numbers() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "c1",
        "parentUuid": None,
        "logicalParentUuid": "a1",
        "sessionId": "s",
        "timestamp": AT,
        "compactMetadata": {"trigger": "auto", "preTokens": 155_000, "postTokens": 9_000},
    }
    summary = claude(
        "user", "c2", "c1", {"role": "user", "content": "So far"}, isCompactSummary=True
    )
    found = read(
        USER,
        claude_block("a1", "u1", {"type": "text", "text": "Hi"}),
        boundary,
        summary,
        claude("user", "u2", "c2", {"role": "user", "content": "Go on"}),
        claude_block("b1", "u2", {"type": "text", "text": "Yes"}, "m2"),
    )
    (compaction,) = (entry for entry in found.entries if entry.type == "compaction")
    assert compaction.record["summary"] == "So far"
    assert (compaction.record["tokensBefore"], compaction.record["tokensAfter"]) == (155_000, 9_000)
    assert compaction.kept_seq is None
    assert [entry.parent_seq for entry in found.entries] == [None, 0, 1, 2, 3]
    assert len(growth(found).compactions.place) == 1
    assert found.problems == ()


def test_claude_code_preserved_messages_are_what_the_compaction_kept() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "c1",
        "parentUuid": None,
        "logicalParentUuid": "a1",
        "timestamp": AT,
        "compactMetadata": {"preTokens": 5, "preservedSegment": {"headUuid": "u1"}},
    }
    after = claude("user", "u2", "c1", {"role": "user", "content": "Go on"})
    found = read(USER, claude_block("a1", "u1", {"type": "text", "text": "Hi"}), boundary, after)
    assert found.entries[-2].type == "compaction"
    assert found.entries[-2].kept_seq == 0


def test_claude_code_sidechains_are_threads_of_their_own() -> None:
    side = [
        claude("user", "s1", None, {"role": "user", "content": "Task"}, isSidechain=True),
        {
            **claude_block("s2", "s1", {"type": "text", "text": "Working"}, "ms"),
            "isSidechain": True,
        },
    ]
    records = [
        USER,
        claude_block("a1", "u1", tool_use("t")),
        *side,
        claude("user", "r", "a1", tool_result("t")),
    ]
    data = b"".join(orjson.dumps(record) + b"\n" for record in records)
    reader = FileReader()
    main = [item for _, item in reader.read([data]) if isinstance(item, Entry)]
    assert [entry.role for entry in main] == ["user", "assistant", "toolResult"]
    assert reader.sidechains == ("s1",)
    found = read(*records, thread="s1")
    assert [said(entry) for entry in found.entries] == ["Task", "Working"]


def test_a_subagents_own_file_is_one_session() -> None:
    found = read(
        claude(
            "user", "s1", None, {"role": "user", "content": "Task"}, isSidechain=True, agentId="x"
        )
    )
    assert [said(entry) for entry in found.entries] == ["Task"]


def test_claude_code_lines_that_are_no_messages_are_kept_and_weigh_nothing() -> None:
    found = read(
        USER,
        {"type": "summary", "summary": "A title", "leafUuid": "u1"},
        claude_block("a1", "u1", "x"),
    )
    assert found.entries[1].record["data"]["summary"] == "A title"
    assert measure(found.entries[1]).tokens == 0
    assert [entry.parent_seq for entry in found.entries] == [None, 0, 1]
