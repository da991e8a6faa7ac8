"""Appending to live sessions: in order, all or nothing, numbered, and as an import would store it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app import store
from sessions_app.events import announce, events_after
from sessions_app.live_sessions import archive_session, create_session, delete_session
from sessions_app.models import Agent, Entry, Event, Session, Window
from sessions_app.payload import record_of
from sessions_app.rows import columns_of_window
from sessions_app.writing import (
    BadMessage,
    CannotWrite,
    HeadMoved,
    JsonObject,
    LiveState,
    Verdict,
    store_as_sent,
)
from tests.builders import FIRST_MS, usage
from tests.conftest import Person

Json = dict[str, Any]


@pytest.fixture
def session(alice: Person) -> Session:
    agent = Agent.objects.create(team=alice.team, name="main", is_live=True)
    return create_session(agent, now_ms=FIRST_MS)


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def call(identity: str) -> Json:
    block = {"type": "toolCall", "id": identity, "name": "read", "arguments": {"path": "a"}}
    return {"role": "assistant", "content": [block], "model": "m", "provider": "p",
            "stopReason": "toolUse", "usage": usage(100, 5)}  # fmt: skip


def rows(session: Session) -> list[Entry]:
    return list(Entry.objects.filter(window__session=session).order_by("seq"))


def test_messages_are_stored_in_the_order_given_each_below_the_one_before(
    session: Session,
) -> None:
    first = store.append(session, [user("one"), user("two")], store_as_sent)
    second = store.append(session, [user("three")], store_as_sent)
    stored = rows(session)
    assert [row.excerpt for row in stored] == ["one", "two", "three"]
    assert [row.parent_seq for row in stored] == [None, 0, 1]
    assert [r.id for r in (*first.receipts, *second.receipts)] == [row.entry_id for row in stored]
    assert (second.head, second.first_seq, second.entries) == (stored[2].entry_id, 2, 3)
    assert second.tokens == stored[2].tokens > 0


def test_an_entry_is_what_the_runtime_would_write_and_counts_its_bytes(session: Session) -> None:
    store.append(session, [user("one"), call("c1")], store_as_sent, now_ms=FIRST_MS + 5)
    first, second = (record_of(row.payload) for row in rows(session))
    assert list(first) == ["type", "id", "parentId", "timestamp", "message"]
    assert first["parentId"] is None and second["parentId"] == first["id"]
    assert first["timestamp"] == "2026-01-01T00:00:00.005Z"
    assert first["message"]["timestamp"] == FIRST_MS + 5
    window = session.windows.get()
    assert window.content_lines == 3
    session.refresh_from_db()
    assert (session.model, session.provider, session.entry_count) == ("m", "p", 2)


def test_a_message_keeps_a_time_of_its_own(session: Session) -> None:
    store.append(session, [{**user("one"), "timestamp": 7}], store_as_sent)
    assert record_of(rows(session)[0].payload)["message"]["timestamp"] == 7


def test_a_clock_that_goes_backwards_does_not_turn_the_session_around(session: Session) -> None:
    store.append(session, [user("one")], store_as_sent, now_ms=FIRST_MS + 60_000)
    store.append(session, [user("two")], store_as_sent, now_ms=FIRST_MS)
    assert [row.at_ms for row in rows(session)] == [FIRST_MS + 60_000] * 2


def test_the_guard_may_store_more_less_or_something_else(session: Session) -> None:
    def guard(message: JsonObject, state: LiveState, now_ms: int) -> tuple[Verdict, LiveState]:
        seen = {"seen": state.guard.get("seen", 0) + 1}
        text = message["content"]
        after = LiveState(state.index, seen, state.run, state.queued)
        if text == "more":
            return Verdict((user("before"), user("more"), user("after")), 1), after
        if text == "less":
            return Verdict((user("instead"),), None, "blocked_by_hook"), after
        return Verdict((), None, "suppressed", ({"why": "none"},)), after

    done = store.append(session, [user("more"), user("less"), user("none")], guard)
    ids = [row.entry_id for row in rows(session)]
    assert [row.excerpt for row in rows(session)] == ["before", "more", "after", "instead"]
    assert [(r.id, r.added, r.reason) for r in done.receipts] == [
        (ids[1], (ids[0], ids[2]), "stored"),
        (None, (ids[3],), "blocked_by_hook"),
        (None, (), "suppressed"),
    ]
    assert done.receipts[2].changes == ({"why": "none"},)
    session.refresh_from_db()
    assert session.guard == {"seen": 3}
    store.append(session, [user("none")], guard)
    session.refresh_from_db()
    assert session.guard == {"seen": 4}


def test_an_expected_head_must_be_the_last_entry(session: Session) -> None:
    head = store.append(session, [user("one")], store_as_sent, expected_head="").head
    assert head is not None
    with pytest.raises(HeadMoved) as moved:
        store.append(session, [user("two")], store_as_sent, expected_head="other")
    assert moved.value.head == head
    store.append(session, [user("two")], store_as_sent, expected_head=head)
    with pytest.raises(HeadMoved):
        store.append(session, [user("three")], store_as_sent, expected_head=head)
    assert len(rows(session)) == 2


@pytest.mark.parametrize("bad", ["text", {"content": "x"}, {"role": ""}, {"role": 3}, None])
def test_one_bad_message_keeps_all_out(session: Session, bad: Any) -> None:
    with pytest.raises(BadMessage) as refused:
        store.append(session, [user("one"), bad], store_as_sent)
    assert refused.value.number == 1
    assert rows(session) == [] and Event.objects.count() == 0


def test_a_message_nested_too_deeply_is_refused_by_its_number(session: Session) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(BadMessage, match="Message 1: cannot be stored"):
        store.append(session, [user("one"), {**user("x"), "deep": deep}], store_as_sent)
    assert rows(session) == []


def test_text_that_no_database_takes_is_kept_in_the_payload(session: Session) -> None:
    text = "nul \x00 and a lone \ud800 surrogate"
    store.append(session, [user(text)], store_as_sent)
    assert record_of(rows(session)[0].payload)["message"]["content"] == text


def test_recordings_archived_and_deleted_sessions_take_nothing(
    alice: Person, session: Session
) -> None:
    recording = Session.objects.create(team=alice.team, title="recording")
    Window.objects.create(session=recording)
    with pytest.raises(CannotWrite, match="never changed"):
        store.append(recording, [user("one")], store_as_sent)
    archive_session(session)
    with pytest.raises(CannotWrite, match="archived"):
        store.append(session, [user("one")], store_as_sent)
    gone = Session.objects.get(pk=session.pk)
    delete_session(session)
    with pytest.raises(CannotWrite, match="gone"):
        store.append(gone, [user("one")], store_as_sent)


def test_entries_of_other_types_hang_where_they_say_and_know_what_they_keep(
    session: Session,
) -> None:
    ids = [r.id for r in store.append(session, [user("1"), user("2")], store_as_sent).receipts]
    with store.writing(session) as writer:
        kept = {"type": "compaction", "summary": "s", "firstKeptEntryId": ids[0], "tokensBefore": 9}
        ((made, _),) = writer.append_entries([kept])
        ((side, _),) = writer.append_entries(
            [{"type": "message", "parentId": ids[0], "message": user("side")}]
        )
    assert (made.kept_seq, made.parent_seq) == (0, 1)
    assert (side.parent_seq, writer.head) == (0, side.id)
    assert columns_of_window(session.windows.get()).branch().tolist() == [0, 3]


def test_a_rewrite_is_told_from_what_it_copies(session: Session) -> None:
    sent = [{**user(str(n)), "timestamp": n} for n in range(3)]
    ids = [r.id for r in store.append(session, sent, store_as_sent).receipts]
    with store.writing(session) as writer:
        writer.append_entries(
            [
                {"type": "message", "parentId": ids[0], "message": sent[1]},
                {"type": "message", "message": sent[2]},
            ]
        )
    store.append(session, [user("new")], store_as_sent)
    assert [row.mark for row in rows(session)] == ["", "", "", "copy", "copy", ""]


def test_equal_messages_in_one_append_are_honest_repetitions(session: Session) -> None:
    store.append(session, [user("yes"), user("yes"), user("yes")], store_as_sent)
    assert [row.mark for row in rows(session)] == ["", "", ""]


def test_the_turn_of_a_flush_is_marked_over_several_appends(session: Session) -> None:
    store.append(session, [user("Continue the OpenClaw runtime event.")], store_as_sent)
    store.append(session, [{"role": "assistant", "content": "NO_REPLY"}], store_as_sent)
    store.append(session, [user("go on")], store_as_sent)
    assert [row.mark for row in rows(session)] == ["flush", "flush", ""]


def test_a_writer_that_fails_leaves_nothing(session: Session) -> None:
    with pytest.raises(RuntimeError), store.writing(session) as writer:
        writer.append([user("one")], store_as_sent)
        writer.event("note", {})
        raise RuntimeError
    assert rows(session) == [] and events_after(session, 0) == []


def test_events_are_numbered_without_gaps(session: Session) -> None:
    store.append(session, [user("one"), user("two")], store_as_sent)
    announce(session, "note", {"text": "nul \x00"})
    with store.writing(session) as writer:
        number = writer.event("done", {})
    told = events_after(session, 0)
    assert [(e.sequence, e.kind) for e in told] == [(1, "entries"), (2, "note"), (3, "done")]
    assert number == 3
    assert told[0].data == {"from": 0, "count": 2, "head": rows(session)[-1].entry_id}
    assert [e.sequence for e in events_after(session, 1, limit=1)] == [2]


def test_the_number_of_queries_does_not_grow_with_what_is_sent(session: Session) -> None:
    with CaptureQueriesContext(connection) as few:
        store.append(session, [user("one")], store_as_sent)
    with CaptureQueriesContext(connection) as many:
        store.append(session, [user(str(n)) for n in range(20)], store_as_sent)
    assert len(many) == len(few) <= 8


def test_a_fork_begins_with_the_parents_branch_and_an_isolated_child_empty(
    session: Session,
) -> None:
    ids = [r.id for r in store.append(session, [user("1"), user("2")], store_as_sent).receipts]
    with store.writing(session) as writer:
        writer.append_entries([{"type": "message", "parentId": ids[0], "message": user("side")}])
    assert session.agent is not None
    fork = create_session(session.agent, "fork", parent=session, fork=True)
    alone = create_session(session.agent, "alone", parent=session)
    assert [row.excerpt for row in rows(fork)] == ["1", "side"]
    assert [row.parent_seq for row in rows(fork)] == [None, 0]
    assert rows(alone) == []
    assert (fork.spawned, alone.spawned, session.spawned) == ("fork", "isolated", "")
    assert set(session.children.all()) == {fork, alone}
    store.append(fork, [user("only here")], store_as_sent)
    assert len(rows(session)) == 3
