"""The summary that needs no model: what it says, in which words, under which headings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction_app.engine.compaction.identifiers import opaque_identifiers
from compaction_app.engine.compaction.instructions import (
    merge_instructions,
    turn_prefix_instructions,
)
from compaction_app.engine.compaction.message_text import latest_user_ask, readable_text
from compaction_app.engine.compaction.quality import REQUIRED_SECTIONS, check_quality
from compaction_app.engine.compaction.safeguard_source import with_previous_summary
from compaction_app.summarisers.extractive import Extractive, extractive_summary
from sessions_app.importers.marks import FLUSH_USER_TEXT
from sessions_app.tokens import javascript as js
from tests.engine.compaction.driving import assistant, result, user
from tests.summarisers.conversations import (
    BILLING,
    LANGUAGES,
    STRUCTURE,
    invented,
    plain,
    said,
    sections,
    structured,
)


def reasons(summary: str, messages: list[Any]) -> tuple[str, ...]:
    text = "\n".join(readable_text(message) for message in messages[-10:])
    ask = latest_user_ask(messages)
    return check_quality(summary, opaque_identifiers(text), ask, "strict").reasons


def test_the_safeguard_s_summary_says_what_matters_under_the_five_headings() -> None:
    found = sections(extractive_summary(structured(BILLING)))
    assert tuple(found) == REQUIRED_SECTIONS
    assert found["## Constraints/Rules"] == [
        "Never touch the `legacy_invoices` table, and do not restart prod-db-2.acme.io:5432."
    ]
    assert found["## Open TODOs"] == [
        "Failed: exec: pg_dump: FATAL: too many connections",
        "Still open: 3/7 tables are not replicated.",
        "I will write the cutover runbook next.",
    ]
    assert found["## Pending user asks"] == [readable_text(BILLING[-1])]
    assert found["## Exact identifiers"] == [
        "prod-db-2.acme.io:5432",
        "9f8e7d6c5b4a",
        "550e8400-e29b-41d4-a716-446655440000",
    ]


def test_a_decision_stands_with_its_reason_and_an_answered_ask_with_its_answer() -> None:
    decisions = sections(extractive_summary(structured(BILLING)))["## Decisions"]
    assert decisions[0] == (
        "I decided to use logical replication instead of pg_dump. "
        "This is because the dump would lock invoices for about 40 minutes."
    )
    assert decisions[1].startswith("Use port 6432 for pgbouncer.")
    assert decisions[1].endswith(
        "→ It passes now: round.py used float. Still open: 3/7 tables are not replicated."
    )


def test_without_the_safeguard_the_headings_are_those_of_the_default_prompt() -> None:
    found = sections(extractive_summary(plain(BILLING)))
    assert list(found) == [
        "## Goal", "## Constraints & Preferences", "## Progress", "### Done", "### In Progress",
        "### Blocked", "## Key Decisions", "## Next Steps", "## Critical Context",
        "### Exact identifiers",
    ]  # fmt: skip
    assert found["## Goal"] == [readable_text(BILLING[0])]
    assert found["### In Progress"] == [readable_text(BILLING[-1])]


@pytest.mark.parametrize(
    "call",
    [
        plain(BILLING, turn_prefix=True),
        structured(BILLING, instructions=turn_prefix_instructions(STRUCTURE)),
    ],
)
def test_the_beginning_of_a_split_turn_has_headings_of_its_own(call: Any) -> None:
    found = sections(extractive_summary(call))
    assert list(found) == [
        "## Original Request", "## Early Progress", "## Context for Suffix",
        "### Exact identifiers",
    ]  # fmt: skip
    assert reasons(extractive_summary(call), BILLING) == tuple(
        f"missing_section:{heading}" for heading in REQUIRED_SECTIONS
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_conversation_in_any_language_passes_the_check_and_nothing_is_invented(
    language: str,
) -> None:
    messages = LANGUAGES[language]
    summary = extractive_summary(structured(messages))
    assert reasons(summary, messages) == ()
    assert invented(summary, said(messages)) == []
    found = sections(summary)
    assert found["## Constraints/Rules"] != ["None."]
    assert found["## Decisions"] != ["None."]


def test_a_failure_that_was_mended_later_is_not_reported() -> None:
    def run(call: str, command: str) -> dict[str, Any]:
        block = {"type": "toolCall", "id": call, "name": "exec", "arguments": {"command": command}}
        return {"role": "assistant", "content": [block]}

    failed = [user("build it"), run("a", "make"), result("a", "no rule", isError=True)]
    other = [*failed, run("b", "ls"), result("b")]
    assert "Failed: exec make: no rule" in extractive_summary(structured(other))
    mended = [*other, run("c", "make"), result("c")]
    assert "Failed" not in extractive_summary(structured(mended))


def test_touched_files_are_named_once_with_what_was_done_to_them() -> None:
    def edit(call: str, name: str, path: str) -> dict[str, Any]:
        block = {"type": "toolCall", "id": call, "name": name, "arguments": {"path": path}}
        return {"role": "assistant", "content": [block]}

    messages = [
        user("look at /src/old/a.py please"),
        edit("1", "read", "/src/old/a.py"), edit("2", "edit", "/src/old/a.py"),
        edit("3", "read", "/src/old/a.py"), edit("4", "read", "notes"),
    ]  # fmt: skip
    found = sections(extractive_summary(structured(messages)))
    assert found["## Exact identifiers"] == ["/src/old/a.py (changed)", "notes (read)"]


def test_new_is_quoted_before_old_and_what_was_said_twice_once() -> None:
    messages = [user(f"You must keep rule {n % 3}.") for n in range(6)]
    found = sections(extractive_summary(structured(messages)))
    assert found["## Constraints/Rules"] == [f"You must keep rule {n}." for n in (2, 1, 0)]


@pytest.mark.parametrize("handed", ["previous_summary", "message", "merge"])
def test_an_earlier_summary_is_distilled_anew_behind_what_is_new(handed: str) -> None:
    earlier = extractive_summary(structured(BILLING[:-2]))
    later = BILLING[-2:]
    call = structured(later, previous_summary=earlier)
    if handed == "message":
        call = structured(with_previous_summary(later, earlier))
    elif handed == "merge":
        parts = [user(earlier), user(extractive_summary(structured(later)))]
        call = structured(parts, instructions=merge_instructions(STRUCTURE))
    summary = extractive_summary(call)
    found = sections(summary)
    assert tuple(found) == REQUIRED_SECTIONS
    assert found["## Pending user asks"][0] == readable_text(BILLING[-1])
    assert any("logical replication" in line for line in found["## Decisions"])
    assert len(found["## Constraints/Rules"]) == 1
    assert reasons(summary, BILLING) == ()
    assert invented(summary, said(BILLING)) == []


def test_a_model_s_summary_with_other_headings_is_carried_on_as_well() -> None:
    earlier = (
        "## Goal\nShip the port\n\n## Constraints & Preferences\n- Python only\n\n## Progress\n"
        "### Done\n- [x] parser\n### In Progress\n- [ ] writer\n\n## Next Steps\n1. tests\n\n"
        "<read-files>\n/a\n</read-files>"
    )
    found = sections(extractive_summary(plain([user("go on")], previous_summary=earlier)))
    assert found["## Goal"] == ["Ship the port"]
    assert found["## Constraints & Preferences"] == ["Python only"]
    assert found["### Done"] == ["parser"]
    assert found["## Next Steps"] == ["writer", "tests"]
    assert "/a" not in str(found)


def test_the_identifiers_of_a_summary_without_a_list_of_them_are_carried_on() -> None:
    earlier = "## Goal\n- ship 9f8e7d6c5b4a to db.acme.io:5432\n\n## Progress\n### Done\n- it"
    summary = extractive_summary(plain([user("go on")], previous_summary=earlier))
    assert sections(summary)["### Exact identifiers"] == ["9f8e7d6c5b4a", "db.acme.io:5432"]


def test_turns_that_were_kept_word_for_word_are_not_lost_by_the_next_summary() -> None:
    earlier = (
        f"{extractive_summary(structured(BILLING[:2]))}\n\n## Recent turns preserved verbatim\n"
        "- User: count the rows\n- Assistant: there are nine\n\n## Tool Failures\n- exec: broken"
    )
    found = sections(extractive_summary(structured([user("thanks")], previous_summary=earlier)))
    assert found["## Pending user asks"][:2] == ["thanks", "count the rows"]
    assert "there are nine" in found["## Decisions"]
    assert found["## Open TODOs"] == ["Failed: exec: broken"]


def test_a_call_without_messages_has_its_headings_all_the_same() -> None:
    found = sections(extractive_summary(structured([])))
    assert list(found.values()) == [["None."]] * 4 + [["None captured."]]


def test_a_list_belongs_to_the_line_above_it() -> None:
    messages = [
        user("Please build it.\n\nNever do these:\n- push to main\n1. drop tables\nThanks!")
    ]
    found = sections(extractive_summary(structured(messages)))
    assert found["## Constraints/Rules"] == [
        "Never do these: drop tables", "Never do these: push to main",
    ]  # fmt: skip
    plan = [
        user("plan"),
        assistant("Next steps:\n- [x] parser\n- [ ] writer\n- tests\nDone so far."),
    ]
    found = sections(extractive_summary(structured(plan)))
    assert found["## Open TODOs"] == ["tests", "writer"]


def test_the_prompt_of_a_memory_flush_is_no_ask() -> None:
    messages = [user("count"), assistant("nine"), user(FLUSH_USER_TEXT), assistant("NO_REPLY")]
    found = sections(extractive_summary(structured([*messages, user("thanks a lot")])))
    assert found["## Pending user asks"] == ["thanks a lot"]
    assert found["## Decisions"] == ["count → nine"]


def test_a_curled_apostrophe_is_an_apostrophe() -> None:
    found = sections(extractive_summary(structured([user("Don’t touch the cache, ok?")])))
    assert found["## Constraints/Rules"] == ["Don’t touch the cache, ok?"]


def test_code_and_heartbeats_are_not_quoted() -> None:
    messages = [
        user("Always use tabs.\n```\nyou must never quote this\n```"),
        assistant("HEARTBEAT_OK"), assistant("NO_REPLY"),
    ]  # fmt: skip
    summary = extractive_summary(structured(messages))
    assert sections(summary)["## Constraints/Rules"] == ["Always use tabs."]
    assert "HEARTBEAT_OK" not in summary and "NO_REPLY" not in summary


def test_a_small_answer_keeps_the_last_ask_and_the_identifiers() -> None:
    summary = extractive_summary(structured(BILLING, reserve_tokens=300))
    assert js.utf8_len(summary) <= 2 * 240
    assert reasons(summary, BILLING) == ()


def test_it_answers_to_its_name() -> None:
    assert Extractive().name == "extractive"
    assert Extractive().summarise(structured(BILLING)) == extractive_summary(structured(BILLING))


WORDS = st.sampled_from(
    ["must", "never", "we decided", "because", "TODO", "汉字必须", "絶対に", "/var/log/x.log", "😀",
     "deadbeef01", "http://h.io/p", "## Decisions", "- [ ]", "```", "None.", "\n", ". ", "。", "\ud800"]
)  # fmt: skip
TEXTS = st.lists(WORDS | st.text(max_size=12), max_size=30).map(" ".join)
MESSAGES = st.lists(
    st.one_of(
        st.builds(user, TEXTS),
        st.builds(assistant, TEXTS),
        st.builds(assistant, TEXTS, st.sampled_from("abc")),
        st.builds(result, st.sampled_from("abc"), TEXTS, isError=st.booleans()),
        st.builds(lambda text: {"role": "branchSummary", "summary": text}, TEXTS),
        st.sampled_from([{"role": "user"}, {"role": "assistant", "content": [None, "x", {}]}, {}]),
    ),
    max_size=25,
)


@given(MESSAGES, st.none() | TEXTS, st.integers(200, 3000), st.booleans())
@settings(max_examples=150, deadline=None)
def test_whatever_was_said_a_summary_has_its_headings_and_keeps_to_its_room(
    messages: list[Any], previous: str | None, reserve: int, safeguarded: bool
) -> None:
    make = structured if safeguarded else plain
    call = make(messages, previous_summary=previous, reserve_tokens=reserve)
    summary = extractive_summary(call)
    assert summary == extractive_summary(call)
    assert js.utf16_len(summary) <= 8000
    assert js.utf8_len(summary) <= max(2 * call.max_output(None), 320)
    if safeguarded:
        assert not [r for r in reasons(summary, []) if r.startswith("missing_section")]
    assert invented(summary, said([*messages, user(previous or "")])) == []
