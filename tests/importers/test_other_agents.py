"""What other agents wrote, as session entries: calls, usage, results, and their own compactions."""

from __future__ import annotations

import copy
import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.importers import NotATranscript, read_transcript
from sessions_app.importers.blocks import BEGINNING
from sessions_app.importers.reading import FileReader
from sessions_app.transcripts.columns import columns_of_rows, row_of
from sessions_app.transcripts.measures import measure
from sessions_app.transcripts.timeline import Timeline, timeline
from sessions_app.transcripts.transcript import Entry, Header, Problem, Transcript
from tests.importers.reading import DATA

AT = "2026-01-01T00:00:00.000Z"
FILES = sorted(p for p in (DATA / "other_agents").iterdir() if not p.name.endswith(".traj"))


def read(*records: object, thread: str = "") -> Transcript:
    data = b"".join(orjson.dumps(record) + b"\n" for record in records)
    found = [item for _, item in FileReader(thread=thread).read([data], at_rest=True)]
    header = next((item for item in found if isinstance(item, Header)), None)
    entries = tuple(item for item in found if isinstance(item, Entry))
    return Transcript(header, entries, tuple(i for i in found if isinstance(i, Problem)))


def growth(found: Transcript) -> Timeline:
    return timeline(columns_of_rows(row_of(entry, measure(entry)) for entry in found.entries))


def said(entry: Entry) -> str:
    return measure(entry).excerpt


def claude(
    kind: str, uuid: str, parent: str | None, message: object, **more: Any
) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s",
        "timestamp": AT,
        "isSidechain": False,
        "message": message,
        **more,
    }


def claude_block(
    uuid: str, parent: str, block: object, message_id: str = "m", output: int = 5
) -> Any:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": output}
    message = {"id": message_id, "role": "assistant", "model": "claude-x", "content": [block]}
    return claude("assistant", uuid, parent, {**message, "usage": usage})


def tool_use(identity: str) -> dict[str, object]:
    return {"type": "tool_use", "id": identity, "name": "Read", "input": {"path": "a"}}


def tool_result(identity: str, content: object = "found") -> dict[str, object]:
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": identity, "content": content}],
    }


USER = claude("user", "u1", None, {"role": "user", "content": "Hello"})


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


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": kind, "payload": payload}


def counted(**usage: int) -> dict[str, Any]:
    return item("event_msg", type="token_count", info={"last_token_usage": usage})


CODEX = [
    item("session_meta", id="c", model_provider="openai"),
    item("turn_context", model="gpt-5"),
    item(
        "response_item",
        type="message",
        role="developer",
        content=[{"type": "input_text", "text": "Rules"}],
    ),
    item(
        "response_item",
        type="message",
        role="user",
        content=[{"type": "input_text", "text": "Do it"}],
    ),
    item("response_item", type="reasoning", summary=[{"type": "summary_text", "text": "Think"}]),
    item(
        "response_item", type="function_call", call_id="f1", name="shell", arguments='{"cmd": "ls"}'
    ),
    item("response_item", type="function_call_output", call_id="f1", output="a.txt"),
    counted(input_tokens=100, cached_input_tokens=60, output_tokens=9),
    item(
        "response_item",
        type="message",
        role="assistant",
        content=[{"type": "output_text", "text": "Done"}],
    ),
    counted(input_tokens=120, cached_input_tokens=90, output_tokens=4),
]


def test_a_codex_call_is_its_items_together_and_the_count_behind_them() -> None:
    found = read(*CODEX)
    roles = [entry.role for entry in found.entries if entry.role]
    assert roles == ["user", "assistant", "toolResult", "assistant"]
    usages = [measure(e).usage for e in found.entries if e.role == "assistant"]
    assert [(u.input, u.cache_read, u.output) for u in usages if u] == [(40, 60, 9), (30, 90, 4)]
    assert growth(found).billed_prompt.tolist() == [100, 120]
    assert found.problems == ()


