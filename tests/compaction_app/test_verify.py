"""``manage.py verify``: whole chains pass, and whatever is edited is found and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from compaction_app import audits, checkpoints, live_turns, retention
from compaction_app.chain_backfill import backfill, link_batch
from compaction_app.models import Backfill, CompactionRecord, Decision, DecisionCheckpoint
from compaction_app.verification import Verified, verify
from sessions_app.live_sessions import delete_session
from sessions_app.models import Entry, Session, Tombstone, Window
from tests.compaction_app.audited import audited
from tests.compaction_app.compacting import compacted, talk
from tests.compaction_app.live import answer, live_session, user
from tests.compaction_app.test_decisions import a_session
from tests.conftest import Person


@pytest.fixture
def session(alice: Person) -> Session:
    """A live session with decisions, two compactions, and entries around them."""
    made = live_session(alice)
    talk(made, turns=3)
    live_turns.report_call(made, [user("go on"), answer("yes", prompt=9_000)])
    compacted(made)
    talk(made, turns=2)
    compacted(made, instructions="names")
    live_turns.report_call(made, [user("and on"), answer("yes", prompt=4_000)])
    return made


def sql(text: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(text, values)
        assert cursor.rowcount == 1


def faults(session: Session) -> tuple[str, ...]:
    return verify(session).broken


def test_a_session_as_it_was_stored_holds_together(session: Session) -> None:
    done = verify(session)

    assert done.broken == ()
    assert done.entries == Entry.objects.count() > 10
    assert done.records == CompactionRecord.objects.count() == 2
    assert done.decisions == Decision.objects.count() > 10
    assert (done.waiting, done.dropped) == (0, 0)
    assert len(done.digest) == 64


def test_the_audit_of_a_recording_holds_together_and_so_does_another_one(alice: Person) -> None:
    session = audited(alice.team, "keep-small-32k")
    assert faults(session) == ()
    covered = sum(mark.count for mark in DecisionCheckpoint.objects.all())
    assert covered == Decision.objects.count() > 100

    assert session.agent is not None
    config = json.loads(session.agent.config_text)
    config["agents"]["defaults"]["compaction"] = {"reserveTokensFloor": 30_000}
    session.agent.config_text = json.dumps(config)
    session.agent.save()
    assert not audits.is_done(session)
    audits.audit_session(session)

    done = verify(session)
    assert done.broken == ()
    assert done.dropped > 100


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("UPDATE sessions_app_entry SET payload = '{{}}' WHERE seq = 3", "entry 3 ("),
        ("UPDATE compaction_app_decision SET inputs = 'no json' WHERE id = {decision}", "decision {of}: it cannot be read"),
        ("UPDATE sessions_app_entry SET tokens = tokens + 1 WHERE seq = 3", "entry 3 ("),
        ("UPDATE sessions_app_entry SET role = 'system' WHERE seq = 0", "entry 0 ("),
        ("DELETE FROM sessions_app_entry WHERE seq = 3", "entry 3: it is missing"),
        ("DELETE FROM sessions_app_entry WHERE seq = {last}", "entry {last}: it is missing"),
        ("UPDATE sessions_app_window SET link = '' WHERE id = {window}", "the end of the chain"),
        ("UPDATE compaction_app_compactionrecord SET tokens_before = 1 WHERE id = {second}", "compaction record {uuid}: it is not"),
        ("UPDATE compaction_app_compactionrecord SET message = 'x' WHERE id = {second}", "compaction record {uuid}: it is not"),
        ("UPDATE compaction_app_compactionrecord SET cost = 1 WHERE id = {second}", "compaction record {uuid}: it is not"),
        ("UPDATE compaction_app_compactionrecord SET link = NULL WHERE id = {second}", "entry "),
        ("DELETE FROM compaction_app_compactionrecord WHERE id = {second}", "entry "),
        ("UPDATE compaction_app_decision SET outcome = 'edited' WHERE id = {decision}", "decision {of}"),
        ("UPDATE compaction_app_decision SET inputs = '{{}}' WHERE id = {decision}", "decision {of}"),
        ("UPDATE compaction_app_decision SET created_at = '2020-01-01 00:00:00+00:00' WHERE id = {decision}", "decision {of}"),
        ("DELETE FROM compaction_app_decision WHERE id = {decision}", "1 of its"),
        ("UPDATE compaction_app_decisioncheckpoint SET dropped = 1 WHERE number = 2", "checkpoint 2: 0 of its"),
        ("UPDATE compaction_app_decisioncheckpoint SET last = last + 1 WHERE number = 2", "checkpoint 2: it was changed"),
        ("DELETE FROM compaction_app_decisioncheckpoint WHERE number = 2", "checkpoint 3: it was changed, or one before"),
    ],
)  # fmt: skip
def test_an_edited_row_is_found_and_named(session: Session, change: str, named: str) -> None:
    record = CompactionRecord.objects.order_by("pk")[1]
    decision = Decision.objects.order_by("pk")[4]
    values = {
        "window": session.windows.get().pk,
        "last": Entry.objects.order_by("-seq")[0].seq,
        "second": record.pk,
        "uuid": record.uuid,
        "decision": decision.pk,
        "of": decision.uuid,
    }
    sql(change.format(**values))

    (fault,) = faults(session)
    assert fault.startswith(named.format(**values)) or (named.startswith("1 of") and named in fault)


def test_a_row_that_was_put_in_is_found(session: Session) -> None:
    row = Decision.objects.order_by("pk")[0]
    row.pk, row.uuid = None, uuid4()
    row._state.adding = True
    row.save()
    assert faults(session) == (f"decision {row.uuid}: no checkpoint covers it",)

    row.delete()
    record = CompactionRecord.objects.order_by("pk")[0]
    record.pk, record.uuid, record.outcome, record.link = None, uuid4(), "failed", None
    record.save()
    assert faults(session) == (f"compaction record {record.uuid}: it has no link",)


def test_decisions_that_retention_dropped_leave_their_digest(
    session: Session, settings: Any
) -> None:
    settings.DECISION_ROWS = 4
    before = Decision.objects.count()
    kept = Decision.objects.filter(stage__in=audits.COMPACTION_STAGES).count()
    dropped = retention.drop_old()

    done = verify(session)
    assert done.broken == ()
    assert done.dropped == dropped > 0
    assert kept <= done.decisions == before - dropped
    assert sum(mark.count for mark in DecisionCheckpoint.objects.all()) == before

    row = Decision.objects.filter(stage="compaction").order_by("pk")[0]
    sql("UPDATE compaction_app_decision SET reason = 'edited' WHERE id = %s", row.pk)
    assert faults(session)[0].startswith(f"decision {row.uuid} ")


def unlink() -> None:
    """The database as it was before there were chains."""
    Entry.objects.update(link=None)
    Window.objects.update(link=b"", linked_entries=0, linked_records=0)
    CompactionRecord.objects.update(link=None, entries_before=None, records_before=None)
    DecisionCheckpoint.objects.all().delete()
    mark = Backfill.objects.get()
    mark.until = Decision.objects.latest("pk").pk
    mark.compactions = CompactionRecord.objects.latest("pk").pk
    mark.done = 0
    mark.save()


@pytest.mark.parametrize("batch", [1, 7, 500])
def test_what_is_older_gets_its_links_in_batches(
    session: Session, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compaction_app.chain_backfill.BATCH", batch)
    monkeypatch.setattr("compaction_app.checkpoints.BACKFILL_ROWS", batch)
    before = [bytes(link) for link in Entry.objects.order_by("seq").values_list("link", flat=True)]
    unlink()
    done = verify(session)
    assert done.broken == ()
    assert done.waiting == done.entries + done.records + done.decisions
    window = session.windows.get()

    assert link_batch(window.pk) == (batch < done.entries)  # broken off, and taken up again
    talk(session, turns=1)  # an agent goes on meanwhile
    backfill()

    after = verify(session)
    assert (after.broken, after.waiting) == ((), 0)
    links = Entry.objects.order_by("seq").values_list("link", flat=True)
    assert [bytes(link) for link in links][: len(before)] == before
    assert backfill() == 0
    live_turns.report_call(session, [user("more"), answer("yes", prompt=4_000)])
    assert faults(session) == ()


def told(*arguments: str) -> tuple[str, int]:
    out = StringIO()
    try:
        call_command("verify", *arguments, stdout=out, stderr=StringIO())
    except SystemExit as end:
        return out.getvalue(), int(str(end.code))
    return out.getvalue(), 0


def test_the_command_checks_all_or_those_named(session: Session) -> None:
    other = a_session()
    assert told() == ("2 sessions and 0 tombstones looked at: all hold together.\n", 0)

    Entry.objects.filter(seq=2).update(excerpt="edited")
    text, status = told()
    entry = Entry.objects.get(seq=2)
    assert text.startswith(
        f"{session.uuid}: entry 2 ({entry.entry_id}): it is not what was stored\n"
    )
    assert status == 1
    assert told(str(other.uuid))[1] == 0
    for bad in ("nonsense", str(uuid4())):
        with pytest.raises(CommandError, match="session"):
            call_command("verify", bad, stdout=StringIO(), stderr=StringIO())


def test_as_json_each_session_is_a_line_and_the_sum_the_last(session: Session) -> None:
    Entry.objects.filter(seq=2).update(excerpt="edited")
    text, status = told("--json")
    one, total = map(json.loads, text.splitlines())

    assert status == 1
    assert one["session"] == str(session.uuid)
    assert one["broken"][0].startswith("entry 2 (")
    assert (total["sessions"], total["broken"], total["brokenTombstones"]) == (1, 1, [])


def test_the_tombstone_holds_the_end_of_every_chain(session: Session) -> None:
    digest = verify(session).digest
    last = DecisionCheckpoint.objects.order_by("-number")[0]
    delete_session(session)

    stone = Tombstone.objects.get()
    assert bytes(stone.digest).hex() == digest
    assert stone.chains["decisions"] == {
        "checkpoints": last.number,
        "link": bytes(last.link).hex(),
    }
    sql("UPDATE sessions_app_tombstone SET entries = 1")
    assert told()[1] == 1


def test_somebody_who_appends_meanwhile_is_no_fault(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, left = checkpoints.digest_of, [True]

    def appends(row: Decision) -> bytes:
        if left:
            left.clear()
            live_turns.report_call(session, [user("now"), answer("yes", prompt=4_000)])
        return real(row)

    monkeypatch.setattr(checkpoints, "digest_of", appends)
    assert faults(session) == ()


def test_a_check_needs_as_many_queries_for_many_entries_as_for_few(
    session: Session, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    def looked_at() -> Verified:
        with django_assert_max_num_queries(40):
            return verify(session)

    few = looked_at().entries
    talk(session, turns=30, words=3)
    assert looked_at().entries == few + 60
