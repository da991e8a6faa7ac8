"""Files of other agents in the database: as they grow, their sidechains, and what they are called."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from sessions_app.importers import read_transcript
from sessions_app.imports import import_file
from sessions_app.models import Entry, Session, Window
from sessions_app.rows import entries_of_window
from tests.conftest import Person, source_of
from tests.importers.other_agents import (
    CODEX,
    USER,
    claude,
    claude_block,
    tool_result,
    tool_use,
)
from tests.importers.reading import DATA, SAMPLES

pytestmark = pytest.mark.django_db


def lines(*records: Any) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def stored(window: Window) -> list[Any]:
    return [
        (e.seq, e.line, e.id, e.parent_seq, e.type, e.record) for e in entries_of_window(window)
    ]


def whole(data: bytes) -> list[Any]:
    return [
        (e.seq, e.line, e.id, e.parent_seq, e.type, e.record)
        for e in read_transcript([data]).entries
    ]


@pytest.mark.parametrize("name", ["claude-code-9-head", "codex-4-head", "kimi-wire-3-head"])
def test_a_file_that_grows_is_stored_as_the_whole_one(alice: Person, name: str) -> None:
    data = (DATA / "other_agents" / f"{name}.jsonl").read_bytes()
    parts = data.splitlines(keepends=True)
    for count in (3, len(parts) // 3, len(parts) // 2, len(parts)):
        import_file(alice.team, source_of(b"".join(parts[:count])))
    window = Window.objects.get()
    assert stored(window) == whole(data)
    assert window.entry_count == Entry.objects.count()
    assert import_file(alice.team, source_of(data)).status == "unchanged"


def test_a_call_that_goes_on_after_an_import_is_one_call_all_the_same(alice: Person) -> None:
    first = [USER, claude_block("a1", "u1", {"type": "text", "text": "I look"})]
    more = [claude_block("a2", "a1", tool_use("t")), claude("user", "r", "a2", tool_result("t"))]
    import_file(alice.team, source_of(lines(*first)))
    assert Entry.objects.count() == 2
    import_file(alice.team, source_of(lines(*first, *more)))
    assert [entry.role for entry in Entry.objects.order_by("seq")] == [
        "user",
        "assistant",
        "toolResult",
    ]
    assert Session.objects.get().facts["calls"] == 1


def test_sidechains_are_sessions_below_the_one_they_stand_in(alice: Person) -> None:
    side = claude("user", "s1", None, {"role": "user", "content": "Task"}, isSidechain=True)
    answer = {
        **claude_block("s2", "s1", {"type": "text", "text": "Working"}, "ms"),
        "isSidechain": True,
    }
    first = [USER, claude_block("a1", "u1", tool_use("t")), side]
    import_file(alice.team, source_of(lines(*first), "work.jsonl"))
    done = import_file(alice.team, source_of(lines(*first, answer), "work.jsonl"))
    main = Session.objects.get(parent=None)
    child = Session.objects.get(parent=main)
    assert done.sides == (child,)
    assert (main.entry_count, child.entry_count) == (2, 2)
    assert child.title == "work · sidechain 1"


@pytest.mark.parametrize(
    ("path", "source", "title"),
    [
        (DATA / "other_agents" / "kimi-wire-3-head.jsonl", "kimi", "Kimi"),
        (DATA / "other_agents" / "gemini-cli-2.json", "gemini-cli", "Gemini CLI"),
        (SAMPLES / "pi-v3-1-two-compactions.jsonl", "pi", "pi"),
        (SAMPLES / "openclaw-1-large-tool-results.jsonl", "openclaw", "OpenClaw"),
    ],
)
def test_a_session_says_which_program_wrote_it(
    alice: Person, path: Any, source: str, title: str
) -> None:
    session = import_file(alice.team, source_of(path.read_bytes(), path.name)).session
    assert (session.source, session.source_title) == (source, title)


def test_the_page_of_another_agents_session_says_whose_it_is(alice: Person) -> None:
    session = import_file(alice.team, source_of(lines(*CODEX))).session
    page = alice.client.get(f"/sessions/{session.uuid}/").content.decode()
    assert "imported from Codex" in page
    assert "had managed" in page


def gemini(*messages: Any) -> bytes:
    """A session of Gemini CLI as it writes it: one document, on many lines."""
    document = {"sessionId": "g1", "projectHash": "p", "startTime": "2026-01-01T00:00:00Z", "messages": list(messages)}  # fmt: skip
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def gemini_message(number: int, kind: str, text: str, **more: Any) -> dict[str, Any]:
    at = f"2026-01-01T00:00:{number:02}Z"
    return {"id": f"m{number}", "timestamp": at, "type": kind, "content": text, **more}


ASKED = gemini_message(1, "user", "list the files")
CALL = {"id": "c1", "name": "ls", "args": {}, "status": "success", "result": "a.txt"}
RUNNING = gemini_message(2, "gemini", "I look", toolCalls=[{**CALL, "status": "executing", "result": None}])  # fmt: skip
ANSWERED = gemini_message(2, "gemini", "I look", toolCalls=[CALL])


def test_a_document_that_is_written_anew_goes_on_with_its_session(alice: Person) -> None:
    stages = [[ASKED], [ASKED, RUNNING], [ASKED, ANSWERED], [ASKED, ANSWERED, gemini_message(3, "user", "thanks")]]  # fmt: skip
    statuses = [import_file(alice.team, source_of(gemini(*stage))).status for stage in stages]
    assert statuses == ["imported", "extended", "extended", "extended"]
    assert stored(Window.objects.get()) == whole(gemini(*stages[-1]))
    assert import_file(alice.team, source_of(gemini(*stages[-1]))).status == "unchanged"
    assert Session.objects.get().entry_count == Entry.objects.count() == 4


@pytest.mark.parametrize(
    "other",
    [
        gemini(gemini_message(1, "user", "something else"), ANSWERED),
        gemini(ASKED),
        gemini(ASKED, ANSWERED).replace(b'"g1"', b'"g2"'),
    ],
    ids=["another past", "less than before", "another session"],
)
def test_what_is_no_continuation_is_a_session_of_its_own(alice: Person, other: bytes) -> None:
    import_file(alice.team, source_of(gemini(ASKED, ANSWERED)))
    before = stored(Window.objects.get())
    assert import_file(alice.team, source_of(other)).status == "imported"
    assert stored(Window.objects.order_by("pk").first()) == before  # type: ignore[arg-type]


def test_another_teams_document_stays_theirs(alice: Person, bob: Person) -> None:
    import_file(alice.team, source_of(gemini(ASKED)))
    assert import_file(bob.team, source_of(gemini(ASKED, ANSWERED))).status == "imported"
    assert Window.objects.filter(session__team=alice.team).get().entry_count == 1
