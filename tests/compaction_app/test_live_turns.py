"""A live session from call to call: what to send, what must happen first, what a call leaves behind."""

from __future__ import annotations

import pytest

from compaction_app import live_turns
from compaction_app.models import Decision
from compaction_app.next_step import NothingToSend
from compaction_app.run_memory import memory_of, with_failure, with_preflight
from sessions_app import store
from sessions_app.models import Entry, Event, Session
from sessions_app.payload import record_of
from sessions_app.writing import HeadMoved
from tests.builders import FIRST_MS
from tests.compaction_app.live import answer, calls, live_session, result, user
from tests.conftest import Person


@pytest.fixture
def session(alice: Person) -> Session:
    return live_session(alice)


def entries(session: Session) -> list[Entry]:
    return list(Entry.objects.filter(window__session=session).order_by("seq"))


def turn(session: Session, text: str = "hello", prompt: int = 100) -> live_turns.Reported:
    return live_turns.report_call(session, [user(text), answer("yes", prompt)])


def index(session: Session) -> dict[str, object]:
    session.refresh_from_db()
    assert session.index_entry is not None
    return session.index_entry


def stored_counts() -> tuple[int, int, int]:
    return Entry.objects.count(), Event.objects.count(), Decision.objects.count()


def test_a_first_prompt_is_sent_as_it_is(session: Session) -> None:
    prepared = live_turns.prepare(session, user("hello"))
    assert prepared.next.action == "send" and prepared.head is None
    assert prepared.next.context is not None
    assert [m["content"] for m in prepared.next.context.messages] == [user("hello")["content"]]
    assert [d.rule for d in prepared.next.decisions][:2] == ["memory_flush", "preflight"]


def test_preparing_stores_nothing_and_answers_the_same_again(session: Session) -> None:
    turn(session)
    before, state = stored_counts(), index(session)
    first = live_turns.prepare(session, user("next"), FIRST_MS + 1)
    second = live_turns.prepare(session, user("next"), FIRST_MS + 1)
    assert (first.head, first.next.context, first.next.stages) == (
        second.head,
        second.next.context,
        second.next.stages,
    )
    assert stored_counts() == before and index(session) == state


def test_an_answer_leaves_its_usage_in_the_totals(session: Session) -> None:
    turn(session, prompt=1234)
    known = index(session)
    assert known["totalTokens"] == 1234 and known["totalTokensFresh"] is True
    assert (known["inputTokens"], known["outputTokens"]) == (1234, 10)
    assert known["contextTokens"] == 32_000


def test_a_turn_with_tools_sums_its_calls_and_knows_its_last_context(session: Session) -> None:
    live_turns.report_call(session, [user("read"), calls("c1", prompt=100)])
    assert "totalTokens" not in index(session)
    live_turns.append(session, [result("c1")])
    assert live_turns.prepare(session).next.action == "send"
    live_turns.report_call(session, [answer("done", 300)])
    known = index(session)
    assert (known["totalTokens"], known["inputTokens"]) == (300, 400)


def test_what_is_sent_in_the_middle_of_a_turn_is_prompt_call_and_result(session: Session) -> None:
    live_turns.report_call(session, [user("read"), calls("c1"), result("c1", "text")])
    prepared = live_turns.prepare(session)
    assert prepared.next.context is not None
    assert [m["role"] for m in prepared.next.context.messages] == [
        "user",
        "assistant",
        "toolResult",
    ]
    gates = [d.rule for d in prepared.next.decisions]
    assert "preflight" not in gates and "soft_guard" in gates


def test_without_a_prompt_there_is_nothing_to_send_behind_a_last_answer(session: Session) -> None:
    with pytest.raises(NothingToSend):
        live_turns.prepare(session)
    turn(session)
    with pytest.raises(NothingToSend):
        live_turns.prepare(session)


def test_a_stored_prompt_begins_its_turn_all_the_same(session: Session) -> None:
    turn(session, prompt=23_999)
    sent = live_turns.prepare(session, user("more"))
    live_turns.append(session, [user("more")])
    stored = live_turns.prepare(session)
    assert (stored.next.action, sent.next.action) == ("flush", "flush")
    assert [d.rule for d in stored.next.decisions] == [d.rule for d in sent.next.decisions]


