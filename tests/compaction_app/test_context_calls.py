"""A call read alone has the request that the audit of the whole session has."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from compaction_app import context_calls
from compaction_app.audits import simulation_of
from compaction_app.context_at_call import told_context
from compaction_app.context_calls import CallReader
from compaction_app.engine.context_at_call import Original, request_of
from compaction_app.engine.simulation.audit import audit
from compaction_app.engine.turn.requests import Context
from compaction_app.live_turns import report_call
from compaction_app.runs import situation_of
from sessions_app.models import Session, Team
from sessions_app.rows import entries_at
from sessions_app.tokens.message_tokens import OPENCLAW_2026_5_28
from sessions_app.workspace import write_files
from tests.builders import short_session
from tests.compaction_app.audited import audited
from tests.compaction_app.live import answer, live_session, user
from tests.conftest import Person


@pytest.mark.parametrize(
    "name",
    ["growth-96k-dense", "tools-aggregate", "manual-compact", "prune-cache-ttl", "growth-32k"],
)
def test_a_call_read_alone_is_that_of_the_whole_audit(team: Team, name: str) -> None:
    session = audited(team, name)
    situation = situation_of(session)
    whole = {
        call.answer_id: call.context
        for done in audit(simulation_of(situation))
        for call in done.turn.result.calls
    }
    reader = CallReader(situation)
    ids = dict(session.windows.get().entries.values_list("seq", "entry_id"))

    for number in range(1, reader.calls + 1):
        call = reader.call(number)
        context = whole.get(ids[call.answer])
        if context is None:
            assert call.request is None
            continue
        assert call.request is not None, (number, call.problem)
        parts = call.request.parts
        assert [dict(p.message) for p in parts] == [dict(m) for m in context.messages], number
        assert sum(len(p.changes) for p in parts) == len(context.changes)
        assert all(part.sources for part in parts if part.kind != "other"), number


def test_only_what_the_turn_needs_is_loaded(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    session = audited(team)
    loaded: list[int] = []

    def noted(window: Any, seqs: Any) -> Any:
        loaded.append(len(seqs))
        return entries_at(window, seqs)

    monkeypatch.setattr(context_calls, "entries_at", noted)
    monkeypatch.setattr(context_calls, "MARGIN", 0)
    reader = CallReader(situation_of(session))
    call = reader.call(reader.calls)
    assert call.request is not None and call.request.parts[0].kind == "summary"
    with CaptureQueriesContext(
        connection,
    ) as asked:
        reader.call(reader.calls)
    assert len(asked) < 10
    assert max(loaded) < session.entry_count / 2


@pytest.mark.parametrize("number", [0, -1, 10_000])
def test_a_call_that_is_not_there_is_none(team: Team, number: int) -> None:
    reader = CallReader(situation_of(audited(team, "tools-aggregate")))
    with pytest.raises(IndexError):
        reader.call(number)


def test_a_session_without_an_audit_has_its_contexts_too(alice: Person) -> None:
    session = alice.imports(short_session().data())
    reader = CallReader(situation_of(session))
    call = reader.call(reader.calls)
    assert call.turn is None and call.request is not None
    assert call.request.parts[-1].sources


def test_a_live_session_shows_its_agent_as_it_was_at_the_call(alice: Person) -> None:
    session = live_session(alice)
    assert session.agent is not None
    write_files(session.agent, {"AGENTS.md": "old rules " * 40})
    report_call(session, [user("hello"), answer("yes", 100)])
    session = Session.objects.get(pk=session.pk)
    assert session.agent is not None
    write_files(session.agent, {"AGENTS.md": "new"})
    report_call(Session.objects.get(pk=session.pk), [user("again"), answer("yes", 120)])

    situation = situation_of(Session.objects.get(pk=session.pk))
    first, second = told_context(situation, 1), told_context(situation, 2)

    assert (first.system.known, second.system.known) == ("agent", "agent")
    assert (first.system.tokens or 0) > (second.system.tokens or 0) > 0
    assert [row.part.kind for row in first.rows] == ["user"]
    assert [row.part.kind for row in second.rows] == ["user", "assistant", "user"]
    assert second.prefix is not None and second.prefix.broken_at is None


@pytest.mark.parametrize("name", ["prune-cache-ttl", "growth-96k-dense"])
def test_a_reader_that_goes_backwards_through_a_turn_reads_the_same(team: Team, name: str) -> None:
    situation = situation_of(audited(team, name))
    reader = CallReader(situation)
    for number in range(min(reader.calls, 16), 8, -1):
        assert reader.call(number) == CallReader(situation).call(number)


def test_messages_that_were_joined_are_traced_among_many_that_are_alike() -> None:
    def block(text: str) -> dict[str, str]:
        return {"type": "text", "text": text}

    sent = [{"role": "user", "timestamp": n, "content": [block("same"), block(f"own {n}")]} for n in range(400)]  # fmt: skip
    originals = [Original(n, {**sent[n], "content": [block("same")]}) for n in range(400)]
    originals += [Original(400 + n, {"role": "user", "timestamp": -n - 1, "content": [block(f"own {n}")]}) for n in range(400)]  # fmt: skip
    request = request_of(Context(tuple(sent), tuple(sent), 0), originals, OPENCLAW_2026_5_28)  # fmt: skip
    assert [part.sources for part in request.parts] == [(n, 400 + n) for n in range(400)]
