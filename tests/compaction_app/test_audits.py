"""The audit of an imported session: every turn's decisions, kept as rows, once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compaction_app import audits, decisions
from compaction_app.engine.rule_sets import OPENCLAW_2026_4_20
from compaction_app.models import AuditedTurn, Decision
from compaction_app.runs import situation_of
from compaction_app.tasks import audit_session
from sessions_app.batches import import_files
from sessions_app.folders import walk
from sessions_app.imports import Source
from sessions_app.models import Job, Session, Team
from tests.builders import short_session
from tests.compaction_app.audited import audited
from tests.compaction_app.conftest import source
from tests.engine.simulation.auditing import exact_decisions
from tests.golden import runs

Import = Callable[[Path], Session]


@pytest.fixture
def imports(team: Team, django_capture_on_commit_callbacks: Any) -> Import:
    """Import a folder as an upload would; returns its session."""

    def bring(folder: Path) -> Session:
        sources = [Source.of_path(path, path.relative_to(folder).as_posix()) for path in walk(folder)]  # fmt: skip
        with django_capture_on_commit_callbacks(execute=True):
            reports = list(import_files(team, sources))
        (session,) = [session for report in reports for session in report.sessions]
        session.refresh_from_db()
        return session

    return bring


def exact_rows(session: Session) -> list[str]:
    rows = session.decisions.order_by("id")
    return [decisions.exact_text(decisions.decision_of(row)) for row in rows]


def test_an_import_leaves_a_job_that_stores_what_the_audit_of_the_files_says(
    imports: Import,
) -> None:
    session = imports(runs.folder("growth-96k-dense"))
    job = Job.objects.get(kind="audit", session=session)
    assert job.state == Job.State.QUEUED
    assert not Decision.objects.exists()

    audit_session(str(job.uuid))

    job.refresh_from_db()
    (run,) = runs.replayed("growth-96k-dense")
    turns = len(run.turns)
    assert job.state == "succeeded"
    assert job.result == {"turns": turns, "summary": f"{turns} turns judged"}
    assert exact_rows(session) == exact_decisions(run.inputs)
    turn = AuditedTurn.objects.get(number=30)
    assert [event["kind"] for event in turn.events] == ["flush", "threshold_compaction"]
    flush = audits.decisions_of(turn)[turn.events[0]["decision"]]
    assert (flush.rule, flush.fired, flush.inputs["totalTokens"]) == ("memory_flush", True, 74_244)
    assert {row.reading for row in session.decisions.all()} == {"audit"}


@pytest.mark.parametrize("name", ["tools-aggregate", "96k-walkthrough-by-4"])
def test_entries_that_were_stored_twice_are_one_for_the_stored_session_too(
    team: Team, name: str
) -> None:
    session = audited(team, name)

    (run,) = runs.replayed(name)
    assert exact_rows(session) == exact_decisions(run.inputs)
    assert all(AuditedTurn.objects.values_list("agrees", flat=True))


def test_the_same_import_again_asks_for_nothing_new(imports: Import) -> None:
    folder = runs.folder("keep-small-32k")
    session = imports(folder)
    audits.audit_session(session)
    before = exact_rows(session)
    Job.objects.all().delete()

    assert imports(folder) == session
    assert audits.request_audit(session) is None
    assert not Job.objects.exists()
    assert audits.audit_session(session) == 1  # the last turn may have grown

    assert exact_rows(session) == before


@pytest.mark.parametrize("turns", [1, 2])
def test_a_session_that_has_grown_goes_on_at_its_last_turn(
    team: Team, django_capture_on_commit_callbacks: Any, turns: int
) -> None:
    whole = short_session(turns=4).records
    early = whole[: 3 + 4 * (turns - 1)]  # in the middle of a turn
    for records in (early, whole):
        text = "".join(json.dumps(record) + "\n" for record in records)
        with django_capture_on_commit_callbacks(execute=True):
            (report,) = import_files(team, [source("s.jsonl", text)])
        (session,) = report.sessions
        session.refresh_from_db()
        assert audits.request_audit(session) is None, "a job waits already"
        audits.audit_session(session)
    grown = [(row.turn, row.stage, row.call) for row in session.decisions.order_by("turn", "id")]
    assert audits.is_done(session)

    Decision.objects.all().delete()
    AuditedTurn.objects.all().delete()
    audits.audit_session(session)

    afresh = [(row.turn, row.stage, row.call) for row in session.decisions.order_by("turn", "id")]
    assert grown == afresh
    assert AuditedTurn.objects.count() == 4


def test_other_settings_are_audited_anew_and_no_compaction_is_lost(imports: Import) -> None:
    session = imports(runs.folder("growth-96k-dense"))
    audits.audit_session(session)
    compactions = set(session.decisions.filter(stage="compaction").values_list("uuid", flat=True))
    assert compactions
    assert session.agent is not None
    config = json.loads(session.agent.config_text)
    config["agents"]["defaults"]["compaction"] = {"reserveTokensFloor": 30_000}
    session.agent.config_text = json.dumps(config)
    session.agent.save()

    assert not audits.is_done(session)
    audits.audit_session(session)

    assert audits.is_done(session)
    assert compactions < set(session.decisions.values_list("uuid", flat=True))
    last = AuditedTurn.objects.latest("number")
    flush = audits.decisions_of(last).get(stage="flush")
    assert flush.inputs["reserveTokensFloor"] == 30_000


def test_other_rules_are_audited_anew(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    session = audited(team, "keep-small-32k")
    assert audits.is_done(session)
    found = situation_of(session)
    older = replace(found, around=replace(found.around, rules=OPENCLAW_2026_4_20))
    monkeypatch.setattr(audits, "situation_of", lambda _: older)

    assert not audits.is_done(session)
    audits.audit_session(session)

    assert audits.is_done(session)
    rows = [row for turn in AuditedTurn.objects.all() for row in audits.decisions_of(turn)]
    assert {row.rule_set for row in rows} == {"openclaw-2026.4.20"}


def test_a_file_that_no_rule_can_read_fails_its_job_with_a_reason(
    team: Team, django_capture_on_commit_callbacks: Any
) -> None:
    records = short_session().records
    records.append({"type": "compaction", "id": "c", "parentId": records[-1]["id"], "timestamp": "no time", "summary": 5})  # fmt: skip
    text = "".join(json.dumps(record) + "\n" for record in records)
    text += json.dumps(
        {**records[1], "id": "u", "parentId": "c"},
    )
    with django_capture_on_commit_callbacks(execute=True):
        list(import_files(team, [source("s.jsonl", text)]))
    job = Job.objects.get()

    audit_session(str(job.uuid))

    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert job.error == (
        "The decisions could not be worked out: UnreadableTranscript: a timestamp that names no moment"
    )
    assert audit_session(str(job.uuid)) is None  # and it is not tried for ever
