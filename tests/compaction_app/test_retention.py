"""Decisions are kept by age and by number; a compaction's as long as its session."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from compaction_app import decisions, retention
from compaction_app.decisions import Made
from compaction_app.engine.turn.record import StageRecord
from compaction_app.models import Decision as Row
from compaction_app.tasks import drop_old_decisions
from tests.compaction_app.test_decisions import a_decision, a_session, made

NOW = datetime(2026, 1, 31, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _small_batches(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 3)


def stored(count: int, age: timedelta = timedelta(0), stage: str = "flush") -> None:
    session = a_session()
    for turn in range(1, count + 1):
        record = StageRecord(stage, "turn", 0, 1, a_decision())
        row = decisions.row_of(session, Made(turn, record), reading=Row.Reading.AUDIT)
        row.created_at = NOW - age
        row.save()


def test_nothing_is_dropped_without_limits(settings: Any) -> None:
    settings.DECISION_DAYS = settings.DECISION_ROWS = 0
    stored(5, timedelta(days=900))

    assert retention.drop_old(NOW) == 0
    assert Row.objects.count() == 5


def test_what_is_older_than_the_limit_goes(settings: Any) -> None:
    settings.DECISION_DAYS, settings.DECISION_ROWS = 30, 0
    stored(7, timedelta(days=31))
    stored(2, timedelta(days=29))

    assert retention.drop_old(NOW) == 7
    assert Row.objects.count() == 2


def test_the_oldest_beyond_the_number_go(settings: Any) -> None:
    settings.DECISION_DAYS, settings.DECISION_ROWS = 0, 4
    stored(10)

    assert retention.drop_old(NOW) == 6
    assert list(Row.objects.order_by("id").values_list("turn", flat=True)) == [7, 8, 9, 10]
    assert retention.drop_old(NOW) == 0


@pytest.mark.parametrize("stage", ["compaction", "compaction_cut"])
def test_a_compaction_is_never_dropped_while_its_session_exists(settings: Any, stage: str) -> None:
    settings.DECISION_DAYS, settings.DECISION_ROWS = 30, 1
    stored(4, timedelta(days=900), stage)
    stored(4, timedelta(days=900))

    assert retention.drop_old(NOW) == 4
    assert Row.objects.filter(stage=stage).count() == 4


def test_the_worker_does_it_by_the_clock(settings: Any) -> None:
    settings.DECISION_DAYS, settings.DECISION_ROWS = 0, 1
    decisions.record(a_session(), [made(a_decision())] * 3, reading=Row.Reading.AUDIT)

    drop_old_decisions()

    assert Row.objects.count() == 1
