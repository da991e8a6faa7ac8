"""The API about sessions: list, one, rename, calls, entries, jobs."""

from __future__ import annotations

from uuid import uuid4

import pytest

from sessions_app import masking
from sessions_app.models import Session
from tests.api_client import api_of
from tests.builders import short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db


def test_the_list_comes_in_pages_newest_first(alice: Person) -> None:
    made = [
        str(Session.objects.create(team=alice.team, title=f"run {n}", key=f"agent:{n}").uuid)
        for n in range(5)
    ]
    api = api_of(alice.team)
    first = api.get("/sessions?limit=2")
    second = api.get(f"/sessions?limit=2&before={first['next']}")
    third = api.get(f"/sessions?limit=2&before={second['next']}")
    pages = [first, second, third]
    assert [item["id"] for page in pages for item in page["items"]] == made[::-1]
    assert third["next"] is None
    assert [item["title"] for item in api.get("/sessions?q=RUN 3")["items"]] == ["run 3"]
    assert [item["title"] for item in api.get("/sessions?q=agent:4")["items"]] == ["run 4"]


def test_a_session_tells_its_counts_and_null_where_nobody_knows(alice: Person) -> None:
    api = api_of(alice.team)
    told = api.get(f"/sessions/{alice.imports(short_session().data(), 'notes.jsonl').uuid}")
    assert (told["title"], told["calls"], told["peakTokens"]) == ("notes", 4, 1180)
    assert told["model"] == "claude-opus-4-5"
    empty = Session.objects.create(team=alice.team, title="empty")
    told = api.get(f"/sessions/{empty.uuid}")
    assert (told["calls"], told["window"], told["lastAt"]) == (None, None, None)


def test_a_session_can_be_renamed(alice: Person, bob: Person) -> None:
    session = alice.imports(short_session().data())
    answer = api_of(alice.team, "write").call(
        "PATCH", f"/sessions/{session.uuid}", {"title": "名字 <b>\x00"}
    )
    assert (answer[0], answer[1]["title"]) == (200, "名字 <b>")
    session.refresh_from_db()
    assert session.title == "名字 <b>"
    other = api_of(bob.team, "write").call("PATCH", f"/sessions/{session.uuid}", {"title": "x"})
    assert other[0] == 404


def test_calls_have_a_value_each_and_null_where_nothing_was_billed(alice: Person) -> None:
    chain = short_session()
    billed = [record for record in chain.records if "usage" in record.get("message", {})]
    del billed[0]["message"]["usage"]
    calls = api_of(alice.team).get(f"/sessions/{alice.imports(chain.data()).uuid}/calls")
    assert {len(values) for values in calls.values()} == {4}
    assert calls["billedTotal"][0] is None
    assert calls["billedTotal"][-1] == 1180
    assert all(value > 0 for value in calls["estimated"])


def test_entries_come_as_they_were_read_in_pages_and_masked(alice: Person) -> None:
    chain = short_session()
    session = alice.imports(chain.data())
    api = api_of(alice.team)
    first = api.get(f"/sessions/{session.uuid}/entries?limit=3")
    assert [item["seq"] for item in first["items"]] == [0, 1, 2]
    assert first["items"][0]["entry"] == chain.records[1]
    second = api.get(f"/sessions/{session.uuid}/entries?limit=200&after={first['next']}")
    assert len(second["items"]) == session.entry_count - 3
    assert second["next"] is None
    hide = masking.register(lambda text: text.replace("user", "[hidden]"))
    try:
        masked = api.get(f"/sessions/{session.uuid}/entries")["items"]
    finally:
        masking.unregister(hide)
    assert masked[0]["entry"]["message"]["role"] == "[hidden]"


def test_other_teams_and_unknown_ids_are_404_everywhere(alice: Person, bob: Person) -> None:
    theirs = bob.imports(short_session().data())
    api = api_of(alice.team)
    for uuid in (theirs.uuid, uuid4()):
        for part in ("", "/calls", "/entries"):
            assert api.call("GET", f"/sessions/{uuid}{part}")[0] == 404
