"""The API about the context at a call has the numbers of the page."""

from __future__ import annotations

from uuid import uuid4

import pytest

from compaction_app.context_at_call import told_context
from compaction_app.runs import situation_of
from tests.api_client import api_of
from tests.builders import short_session
from tests.compaction_app.audited import audited
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def test_a_context_has_each_message_and_what_is_new(alice: Person) -> None:
    session = audited(alice.team, "prune-cache-ttl")
    told = told_context(situation_of(session), 14)
    got = api_of(alice.team).get(f"/sessions/{session.uuid}/context/14")

    assert (got["call"], got["calls"], got["turn"], got["reading"]) == (14, 23, 7, "audit")
    assert [m["tokens"] for m in got["messages"]] == [row.part.tokens for row in told.rows]
    assert [m["sinceLastCall"] for m in got["messages"]].count("added") == 2
    assert got["tokens"] == told.message_tokens and got["exact"] == told.message_exact
    assert got["system"]["known"] == "report" and got["system"]["tokens"] == told.system.tokens
    assert got["prefix"]["brokenAt"] == 2 and got["prefix"]["why"]
    assert got["billed"]["prompt"] == told.bill.prompt


def test_a_cut_message_has_its_rule_and_both_sizes(alice: Person) -> None:
    session = audited(alice.team, "prune-cache-ttl")
    api = api_of(alice.team)
    contexts = [api.get(f"/sessions/{session.uuid}/context/{n}") for n in range(10, 15)]
    cut = [m for got in contexts for m in got["messages"] if m["changes"]]
    assert cut
    for message in cut:
        assert message["entries"] and message["chars"] == message["changes"][-1]["after"]
        assert message["charsBefore"] >= message["changes"][0]["before"]


@pytest.mark.parametrize("call, status", [("0", 404), ("999", 404), ("one", 404), ("-1", 404)])
def test_a_bad_number_leads_nowhere(alice: Person, call: str, status: int) -> None:
    session = alice.imports(short_session().data())
    got, _ = api_of(alice.team).call("GET", f"/sessions/{session.uuid}/context/{call}")
    assert got == status


def test_a_context_is_of_its_team_and_read_only(alice: Person, bob: Person) -> None:
    session = alice.imports(short_session().data())
    path = f"/sessions/{session.uuid}/context/1"
    assert api_of(bob.team).call("GET", path)[0] == 404
    assert api_of(alice.team).call("GET", f"/sessions/{uuid4()}/context/1")[0] == 404
    assert api_of(alice.team).call("POST", path, {})[0] == 405
    assert api_of(alice.team).call("GET", path)[0] == 200
