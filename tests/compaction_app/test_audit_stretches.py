"""A long session's audit in stretches says what the audit of the whole says."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from compaction_app import audit_stretches, audits
from compaction_app.audit_stretches import Stretch, can_be_stretched, stretches_of
from compaction_app.models import AuditedTurn, Decision
from sessions_app.batches import import_files
from sessions_app.entries import window_of
from sessions_app.models import Job, Session, Team
from tests.builders import short_session
from tests.compaction_app.audited import audited
from tests.compaction_app.conftest import source
from tests.engine.builders import Script, chat

pytestmark = pytest.mark.django_db

RUNS = ("keep-small-32k", "growth-96k-dense")


def rows(session: Session) -> list[tuple[Any, ...]]:
    names = ("turn", "stage", "run", "attempt", "call", "fired", "outcome", "reason", "inputs")
    return list(session.decisions.order_by("turn", "id").values_list(*names))


def turns(session: Session) -> list[tuple[Any, ...]]:
    names = ("number", "start", "prompt", "kind", "outcome", "agrees", "sent", "index", "events")
    return list(AuditedTurn.objects.filter(session=session).order_by("number").values_list(*names))


@pytest.fixture
def imports(team: Team, django_capture_on_commit_callbacks: Any) -> Any:
    """Import records as an upload would."""

    def bring(records: list[dict[str, Any]]) -> Session:
        text = "".join(json.dumps(record) + "\n" for record in records)
        with django_capture_on_commit_callbacks(execute=True):
            (report,) = import_files(team, [source("s.jsonl", text)])
        (session,) = report.sessions
        session.refresh_from_db()
        return session

    return bring


def forget(session: Session) -> None:
    AuditedTurn.objects.all().delete()
    Decision.objects.all().delete()


@pytest.mark.parametrize("name", RUNS)
def test_every_decision_is_that_of_the_whole(team: Team, settings: Any, name: str) -> None:
    session = audited(team, name)
    whole = rows(session), turns(session)
    forget(session)
    settings.AUDIT_ENTRIES = 10

    audits.audit_session(session)

    assert (rows(session), turns(session)) == whole


def test_it_goes_on_where_it_was_stopped(team: Team, settings: Any) -> None:
    session = audited(team, "keep-small-32k")
    whole = rows(session), turns(session)
    settings.AUDIT_ENTRIES = 10
    forget(session)

    class Stop(Exception):
        pass

    def until(turn: int) -> None:
        if turn == 20:
            raise Stop

    with pytest.raises(Stop):
        audits.audit_session(session, until)
    assert AuditedTurn.objects.count() == 20
    audits.audit_session(session)

    assert (rows(session), turns(session)) == whole


def test_memory_holds_one_cycle_at_a_time(
    team: Team, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_stretches, "MARGIN", 0)
    session = audited(team, "keep-small-32k")
    settings.AUDIT_ENTRIES = 10
    read: list[int] = []
    real = audit_stretches.read_recording

    def counted(entries: Any) -> Any:
        read.append(len(entries))
        return real(entries)

    monkeypatch.setattr(audit_stretches, "read_recording", counted)
    forget(session)
    audits.audit_session(session)
    assert len(read) > 3
    assert max(read) < session.entry_count * 0.7


def test_no_stretch_holds_on_to_the_messages_of_another(
    team: Team, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = audited(team, "keep-small-32k")
    settings.AUDIT_ENTRIES = 10
    rules: list[Any] = []
    real = audit_stretches.audited_turns

    def seen(inputs: Any, since: Any) -> Any:
        rules.append(inputs.rule)
        return real(inputs, since)

    monkeypatch.setattr(audit_stretches, "audited_turns", seen)
    forget(session)
    audits.audit_session(session)
    assert len({id(rule.weights) for rule in rules}) == len(rules) > 3
    assert len({rule.density for rule in rules}) == 1


def test_a_stretch_begins_behind_the_first_turn_after_a_compaction() -> None:
    script = chat(4).compaction("e5")  # entry 8
    for _ in range(5):
        script.user().answer()
    whole, after = stretches_of(script.grown())
    assert whole == Stretch(0, 0, 11, 17)
    assert (after.begin, after.until, after.end) == (11, 19, 19)
    assert after.first == 0, "the margin reaches back to the beginning here"


def test_a_session_without_a_prompt_has_no_stretch() -> None:
    assert stretches_of(Script().answer().grown()) == []


def test_entries_that_branch_need_the_whole_session(imports: Any, settings: Any) -> None:
    settings.AUDIT_ENTRIES = 1
    records = short_session().records
    records.append({**records[-1], "id": "branch", "parentId": records[1]["id"]})
    session = imports(records)
    assert not can_be_stretched(window_of(session))
    assert audits.is_too_long(session)
    assert audits.request_audit(session) is None


def test_a_long_session_gets_its_audit_after_the_import(imports: Any, settings: Any) -> None:
    settings.AUDIT_ENTRIES = 1
    session = imports(short_session().records)
    assert not audits.is_too_long(session)
    assert Job.objects.filter(session=session, kind=audits.KIND).exists()


def test_the_numbers_of_entries_are_those_of_the_file(team: Team, settings: Any) -> None:
    settings.AUDIT_ENTRIES = 10
    session = audited(team, "growth-96k-dense")
    prompts = np.array(AuditedTurn.objects.order_by("number").values_list("prompt", flat=True))
    assert (np.diff(prompts) > 0).all()
    assert prompts[-1] > session.entry_count * 0.8