def test_codex_history_after_a_compaction_is_what_took_its_place() -> None:
    kept = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Do it"}]}
    found = read(*CODEX, item("compacted", message="Summary so far", replacement_history=[kept]))
    compaction, history = found.entries[-2:]
    assert (compaction.type, compaction.record["summary"]) == ("compaction", "Summary so far")
    assert (history.type, said(history)) == ("custom_message", "Do it")
    assert found.problems == ()


def loop(kind: str, **event: Any) -> dict[str, Any]:
    return {
        "type": "context.append_loop_event",
        "event": {"type": kind, **event},
        "time": 1_785_397_740_193,
    }


KIMI = [
    {"type": "metadata", "protocol_version": "1.4", "created_at": 1_785_397_637_611},
    {"type": "llm.request", "model": "k2", "provider": "moonshot", "time": 1_785_397_637_611},
    {
        "type": "context.append_message",
        "message": {"role": "user", "content": [{"type": "text", "text": "看看"}]},
        "time": 1_785_397_637_612,
    },
    loop("step.begin", step=1),
    loop("content.part", part={"type": "think", "think": "hm"}),
    loop("tool.call", toolCallId="k1", name="Read", args={"path": "a"}),
    loop("tool.result", toolCallId="k1", result={"output": "text", "note": "whole"}),
    loop(
        "step.end",
        usage={"inputOther": 20, "output": 7, "inputCacheRead": 5, "inputCacheCreation": 1},
        finishReason="tool_use",
    ),
]


def test_a_kimi_step_is_one_call_with_the_usage_of_its_end() -> None:
    found = read(*KIMI)
    assert [entry.role for entry in found.entries if entry.role] == [
        "user",
        "assistant",
        "toolResult",
    ]
    (call,) = (entry for entry in found.entries if entry.role == "assistant")
    assert (call.message["model"], call.message["stopReason"]) == ("k2", "toolUse")
    assert growth(found).billed_prompt.tolist() == [26]
    assert found.problems == ()


def test_a_kimi_compaction_says_its_own_before_and_after() -> None:
    compaction = {
        "type": "context.apply_compaction",
        "summary": "short",
        "contextSummary": "what the model reads",
        "tokensBefore": 60_171,
        "tokensAfter": 3_199,
        "time": 1_785_398_024_015,
    }
    last = read(*KIMI, compaction).entries[-1]
    assert (last.type, last.record["summary"]) == ("compaction", "what the model reads")
    assert (last.record["tokensBefore"], last.record["tokensAfter"]) == (60_171, 3_199)


def test_gemini_counts_cached_tokens_inside_its_input() -> None:
    found = read_transcript([(DATA / "other_agents" / "gemini-cli-1.jsonl").read_bytes()])
    calls = [entry for entry in found.entries if entry.role == "assistant"]
    last = measure(calls[-1]).usage
    assert last is not None
    assert (last.input, last.cache_read, last.output) == (567, 11_502, 147)
    assert [entry.role for entry in found.entries if entry.role] == [
        "user", "assistant", "toolResult", "assistant",
    ]  # fmt: skip
    assert found.problems == ()


