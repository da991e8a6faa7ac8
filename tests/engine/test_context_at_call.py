"""Parts of a request, and what changes from one call to the next."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.context_at_call import (  # fmt: skip
    Original,
    Request,
    originals_of,
    request_of,
    step_between,
)
from compaction_app.engine.pruning.change import change
from compaction_app.engine.turn.requests import Context
from sessions_app.tokens.message_tokens import OPENCLAW_2026_5_28

Message = dict[str, Any]


def said(role: str, text: str, at: int, **more: Any) -> Message:
    return {"role": role, "content": [{"type": "text", "text": text}], "timestamp": at, **more}


def made(messages: list[Message], stored: list[Message] | None = None, *cuts: Any) -> Request:
    whole = stored if stored is not None else messages
    context = Context(tuple(whole), tuple(messages), 0, tuple(cuts))
    originals = [Original(seq, m) for seq, m in enumerate(whole, 10)]
    return request_of(context, originals, OPENCLAW_2026_5_28)


ASK, REPLY = said("user", "look", 1), said("assistant", "I will", 2)
RESULT = said("toolResult", "x" * 400, 3, toolCallId="call_1", toolName="read")


def test_a_part_names_its_entry_its_sizes_and_the_rule_that_cut_it() -> None:
    short = said("toolResult", "gone", 3, toolCallId="call_1", toolName="read")
    cut = change(2, "hard_clear", RESULT, short, "old_tool_result")
    request = made([ASK, REPLY, short], [ASK, REPLY, RESULT], cut)
    part = request.parts[2]
    assert (part.kind, part.tool, part.sources) == ("tool result", "read", (12,))
    assert (part.before, part.after, part.tokens, part.changes) == (400, 4, 1, (cut,))
    assert request.left_out == ()


def test_plain_call_ids_lead_to_the_same_entry() -> None:
    plain = {**RESULT, "toolCallId": "call1"}
    assert made([plain], [RESULT]).parts[0].sources == (10,)


def test_a_joined_message_has_both_entries() -> None:
    other = said("user", "and there", 5)
    joined = {**ASK, "content": [*ASK["content"], *other["content"]]}
    assert made([joined], [ASK, other]).parts[0].sources == (10, 11)


def test_what_is_not_sent_is_left_out_and_what_has_no_entry_is_other() -> None:
    told = said("user", "runtime context", 9)
    originals = [Original(1, ASK), Original(2, REPLY)]
    request = request_of(Context((ASK, told), (ASK, told), 0), originals, OPENCLAW_2026_5_28)
    assert [(p.kind, p.sources, p.before) for p in request.parts] == [
        ("user", (1,), 4),
        ("other", (), None),
    ]
    assert request.left_out == (2,)


def test_a_longer_call_keeps_its_prefix() -> None:
    step = step_between(made([ASK]), made([ASK, REPLY, RESULT]))
    assert step.fates == ("same", "added", "added") and step.removed == ()
    assert (step.prefix.messages, step.prefix.broken_at) == (1, None)


def test_a_changed_message_breaks_the_prefix_where_it_stands() -> None:
    other = {**RESULT, "content": "short"}
    step = step_between(made([ASK, RESULT, REPLY]), made([ASK, other, REPLY]))
    assert step.fates == ("same", "changed", "same")
    assert (step.prefix.messages, step.prefix.broken_at) == (1, 1)
    assert step.prefix.earlier is not None and step.prefix.earlier.after == 400


def test_what_is_gone_is_removed() -> None:
    step = step_between(made([ASK, REPLY, RESULT]), made([RESULT]))
    assert [part.kind for part in step.removed] == ["user", "assistant"]
    assert (step.prefix.messages, step.prefix.tokens, step.prefix.broken_at) == (0, 0, 0)


def test_two_messages_of_the_same_moment_are_told_apart() -> None:
    twin = said("user", "look again", 1)
    step = step_between(made([ASK, twin]), made([ASK, twin, REPLY]))
    assert step.fates == ("same", "same", "added")


def test_a_context_begins_with_the_summary_and_what_was_kept() -> None:
    def entry(number: int, message: Message) -> tuple[int, Message]:
        return number, {"id": f"e{number}", "type": "message", "message": message}

    compaction = {
        "id": "c", "type": "compaction", "summary": "all", "tokensBefore": 9,
        "firstKeptEntryId": "e1", "timestamp": "2026-01-01T00:00:00.000Z",
    }  # fmt: skip
    path = [entry(0, ASK), entry(1, REPLY), (2, compaction), entry(3, RESULT)]
    found = originals_of(path)
    assert [original.seq for original in found] == [2, 1, 3]
    assert found[0].message["role"] == "compactionSummary"
