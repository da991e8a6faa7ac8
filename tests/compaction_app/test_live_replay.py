"""Live decisions made again: from what was kept of the moment, the same to the byte."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.test import Client

from compaction_app import live_turns
from compaction_app.decision_replay import Replayed, basis_of, made_under, replay
from compaction_app.flush_jobs import request_flush
from compaction_app.live_replay import compaction_again, setup_of
from compaction_app.live_steps import without_secrets
from compaction_app.models import CompactionRecord, Decision, LiveStep, StoredConfig
from compaction_app.policies import save_version
from compaction_app.runs import situation_of
from compaction_app.tasks import flush_session
from sessions_app.models import Session
from sessions_app.payload import record_of
from tests.compaction_app.compacting import compacted, talk
from tests.compaction_app.live import answer, calls, live_session, result, user
from tests.compaction_app.pages.test_turn import plain
from tests.conftest import Person

CONFIG = '{models: {providers: {anthropic: {apiKey: "sk-secret", models: []}}}}'


@pytest.fixture
def session(alice: Person) -> Session:
    """Turns with tools, an overflow, a flush, compactions of three triggers."""
    made = live_session(alice, config_text=CONFIG)
    live_turns.report_call(made, [user("Read it"), calls("c1", prompt=3_000)])
    live_turns.report_call(made, [result("c1", "word " * 6_000), answer("done", prompt=11_000)])
    talk(made, turns=2)
    live_turns.report_call(made, [user("More"), answer("yes", prompt=25_000)])
    flush_session(str(request_flush(made, trigger="due", prompt=user("And now?")).uuid))
    compacted(made, trigger="budget", prompt=user("And now?"))
    live_turns.report_call(made, [user("And now?"), answer("fine", prompt=4_000)])
    live_turns.report_call(made, [user("Again")], error="prompt is too long: 40000 tokens > 32000")
    talk(made, turns=2)
    compacted(made, instructions="names")
    made.refresh_from_db()
    return made


def again(row: Decision, session: Session, **changes: Any) -> Replayed:
    under, basis = made_under(row, situation_of(session)), basis_of(row)
    assert basis is not None
    return replay(row, basis, under, changes.get("policy", under.policy), under.around)


def test_every_live_decision_comes_out_to_the_byte(session: Session) -> None:
    rows = list(session.decisions.order_by("id"))
    stages = Counter(row.stage for row in rows)
    assert {"preflight", "flush", "compaction", "compaction_cut", "inner_trigger"} <= set(stages), (
        stages
    )
    assert {step.kind for step in LiveStep.objects.all()} == set(LiveStep.Kind)
    for row in rows:
        done = again(row, session)
        assert done.agrees, (row.stage, row.turn, [line for line in done.lines if line.differs])
        assert done.is_same
        assert not done.is_defect


def test_also_under_other_settings_of_the_agent_since(session: Session) -> None:
    assert session.agent is not None
    session.agent.config_text = "{}"
    session.agent.save()
    save_version(session.agent, {"contextWindow": 200_000})

    assert all(again(row, session).agrees for row in session.decisions.all())


def test_what_was_changed_is_shown_as_a_defect(session: Session) -> None:
    step = LiveStep.objects.filter(kind=LiveStep.Kind.CALL).order_by("-pk")[0]
    step.index = {**step.index, "totalTokens": 31_000, "totalTokensFresh": True}
    step.save()
    row = session.decisions.get(pk__range=(step.first, step.last), stage="preflight")

    assert again(row, session).is_defect


def test_a_prompt_is_kept_by_its_entry_and_a_secret_not_at_all(session: Session) -> None:
    steps = LiveStep.objects.filter(kind=LiveStep.Kind.CALL)
    prompts = [step.asked["prompt"] for step in steps if "prompt" in step.asked]
    assert len(prompts) >= 3
    assert all(set(prompt) == {"entry", "hadTime"} for prompt in prompts)
    assert StoredConfig.objects.exists()
    assert "sk-secret" not in str(list(StoredConfig.objects.values_list("data", flat=True)))
    kept = without_secrets({"reserveTokens": 5, "apiKey": "k", "a": [{"botToken": "t", "x": "y"}]})
    assert kept == {
        "reserveTokens": 5,
        "apiKey": "left out",
        "a": [{"botToken": "left out", "x": "y"}],
    }


def test_a_compaction_runs_again_on_its_answers_and_writes_the_same_entry(
    session: Session,
) -> None:
    records = list(CompactionRecord.objects.filter(outcome="compacted").order_by("pk"))
    assert len(records) == 2
    for record in records:
        assert record.step is not None
        row = session.decisions.get(
            stage="compaction", pk__range=(record.step.first, record.step.last)
        )
        under = made_under(row, situation_of(session))
        setup = setup_of(record.step, under.policy, under.around)
        made = compaction_again(record.step, setup, record.answers)
        assert not isinstance(made, list)
        assert made.answers.is_exact
        assert made.run.entry is not None
        assert made.run.entry["id"] == record.entry_id
        stored = record_of(record.window.entries.get(entry_id=record.entry_id).payload)
        assert made.run.entry["summary"] == stored["summary"]
        assert made.run.entry["firstKeptEntryId"] == stored["firstKeptEntryId"]

        without = compaction_again(record.step, setup, ())
        assert not isinstance(without, list)
        assert not without.answers.is_exact


def test_its_page_offers_the_replay(session: Session, alice: Person) -> None:
    client: Client = alice.client
    row = session.decisions.filter(stage="compaction").order_by("id")[0]
    text = plain(client.get(f"/decisions/{row.uuid}/?replay=1").text)
    assert "the same decision, byte for byte" in text

    row = session.decisions.filter(stage="preflight").order_by("-id")[0]
    other = plain(client.get(f"/decisions/{row.uuid}/?replay=1&contextWindow=64000").text)
    assert "the decision differs; the first difference is marked" in other