def test_a_gemini_session_in_one_document_gives_its_messages() -> None:
    found = read_transcript([(DATA / "other_agents" / "gemini-cli-2.json").read_bytes()])
    assert [entry.role for entry in found.entries if entry.role] == [
        "user", "assistant", "toolResult", "assistant", "toolResult", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert found.problems == ()


TRAJECTORY = {
    "environment": "swe",
    "trajectory": [{"response": "look", "observation": "a.txt"}],
    "history": [
        {"role": "system", "content": "You fix bugs."},
        {"role": "user", "content": "Fix it"},
        {
            "role": "assistant",
            "content": "I look",
            "tool_calls": [
                {"id": "c", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
            ],
        },
        {"role": "tool", "content": "a.txt", "tool_call_ids": ["c"]},
    ],
    "info": {"exit_status": "submitted"},
}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_trajectory_gives_the_history_that_the_model_saw(indent: int | None) -> None:
    found = read_transcript([json.dumps(TRAJECTORY, indent=indent).encode()])
    assert [(entry.type, entry.role) for entry in found.entries] == [
        ("custom_message", ""), ("message", "user"), ("message", "assistant"), ("message", "toolResult"),
        ("custom", ""),
    ]  # fmt: skip
    assert found.problems == ()


def test_a_trajectory_without_history_gives_its_steps() -> None:
    found = read({**TRAJECTORY, "history": []})
    assert [said(entry) for entry in found.entries][:2] == ["look", "a.txt"]


def test_plain_messages_may_be_of_openais_or_anthropics_form() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    found = read(
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": None, "tool_calls": [call], "usage": {"prompt_tokens": 9, "completion_tokens": 2}},
        {"role": "tool", "tool_call_id": "c", "content": "a.txt"},
        {"role": "assistant", "content": [{"type": "text", "text": "And"}, tool_use("d")]},
        tool_result("d"),
        {"role": "assistant", "content": "Done"},
    )  # fmt: skip
    assert [entry.role or entry.type for entry in found.entries] == [
        "custom_message", "user", "assistant", "toolResult", "assistant", "toolResult", "assistant",
    ]  # fmt: skip
    assert growth(found).billed_prompt.tolist()[0] == 9
    assert found.entries[3].message["toolName"] == "ls"
    assert found.problems == ()


STRANGE: tuple[Any, ...] = (
    None,
    0,
    -1,
    "",
    "\ud800",
    [],
    {},
    [None],
    {"type": []},
    True,
    1e400,
    [[]],
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return found + [place for key, item in inner for place in places(item, (*path, key))]


SAMPLES: list[list[Any]] = [
    [
        USER,
        claude_block("a", "u1", tool_use("t")),
        claude("user", "r", "a", tool_result("t")),
        USER,
    ],
    CODEX,
    KIMI,
    [TRAJECTORY],
    [orjson.loads((DATA / "other_agents" / "gemini-cli-2.json").read_bytes())],
    [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [tool_use("t")]},
        tool_result("t"),
    ],
]


@settings(max_examples=300)
@given(st.sampled_from(SAMPLES), st.data())
def test_nothing_that_is_spoilt_in_a_file_raises(sample: list[Any], data: st.DataObject) -> None:
    spoilt = copy.deepcopy(sample)
    path = data.draw(st.sampled_from(places(spoilt)))
    holder: Any = spoilt
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = data.draw(st.sampled_from(STRANGE))
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in spoilt)
    try:
        found = read_transcript([lines], at_rest=True)
    except NotATranscript:
        return
    for entry in found.entries:
        measure(entry)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_chunks_of_any_size_give_the_same(path: Any) -> None:
    data = path.read_bytes()
    whole = read_transcript([data])
    assert read_transcript(data[at : at + 777] for at in range(0, len(data), 777)) == whole


def settled(data: bytes, reader: FileReader) -> list[Entry]:
    return [item for _, item in reader.read([data]) if isinstance(item, Entry)]


@pytest.mark.parametrize(
    "path", [p for p in FILES if p.suffix == ".jsonl"], ids=lambda path: path.name
)
def test_what_is_settled_at_any_line_stays(path: Any) -> None:
    """What an import may keep of a file that grows is the beginning of what the whole file gives."""
    lines = path.read_bytes().splitlines(keepends=True)
    whole = settled(b"".join(lines), FileReader())
    for count in range(3, len(lines), 7):
        reader = FileReader()
        entries = settled(b"".join(lines[:count]), reader)
        assert entries[: reader.settled_entries] == whole[: reader.settled_entries]


@pytest.mark.parametrize("records", [CODEX, KIMI], ids=["codex", "kimi"])
def test_a_reader_that_is_kept_reads_on_where_it_was(records: list[Any]) -> None:
    reader, at, found = FileReader(), BEGINNING, dict[int, Entry]()
    problems: list[Problem] = []
    for record in records:
        for end, item in reader.read([orjson.dumps(record) + b"\n"], at):
            at = end
            if isinstance(item, Entry):
                found[item.seq] = item  # what was held comes again once it has ended
            problems += (item,) if isinstance(item, Problem) else ()
    whole = read(*records)
    assert tuple(found[seq] for seq in sorted(found)) == whole.entries
    assert problems == []