def test_a_due_flush_goes_before_a_due_compaction_where_the_agent_wants_it(alice: Person) -> None:
    ours, theirs = live_session(alice), live_session(alice, name="b", flush_first=False)
    for session in (ours, theirs):
        turn(session, "x" * 8_000, prompt=27_000)
        turn(session, prompt=27_000)
    assert live_turns.prepare(ours, user("more")).next.action == "flush"
    due = live_turns.prepare(theirs, user("more")).next
    assert due.action == "compact" and due.compaction is not None
    assert due.compaction.trigger == "budget"


def test_the_flush_turn_is_handed_out_whole(session: Session) -> None:
    turn(session, prompt=24_000)
    due = live_turns.prepare(session, user("more")).next
    assert due.action == "flush" and due.context is not None
    assert due.context.messages[-1]["content"] == [
        {"type": "text", "text": "Continue the OpenClaw runtime event."}
    ]


def test_what_a_job_has_tried_in_vain_is_not_asked_for_again(session: Session) -> None:
    turn(session, "x" * 8_000, prompt=27_000)
    turn(session, prompt=27_000)
    assert live_turns.prepare(session, user("more")).next.action == "flush"
    with store.writing(session) as writer:
        writer.state = with_failure(writer.state, "flush", writer.head, "no model")
    assert live_turns.prepare(session, user("more")).next.action == "compact"
    with store.writing(session) as writer:
        writer.state = with_failure(writer.state, "compact", writer.head, "no model")
    done = live_turns.prepare(session, user("more")).next
    assert done.action == "blocked" and "no model" in (done.reply or "")


def test_decisions_of_a_reported_call_are_stored_fired_or_not(session: Session) -> None:
    turn(session)
    kept = list(Decision.objects.order_by("id"))
    assert {d.turn for d in kept} == {1} and {d.reading for d in kept} == {"live"}
    rules = [d.rule for d in kept]
    assert rules[:2] == ["memory_flush", "preflight"] and "inner_trigger" in rules
    turn(session)
    assert set(Decision.objects.values_list("turn", flat=True)) == {1, 2}


def test_the_last_answer_leaves_a_cache_marker_where_pruning_is_on(alice: Person) -> None:
    session = live_session(alice, {"contextPruning.mode": "cache-ttl"})
    turn(session)
    last = record_of(entries(session)[-1].payload)
    assert (last["type"], last["customType"]) == ("custom", "openclaw.cache-ttl")
    assert last["data"]["modelId"] == "claude-test"
    assert live_turns.prepare(session, user("next")).next.action == "send"


def test_a_threshold_that_the_last_answer_reaches_is_left_to_a_job(session: Session) -> None:
    turn(session, "x" * 8_000, prompt=1_000)
    reported = turn(session, prompt=25_000)
    assert reported.next is not None
    assert reported.next.action == "done" and reported.next.compaction is not None
    assert reported.next.compaction.trigger == "inner_threshold"
    assert index(session)["totalTokens"] == 25_000
    reasons = Decision.objects.filter(rule="compaction").values_list("reason", flat=True)
    assert list(reasons) == ["left_to_job"]


OVERFLOW = "prompt is too long: 40000 tokens > 32000 maximum"


def test_an_overflow_is_known_by_its_text_and_asks_for_a_compaction(session: Session) -> None:
    turn(session, "x" * 8_000)
    reported = live_turns.report_call(session, [user("more")], error=OVERFLOW)
    assert reported.next is not None and reported.next.compaction is not None
    assert (reported.next.action, reported.next.compaction.trigger) == ("compact", "overflow")
    assert entries(session)[-1].stop_reason == "error"
    assert len(reported.appended.receipts) == 1
    session.refresh_from_db()
    assert memory_of(store.state_of(session)).overflow_compactions == 1
    assert live_turns.prepare(session).next.action == "compact"


def test_after_the_compaction_the_prompt_is_sent_again(session: Session) -> None:
    turn(session, "x" * 8_000)
    live_turns.report_call(session, [user("more")], error=OVERFLOW)
    with store.writing(session) as writer:
        kept = entries(session)[-2].entry_id
        made = {"type": "compaction", "summary": "s", "firstKeptEntryId": kept, "tokensBefore": 9}
        writer.append_entries([made])
    again = live_turns.prepare(session).next
    assert again.action == "send" and again.context is not None
    texts = [message["content"][0]["text"] for message in again.context.messages]
    assert texts[0].endswith("<summary>\ns\n</summary>")
    assert texts[1:] == ["more"], "once, though the session holds it already"


