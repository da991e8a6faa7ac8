"""What Codex, Kimi, Gemini CLI, SWE-agent and plain files hold, as session entries."""

from __future__ import annotations

import json

import pytest

from sessions_app.importers import read_transcript
from sessions_app.transcripts.measures import measure
from tests.importers.other_agents import (
    CODEX,
    KIMI,
    TRAJECTORY,
    growth,
    item,
    read,
    said,
    tool_result,
    tool_use,
)
from tests.importers.reading import DATA


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
