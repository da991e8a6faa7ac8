"""Records as other agents write them, and how they are read."""

from __future__ import annotations

from typing import Any

import orjson

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