def compacted(session: Session, kept: str) -> None:
    with store.writing(session) as writer:
        made = {"type": "compaction", "summary": "s", "firstKeptEntryId": kept, "tokensBefore": 9}
        writer.append_entries([made])


def test_after_a_compaction_in_the_middle_of_a_turn_its_tools_are_not_lost(
    session: Session,
) -> None:
    turn(session, "x" * 8_000)
    live_turns.report_call(session, [user("read"), calls("c1")])
    kept = entries(session)[-2].entry_id
    live_turns.report_call(session, [result("c1", "text")], error=OVERFLOW)
    compacted(session, kept)
    again = live_turns.prepare(session).next
    assert again.action == "send" and again.context is not None
    roles = [message["role"] for message in again.context.messages]
    assert roles[1:] == ["user", "assistant", "toolResult"]


def test_where_the_prompt_was_summarised_the_turn_goes_on_from_its_results(
    session: Session,
) -> None:
    turn(session, "x" * 8_000)
    live_turns.report_call(session, [user("read"), calls("c1")])
    kept = entries(session)[-1].entry_id
    live_turns.report_call(session, [result("c1", "text")], error=OVERFLOW)
    compacted(session, kept)
    again = live_turns.prepare(session).next
    assert again.context is not None
    assert [m["role"] for m in again.context.messages][1:] == ["assistant", "toolResult"]


def test_a_stored_prompt_is_sent_once_after_the_compaction_before_its_turn(
    session: Session,
) -> None:
    turn(session, "x" * 8_000)
    live_turns.append(session, [user("more")])
    compacted(session, entries(session)[-1].entry_id)
    again = live_turns.prepare(session).next
    assert again.context is not None
    texts = [message["content"][0]["text"] for message in again.context.messages]
    assert texts[1:] == ["more"]


def test_the_compaction_before_a_turn_runs_once_whatever_it_left(session: Session) -> None:
    turn(session, "x" * 8_000, prompt=27_000)
    turn(session, prompt=27_000)
    with store.writing(session) as writer:
        writer.state = with_failure(writer.state, "flush", writer.head, "no model")
    assert live_turns.prepare(session, user("more")).next.action == "compact"
    compacted(session, entries(session)[-2].entry_id)
    with store.writing(session) as writer:
        writer.state = with_failure(writer.state, "flush", writer.head, "no model")
    assert live_turns.prepare(session, user("more")).next.action == "compact"
    with store.writing(session) as writer:
        writer.state = with_preflight(writer.state)
    sent = live_turns.prepare(session, user("more")).next
    assert sent.action == "send", "the total is as large as before, and the turn goes on"
    live_turns.report_call(session, [user("more"), answer("yes", 27_000)])
    with store.writing(session) as writer:
        writer.state = with_failure(writer.state, "flush", writer.head, "no model")
    assert live_turns.prepare(session, user("next")).next.action == "compact", "once a turn"


def test_recovery_has_its_limits(session: Session) -> None:
    turn(session, "x" * 8_000)
    live_turns.report_call(session, [user("more")], error=OVERFLOW)
    with store.writing(session) as writer:
        writer.state = with_failure(writer.state, "compact", writer.head, "nothing to compact")
    blocked = live_turns.prepare(session).next
    assert blocked.action == "blocked" and "/new" in (blocked.reply or "")


def test_results_cut_after_an_overflow_leave_the_prompt_there_once(
    full_of_results: Session,
) -> None:
    session = full_of_results
    live_turns.report_call(session, [user("more")], error=OVERFLOW)
    with store.writing(session) as writer:
        writer.state = with_failure(writer.state, "compact", writer.head, "nothing to compact")
    again = live_turns.prepare(session).next
    assert again.action == "send" and again.context is not None and again.rewritten
    last = [m for m in again.context.messages if m["role"] == "user"][-1]
    assert [block["text"] for block in last["content"]] == ["more"]
    assert [m["role"] for m in again.context.messages][-2:] == ["assistant", "user"]


def test_another_error_lets_the_call_be_tried_again(session: Session) -> None:
    reported = live_turns.report_call(session, [user("more")], error="rate limit, try later")
    assert reported.next is not None and reported.next.action == "send"
    again = live_turns.prepare(session).next
    assert again.context is not None
    assert [m["role"] for m in again.context.messages] == ["user"]


