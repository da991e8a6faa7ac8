"""The page of a decision: what it weighed, what came of it, and the same again."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
from django.test import Client

from compaction_app import decisions
from compaction_app.decision_replay import basis_of, made_under, replay
from compaction_app.decisions import decision_of
from compaction_app.models import AuditedTurn, Decision
from compaction_app.runs import situation_of
from sessions_app.models import Session, Team
from tests.compaction_app.audited import audited
from tests.compaction_app.pages.test_turn import plain
from tests.compaction_app.test_decisions import a_decision, made
from tests.conftest import Person


@pytest.fixture
def session(team: Team) -> Session:
    return audited(team)


def of(session: Session, **wanted: object) -> Decision:
    return session.decisions.filter(**wanted).order_by("id").first()  # type: ignore[return-value]


def test_a_flush_shows_its_inputs_its_arithmetic_and_its_reason(
    viewer: Client, session: Session
) -> None:
    row = of(session, stage="flush", fired=True)

    text = plain(viewer.get(f"/decisions/{row.uuid}/").text)

    assert "Memory flush: flush audit replayed" in text
    assert "Fired: the projected prompt reached the flush line. 74,244 > 72,000 tokens" in text
    assert "contextWindow 96,000 tokens" in text
    assert "projected 71931 + lastOutput 2000 + prompt 313 74,244 tokens" in text
    formula = "max(0, contextWindow - reserveTokensFloor - softThresholdTokens)"
    assert f"threshold {formula} 72,000 tokens" in text
    assert "memory flush 1 1 in this turn" in text


def test_a_compaction_shows_what_was_cut_and_kept_beside_the_recording(
    viewer: Client, session: Session
) -> None:
    row = of(session, stage="compaction", outcome="compacted")

    text = plain(viewer.get(f"/decisions/{row.uuid}/").text)

    assert "summarised 39 32,508 0 to 38" in text
    assert "split turn, summarised 1 306 39 to 39" in text
    assert "kept 27 21,444 40 to 66" in text
    assert "tokens before 76,438 76,438 tokens" in text
    assert "first kept entry 40 40" in text


def test_what_is_unknown_is_said_to_be_unknown(viewer: Client, session: Session) -> None:
    row = of(session, stage="preflight", turn=1)

    text = plain(viewer.get(f"/decisions/{row.uuid}/").text)

    assert "Did not fire: no total is known" in text
    assert "totalTokens unknown" in text


def test_the_same_rules_and_settings_give_the_same_decision_byte_for_byte(
    viewer: Client, session: Session
) -> None:
    for stage in ("flush", "compaction", "pre_prompt_check"):
        row = of(session, stage=stage, turn=31)

        page = viewer.get(f"/decisions/{row.uuid}/?replay=1")

        assert "the same decision, byte for byte" in plain(page.text)
        assert 'class="differs' not in page.text


def test_every_decision_of_a_run_can_be_replayed(team: Team) -> None:
    session = audited(team, "keep-small-32k")
    situation = situation_of(session)
    rows = session.decisions.filter(turn__in=(1, 16, 17, 25)).order_by("id")
    assert len(rows) > 40
    for row in rows:
        under, turn = made_under(row, situation), basis_of(row)
        assert turn is not None
        done = replay(row, turn, under, under.policy, under.around)
        assert done.again is not None
        assert decisions.exact_text(done.again.decision) == decisions.exact_text(decision_of(row))
        assert done.is_same and done.agrees and not done.is_defect


def test_another_policy_stands_beside_with_the_first_difference_marked(
    viewer: Client, session: Session
) -> None:
    row = of(session, stage="flush", fired=True)

    page = viewer.get(
        f"/decisions/{row.uuid}/?replay=1&compaction.memoryFlush.softThresholdTokens=0"
    )

    text = plain(page.text)
    assert "Under these rules and settings the decision differs" in text
    assert "softThresholdTokens 4,000 first difference 0" in text
    assert "outcome flush skip" in text
    assert page.text.count("first difference</span>") == 1


def test_another_rule_set_stands_beside_too(viewer: Client, session: Session) -> None:
    row = of(session, stage="preflight", turn=31)

    text = plain(viewer.get(f"/decisions/{row.uuid}/?replay=1&rules=openclaw-2026.3").text)

    assert "Under these rules and settings the turn never comes to this stage" in text


def test_another_outcome_from_the_same_inputs_is_shown_as_our_defect(
    viewer: Client, session: Session
) -> None:
    turn = AuditedTurn.objects.get(number=30)
    turn.index = {**turn.index, "totalTokens": 1}  # as if a rule had read another total
    turn.save()
    row = of(session, stage="flush", fired=True)

    text = plain(viewer.get(f"/decisions/{row.uuid}/?replay=1").text)

    assert "A defect of ours" in text
    assert "the same decision, byte for byte" not in text


def test_a_configuration_that_has_changed_is_no_defect(viewer: Client, session: Session) -> None:
    row = of(session, stage="flush", fired=True)
    assert session.agent is not None
    config = json.loads(session.agent.config_text)
    config["agents"]["defaults"]["timeoutSeconds"] = 77
    session.agent.config_text = json.dumps(config)
    session.agent.save()

    text = plain(viewer.get(f"/decisions/{row.uuid}/?replay=1").text)

    assert "A defect of ours" not in text


def test_a_decision_made_elsewhere_is_shown_without_a_replay(
    viewer: Client, session: Session
) -> None:
    decisions.record(session, [made(a_decision())], reading=Decision.Reading.LIVE)
    row = of(session, reading="live")

    text = plain(viewer.get(f"/decisions/{row.uuid}/?replay=1").text)

    assert "live made while the session ran" in text
    assert "has been judged anew since" not in text


def test_markup_in_values_is_escaped(viewer: Client, session: Session) -> None:
    bad = a_decision(inputs={"text": "<script>x</script>"}, outcome="<b>", reason="<i>")
    decisions.record(session, [made(bad)], reading=Decision.Reading.LIVE)

    page = viewer.get(f"/decisions/{of(session, reading='live').uuid}/")

    assert page.status_code == 200
    for hostile in ("<script>x", "<b>:", "<i>"):
        assert hostile not in page.text


def test_other_teams_and_strangers_see_nothing(
    bob: Person, client: Client, session: Session
) -> None:
    row = of(session, stage="flush")

    assert bob.client.get(f"/decisions/{row.uuid}/").status_code == 404
    assert bob.client.get(f"/decisions/{uuid4()}/").status_code == 404
    assert client.get(f"/decisions/{row.uuid}/").status_code == 302


def test_only_reading_is_possible(viewer: Client, session: Session) -> None:
    row = of(session, stage="flush")

    assert viewer.post(f"/decisions/{row.uuid}/").status_code == 405
    assert viewer.get("/decisions/nonsense/").status_code == 404


def test_bad_input_is_told(viewer: Client, session: Session) -> None:
    row = of(session, stage="flush")
    for bad in ("rules=x", "contextWindow=abc", "compaction.reserveTokensFloor=-5"):
        page = viewer.get(f"/decisions/{row.uuid}/?replay=1&{bad}")

        assert page.status_code == 200
        assert 'class="refused" role="alert"' in page.text
