"""The API about rules: what-if, verdict, decisions, configuration."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from compaction_app.decisions import Made, record
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.turn.record import StageRecord
from compaction_app.models import Decision as Row
from compaction_app.runs import replay_for, situation_of, write_summary
from sessions_app.management.commands.load_samples import SAMPLES
from sessions_app.models import Session
from tests.api_client import api_of
from tests.builders import short_session
from tests.conftest import Person
from tests.engine.builders import chat, text_of

pytestmark = pytest.mark.django_db


def made(session: Session, *reasons: str) -> None:
    stages = [
        StageRecord("flush", "turn", 0, 1, Decision(
            "memory_flush", False, "skip", reason, "openclaw-2026.5.28",
            {"total": 70_000}, (Step("line", "contextWindow - reserveTokensFloor", 72_000),),
        ))
        for reason in reasons
    ]  # fmt: skip
    record(
        session,
        [Made(turn, stage) for turn, stage in enumerate(stages, 1)],
        reading=Row.Reading.AUDIT,
    )


def test_a_what_if_has_the_numbers_of_the_page(alice: Person) -> None:
    session = alice.imports(next((SAMPLES / "keep-small-32k").glob("*.jsonl")).read_bytes())
    api = api_of(alice.team)
    policy = {"contextWindow": 32_000, "compaction.keepRecentTokens": 2_000}
    got = api.post(f"/sessions/{session.uuid}/what-if", {"policy": policy})
    assert got["reading"] == "what-if"
    assert got["whatIf"]["compactions"] == len(
        [event for event in got["events"] if event["kind"].endswith("compaction")]
    )
    lines = {line["name"]: line["tokens"] for line in got["lines"]}
    assert lines["flush"] == 32_000 - 20_000 - 4_000
    own = api.post(f"/sessions/{session.uuid}/what-if", {})
    situation = situation_of(session)
    done = replay_for(situation, situation.policy, situation.around)
    assert own["total"] == [None if value < 0 else value for value in done.total.tolist()]
    assert own["current"] == own["whatIf"]


def test_a_what_if_tells_which_calls_broke_the_cache(alice: Person) -> None:
    session = alice.imports(next((SAMPLES / "keep-small-32k").glob("*.jsonl")).read_bytes())
    policy = {"contextWindow": 32_000, "compaction.keepRecentTokens": 2_000}
    got = api_of(alice.team).post(f"/sessions/{session.uuid}/what-if", {"policy": policy})
    breaks = got["cacheBreaks"]
    assert got["whatIf"]["tokensResent"] == sum(one["tokens"] for one in breaks) > 0
    assert {one["cause"] for one in breaks} == {"compaction"}
    assert len(breaks) == got["whatIf"]["compactions"]
    assert got["recordedCacheBreaks"] is got["recorded"]["tokensResent"] is None, (
        "no cache was billed"
    )


def test_the_size_of_simulated_summaries_is_told_and_can_be_chosen(alice: Person) -> None:
    session = alice.imports(text_of(chat(60).entries).encode())
    api = api_of(alice.team)

    def asked(**more: object) -> dict[str, Any]:
        policy = {"contextWindow": 32_000, "compaction.keepRecentTokens": 2_000}
        got = api.post(f"/sessions/{session.uuid}/what-if", {"policy": policy, **more})
        return dict(got["summaries"])

    unmeasured = asked()
    assert unmeasured["source"] == "cap", "no page reads texts to find a size"
    write_summary(session)
    own = asked()
    assert own["source"] == "extractive" and len(own["tokens"]) > 0
    assert asked(summary="cap")["tokens"][0] == 4_000 > own["tokens"][0] > 0
    chosen = asked(summaryTokens=1_234)
    assert (chosen["source"], set(chosen["tokens"])) == ("chosen", {1_234})


def test_a_what_if_says_how_sure_it_is(alice: Person) -> None:
    session = alice.imports(text_of(chat(60).entries).encode())
    policy = {"contextWindow": 32_000, "compaction.keepRecentTokens": 2_000}
    got = api_of(alice.team).post(f"/sessions/{session.uuid}/what-if", {"policy": policy})
    assert got["margin"] == {"prompt": 0, "check": 0}, "every step of this session is billed alike"
    assert "nobody can know" in got["caveat"]


@pytest.mark.parametrize(
    "body, field",
    [
        ({"summary": "short"}, "summary"),
        ({"summaryTokens": 0}, "summaryTokens"),
        ({"policy": {"compaction.reserveTokenFloor": 1}}, "policy.compaction.reserveTokenFloor"),
        (
            {"policy": {"compaction.reserveTokensFloor": "much"}},
            "policy.compaction.reserveTokensFloor",
        ),
        ({"ruleSet": "openclaw-1"}, "ruleSet"),
        ({"path": "road"}, "path"),
        ({"leaf": -1}, "leaf"),
        ({"extra": 1}, "extra"),
        ({"policy": []}, "policy"),
    ],
)
def test_a_what_if_names_the_field_that_it_cannot_use(
    alice: Person, body: dict[str, object], field: str
) -> None:
    session = alice.imports(short_session().data())
    status, answer = api_of(alice.team).call("POST", f"/sessions/{session.uuid}/what-if", body)
    assert (status, answer["errors"][0]["field"]) == (422, field)


def test_the_verdict_is_that_of_the_page(alice: Person) -> None:
    chain = short_session()
    for entry in chain.records[1:]:
        entry["message"].pop("usage", None)
    session = alice.imports(chain.data())
    found = api_of(alice.team).get(f"/sessions/{session.uuid}/diagnose")["findings"]
    assert "USAGE_MISSING" in [finding["code"] for finding in found]
    assert all(finding["consequence"] for finding in found)


def test_decisions_are_listed_in_their_order_and_can_be_filtered(alice: Person) -> None:
    session = alice.imports(short_session().data())
    Row.objects.all().delete()
    made(session, "below_threshold", "already_flushed", "below_threshold")
    api = api_of(alice.team)
    address = f"/sessions/{session.uuid}/decisions"
    first = api.get(f"{address}?limit=2")
    rest = api.get(f"{address}?limit=2&after={first['next']}")
    assert [d["turn"] for d in first["items"] + rest["items"]] == [1, 2, 3]
    assert rest["next"] is None
    only = api.get(f"{address}?reason=already_flushed&kind=memory_flush&outcome=skip")["items"]
    assert [d["turn"] for d in only] == [2]
    assert api.get(f"{address}?kind=nothing")["items"] == []
    one = api.get(f"/decisions/{only[0]['id']}")
    assert one == only[0]
    assert one["steps"][0] == {
        "name": "line", "formula": "contextWindow - reserveTokensFloor",
        "value": 72_000, "unit": "tokens",
    }  # fmt: skip


def test_a_configuration_is_judged_as_the_runtime_would(alice: Person) -> None:
    api = api_of(alice.team)
    good = "{agents: {defaults: {compaction: {mode: 'safeguard'}}}} // a comment"
    assert api.post("/config/validate", {"text": good}) == {"findings": []}
    (wrong,) = api.post("/config/validate", {"text": "{agents: {defualts: {}}}"})["findings"]
    assert (wrong["code"], wrong["numbers"]["nearest"]) == (
        "CONFIG_UNKNOWN_KEY", "agents.defaults",
    )  # fmt: skip
    (broken,) = api.post("/config/validate", {"text": "{"})["findings"]
    assert broken["code"] == "CONFIG_INVALID"
    status, body = api.call("POST", "/config/validate", {"text": "{}", "ruleSet": "old"})
    assert (status, body["errors"][0]["field"]) == (422, "ruleSet")


def test_other_teams_and_unknown_ids_are_404_everywhere(alice: Person, bob: Person) -> None:
    theirs = bob.imports(short_session().data())
    made(theirs, "below_threshold")
    decision = Row.objects.filter(session=theirs).first()
    assert decision
    api = api_of(alice.team)
    for uuid in (theirs.uuid, uuid4()):
        assert api.call("POST", f"/sessions/{uuid}/what-if", {})[0] == 404
        for part in ("diagnose", "decisions"):
            assert api.call("GET", f"/sessions/{uuid}/{part}")[0] == 404
    for uuid in (decision.uuid, uuid4()):
        assert api.call("GET", f"/decisions/{uuid}")[0] == 404