def test_results_over_the_cap_are_cut_for_good_and_calls_without_result_get_one(
    session: Session,
) -> None:
    live_turns.report_call(session, [user("read"), calls("c1", "c2")])
    done = live_turns.append(session, [result("c1", "word " * 100_000), user("never mind")])
    assert [c["reason"] for c in done.receipts[0].changes] == ["capped"]
    assert done.receipts[0].changes[0]["beforeChars"] == 500_000
    assert len(done.receipts[1].added) == 1
    made = record_of(entries(session)[-2].payload)["message"]
    assert (made["toolCallId"], made["isError"]) == ("c2", True)


@pytest.fixture
def full_of_results(alice: Person) -> Session:
    """Two results that no longer fit together with a long prompt."""
    session = live_session(
        alice, {"contextWindow": 40_000, "contextLimits.toolResultMaxChars": 16_000}
    )
    for name in ("c1", "c2"):
        live_turns.report_call(session, [user("read"), calls(name, prompt=6_000)])
        live_turns.report_call(session, [result(name, "r" * 15_000), answer("ok", 6_000)])
    return session


LONG = user("x" * 9_000)


def test_a_truncation_appends_its_branch_when_the_call_is_reported(
    full_of_results: Session,
) -> None:
    session = full_of_results
    before = len(entries(session))
    prepared = live_turns.prepare(session, LONG).next
    assert prepared.action == "send" and prepared.rewritten
    assert len(entries(session)) == before
    live_turns.report_call(session, [LONG, answer("ok", 9_000)])
    rows = entries(session)
    copies = [row for row in rows if row.mark == "copy"]
    assert len(rows) == before + len(copies) + 2 and len(copies) == len(prepared.rewritten)
    assert min(row.result_chars for row in copies if row.role == "toolResult") < 15_000
    assert live_turns.prepare(session, user("next")).next.rewritten == ()


def test_a_truncation_moves_a_prompt_that_is_stored_already(full_of_results: Session) -> None:
    session = full_of_results
    live_turns.append(session, [LONG])
    assert live_turns.prepare(session).next.rewritten
    live_turns.report_call(session, [answer("ok", 9_000)])
    rows = {row.seq: row for row in entries(session)}
    last = rows[max(rows)]
    assert last.parent_seq is not None
    prompt = rows[last.parent_seq]
    assert (prompt.role, prompt.mark, prompt.excerpt[:3]) == ("user", "copy", "xxx")
    before = rows[prompt.parent_seq] if prompt.parent_seq is not None else None
    assert before is not None and before.mark == "copy"


def test_each_decision_knows_its_turn_and_its_call(session: Session) -> None:
    turn(session)
    live_turns.report_call(session, [user("read"), calls("c1", prompt=200)])
    live_turns.append(session, [result("c1")])
    live_turns.report_call(session, [answer("done", 300)])
    guarded = Decision.objects.filter(rule="soft_guard").order_by("id")
    assert list(guarded.values_list("turn", "call")) == [(1, 1), (2, 1), (2, 2)]
    behind = Decision.objects.filter(rule="cache_touch_marker").order_by("id")
    live_turns.append(session, [user("again"), calls("c2"), result("c2"), answer("done", 400)])
    assert list(behind.values_list("turn", "call")) == [(1, 2), (2, 3), (3, 3)]


def test_a_call_is_reported_at_an_expected_head_or_not_at_all(session: Session) -> None:
    head = turn(session).appended.head
    turn(session)
    with pytest.raises(HeadMoved):
        live_turns.report_call(session, [user("x"), answer("y")], expected_head=head)


def blocked(session: Session) -> None:
    """A session whose turns cannot begin: what must happen first has failed."""
    turn(session, "x" * 8_000, prompt=27_000)
    with store.writing(session) as writer:
        for work in ("flush", "compact"):
            writer.state = with_failure(writer.state, work, writer.head, "no model")


