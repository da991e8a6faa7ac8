"""A reported call that ran into its time limit: compacted and tried again where its prompt is large."""

from __future__ import annotations

import pytest

from compaction_app import live_turns
from compaction_app.models import Decision
from compaction_app.run_memory import memory_of, with_failure
from sessions_app import store
from sessions_app.models import Entry, Session
from tests.compaction_app.live import answer, live_session, user
from tests.conftest import Person

LARGE = round(32_000 * 0.65) + 1


@pytest.fixture
def session(alice: Person) -> Session:
    return live_session(alice)


def timed_out_at(session: Session, prompt: int) -> live_turns.Reported:
    live_turns.report_call(session, [user("x" * 8_000), answer("yes", prompt)])
    return live_turns.report_call(session, [user("more")], timed_out=True)


def compacted(session: Session) -> None:
    with store.writing(session) as writer:
        last = Entry.objects.filter(window=writer.window, role="user").order_by("-seq")[0]
        made = {"summary": "s", "firstKeptEntryId": last.entry_id, "tokensBefore": 9}
        writer.append_entries([{"type": "compaction", **made}])


def verdicts() -> list[tuple[bool, str]]:
    found = Decision.objects.filter(rule="timeout_recovery").order_by("id")
    return list(found.values_list("fired", "reason"))


def test_a_prompt_over_the_share_is_compacted_first(session: Session) -> None:
    reported = timed_out_at(session, LARGE)
    assert reported.next is not None and reported.next.compaction is not None
    assert reported.next.action == "compact"
    assert reported.next.compaction.trigger == "timeout_recovery"
    assert verdicts() == [(True, "prompt_fills_window")]
    again = live_turns.prepare(session).next
    assert again.action == "compact", "until it has been compacted"
    compacted(session)
    sent = live_turns.prepare(session).next
    assert sent.action == "send" and sent.context is not None
    assert [m["content"][0]["text"] for m in sent.context.messages][1:] == ["more"]


def test_at_the_share_the_call_is_just_tried_again(session: Session) -> None:
    reported = timed_out_at(session, LARGE - 1)
    assert reported.next is not None and reported.next.action == "send"
    assert verdicts() == [(False, "prompt_below_ratio")]


def test_there_are_two_such_compactions_in_a_run(session: Session) -> None:
    timed_out_at(session, LARGE)
    for _ in range(2):
        compacted(session)
        with store.writing(session) as writer:
            writer.state = store.LiveState(
                {**writer.state.index, "totalTokens": LARGE, "totalTokensFresh": True},
                writer.state.guard,
                writer.state.run,
            )
        live_turns.report_call(session, [], timed_out=True)
    assert [reason for _, reason in verdicts()] == [
        "prompt_fills_window",
        "prompt_fills_window",
        "timeout_compactions_spent",
    ]
    session.refresh_from_db()
    assert memory_of(store.state_of(session)).timed_out is None
    assert live_turns.prepare(session).next.action == "send"


def test_one_that_cannot_be_compacted_is_tried_again_as_it_is(session: Session) -> None:
    timed_out_at(session, LARGE)
    with store.writing(session) as writer:
        writer.state = with_failure(writer.state, "compact", writer.head, "nothing to compact")
    assert live_turns.prepare(session).next.action == "send"


def test_the_call_stands_in_the_session_as_one_that_failed(session: Session) -> None:
    timed_out_at(session, 1_000)
    last = Entry.objects.order_by("-seq")[0]
    assert (last.role, last.stop_reason) == ("assistant", "error")
