"""Decisions as rows: what goes in comes out to the byte, and nothing is ever changed."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from compaction_app import decisions
from compaction_app.decisions import Made
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.policy import Policy, with_changes
from compaction_app.engine.simulation.audit import audit
from compaction_app.engine.turn.record import StageRecord
from compaction_app.models import AppendOnly
from compaction_app.models import Decision as Row
from sessions_app.models import Session, Team
from tests.golden import runs

TEXTS = st.text(st.characters(codec=None), max_size=20)  # half surrogate pairs and NUL too
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
STEPS = st.builds(Step, TEXTS, TEXTS, SCALARS, st.sampled_from(("tokens", "chars", "")))
CODES = st.text(st.characters(codec="ascii", categories=("Ll",)), min_size=1, max_size=20)


def a_session() -> Session:
    return Session.objects.create(team=Team.objects.create(name="ours"), title="s")


def a_decision(**changes: Any) -> Decision:
    given = {
        "rule": "flush",
        "fired": False,
        "outcome": "skip",
        "reason": "below_threshold",
        "rule_set": "openclaw-2026.5.28",
        "inputs": {"totalTokens": 71_999, "window": 96_000},
        "steps": (Step("line", "window - reserveTokensFloor", 76_000),),
    }
    return Decision(**{**given, **changes})


def made(decision: Decision, turn: int = 1) -> Made:
    return Made(turn, StageRecord("flush", "turn", 0, 1, decision, {"kept": ("e1",)}))


class RoundTrips(TestCase):
    @given(st.dictionaries(TEXTS, SCALARS, max_size=4), st.lists(STEPS, max_size=3), CODES)
    def test_any_decision_comes_back_to_the_byte(
        self, inputs: dict[str, Any], steps: list[Step], code: str
    ) -> None:
        before = made(a_decision(inputs=inputs, steps=tuple(steps), reason=code))
        session = a_session()
        decisions.record(session, [before], reading=Row.Reading.AUDIT)

        (after,) = decisions.load(Row.objects.filter(session=session))

        assert after == before
        assert decisions.exact_text(after.stage.decision) == decisions.exact_text(
            before.stage.decision
        )
        assert list(after.stage.decision.inputs) == list(inputs)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["growth-32k", "prune-cache-ttl", "manual-compact"])
def test_every_decision_of_a_recorded_run_comes_back_to_the_byte(name: str) -> None:
    (run,) = runs.replayed(name)
    stages = [Made(done.turn.recorded.number, stage) for done in audit(run.inputs) for stage in done.turn.result.stages]  # fmt: skip
    session = a_session()

    stored = decisions.record(session, stages, reading=Row.Reading.AUDIT)

    assert len(stored) == len(stages) > 0
    assert list(decisions.load(session.decisions.order_by("id"))) == stages
    longest = {
        name: Row._meta.get_field(name).max_length
        for name in ("stage", "rule", "outcome", "reason", "rule_set")
    }
    for row in session.decisions.all():
        row.full_clean()
        assert all(len(getattr(row, name)) <= size for name, size in longest.items())


@pytest.mark.django_db
def test_a_stored_decision_refuses_every_change() -> None:
    session = a_session()
    decisions.record(session, [made(a_decision())], reading=Row.Reading.AUDIT)
    row = Row.objects.get()
    row.outcome = "flush"

    with pytest.raises(AppendOnly):
        row.save()
    with pytest.raises(AppendOnly):
        Row.objects.filter(pk=row.pk).update(outcome="flush")
    with pytest.raises(AppendOnly), transaction.atomic():
        Row.objects.bulk_update([row], ["outcome"])

    assert Row.objects.get().outcome == "skip"


@pytest.mark.django_db
def test_many_decisions_are_written_in_batches() -> None:
    session = a_session()
    many = (made(a_decision(), turn) for turn in range(1, 2 * decisions.BATCH_ROWS + 2))

    with CaptureQueriesContext(connection) as queries:
        stored = decisions.record(session, many, reading=Row.Reading.AUDIT)

    assert len(stored) == 2 * decisions.BATCH_ROWS + 1
    inserts = [q for q in queries if q["sql"].startswith("INSERT")]
    assert 3 <= len(inserts) < 40
    assert list(session.decisions.order_by("id").values_list("turn", flat=True)) == list(
        range(1, len(stored) + 1)
    )


@pytest.mark.django_db
def test_a_decision_keeps_the_settings_and_circumstances_it_was_made_under() -> None:
    policy = with_changes(Policy(), {"contextWindow": 96_000})
    record = decisions.policy_record(policy, Circumstances(provider="openai", model="m"))
    session = a_session()

    decisions.record(session, [made(a_decision())], reading=Row.Reading.WHAT_IF, policy=record)

    row = Row.objects.get()
    assert row.policy == record
    assert row.policy["settings"] == {"contextWindow": 96_000}
    assert (row.policy["path"], row.policy["provider"]) == ("chat", "openai")
    assert row.duration_us is None


@pytest.mark.django_db
def test_a_session_takes_its_decisions_along() -> None:
    session = a_session()
    decisions.record(session, [made(a_decision())], reading=Row.Reading.AUDIT)

    session.delete()

    assert not Row.objects.exists()