def test_a_prompt_whose_turn_is_blocked_is_stored_with_its_reply(session: Session) -> None:
    blocked(session)
    told = live_turns.prepare(session, user("more")).next
    assert told.action == "blocked"
    reported = live_turns.report_call(session, [user("more")])
    assert reported.next is not None
    assert (reported.next.action, reported.next.reply) == ("blocked", told.reply)
    prompt, reply = (record_of(row.payload)["message"] for row in entries(session)[-2:])
    assert prompt["content"] == user("more")["content"]
    assert (reply["role"], reply["model"]) == ("assistant", "gateway-injected")
    assert told.reply in reply["content"][0]["text"]
    assert [stage.stage for stage in reported.stages][:1] == ["flush"]
    again = live_turns.prepare(session, user("again")).next
    assert again.stages[0].stage == "flush", "the turn is over, a new one begins"


def test_a_stored_prompt_whose_turn_is_blocked_is_confirmed_by_nothing_at_all(
    session: Session,
) -> None:
    turn(session, "x" * 8_000)
    live_turns.report_call(session, [user("more")], error=OVERFLOW)
    before = len(entries(session))
    with pytest.raises(live_turns.NothingReported):
        live_turns.report_call(session, [])
    assert len(entries(session)) == before
    with store.writing(session) as writer:
        writer.state = with_failure(writer.state, "compact", writer.head, "nothing to compact")
    told = live_turns.prepare(session).next
    assert told.action == "blocked"
    reported = live_turns.report_call(session, [])
    assert reported.next is not None and reported.next.reply == told.reply
    assert record_of(entries(session)[-1].payload)["message"]["model"] == "gateway-injected"
    with pytest.raises(NothingToSend):
        live_turns.prepare(session)


def test_a_prompt_alone_is_stored_and_judged_before_its_call(session: Session) -> None:
    reported = live_turns.report_call(session, [user("more")])
    assert (reported.next, reported.stages) == (None, ())
    assert [row.role for row in entries(session)] == ["user"]
    assert live_turns.prepare(session).next.action == "send"


def test_a_recovery_that_gives_up_leaves_its_reply_in_the_session(session: Session) -> None:
    turn(session, "x" * 8_000)
    reported = None
    for _ in range(5):
        messages = [] if reported else [user("more")]
        reported = live_turns.report_call(session, messages, error=OVERFLOW)
        assert reported.next is not None
        if reported.next.action == "blocked":
            break
        with store.writing(session) as writer:
            compacted_at = entries(session)[-1].entry_id
            made = {"summary": "s", "firstKeptEntryId": compacted_at, "tokensBefore": 9}
            writer.append_entries([{"type": "compaction", **made}])
    assert reported is not None and reported.next is not None
    assert reported.next.action == "blocked" and "/new" in (reported.next.reply or "")
    reply = record_of(entries(session)[-1].payload)["message"]
    assert (reply["model"], reply["content"][0]["text"]) == (
        "gateway-injected",
        reported.next.reply,
    )


def test_what_follows_an_appended_answer_is_decided_as_behind_a_reported_call(
    alice: Person,
) -> None:
    reported, appended = live_session(alice), live_session(alice, name="b")
    for prompt in (1_000, 27_000):
        said = answer("yes", prompt=prompt)
        # A message with a time of its own is judged on the whole session, not by its usage alone.
        first = live_turns.report_call(reported, [user("more"), {**said, "timestamp": FIRST_MS}])
        second = live_turns.append_messages(appended, [user("more"), said])
        assert first.next is not None and second.next is not None
        judged = [(stage.stage, stage.decision) for stage in second.stages]
        assert [(s.stage, s.decision) for s in first.stages[-len(judged) :]] == judged
        assert second.next.action == first.next.action == "done"
        assert (second.next.compaction is None) == (first.next.compaction is None)
    assert second.next.compaction is not None
    rules = Decision.objects.filter(session=appended).values_list("rule", flat=True)
    assert "inner_trigger" in rules


def test_messages_in_the_middle_of_a_turn_decide_nothing(session: Session) -> None:
    assert live_turns.append_messages(session, [user("read"), calls("c1")]).stages == ()
    assert live_turns.append_messages(session, [result("c1")]).stages == ()
    assert not Decision.objects.exists()


def test_each_receipt_tells_what_its_message_weighs(session: Session) -> None:
    done = live_turns.append(session, [user("x" * 400), answer("y" * 40, prompt=1_000, output=30)])
    assert [receipt.tokens for receipt in done.receipts] == [100, 10]
    assert [receipt.billed for receipt in done.receipts] == [None, 1_030]
    assert done.tokens == 110
