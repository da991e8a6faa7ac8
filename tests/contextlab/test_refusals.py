"""What the API says of a request it cannot use: the field, what is wrong, what to do; in our words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contextlab.refusals import TEXTS
from sessions_app.models import Session
from tests.api_client import ApiClient, api_of
from tests.compaction_app.live import live_session, user
from tests.conftest import Person

pytestmark = pytest.mark.django_db
Json = dict[str, Any]


@pytest.fixture
def session(alice: Person) -> Session:
    return live_session(alice)


@pytest.fixture
def api(alice: Person) -> ApiClient:
    return api_of(alice.team, "admin")


def refused(api: ApiClient, method: str, path: str, body: Any) -> dict[str, str]:
    status, said = api.call(method, path, body)
    assert status == 422, said
    assert said["type"] == "urn:contextlab:problem:invalid"
    assert said["detail"] == said["errors"][0]["message"]
    for error in said["errors"]:
        assert error["message"].startswith(f"{error['field']}: ")
        assert error["message"].endswith(".")
    assert "nput should" not in json.dumps(said), "the validator's own words"
    return {error["field"]: error["message"] for error in said["errors"]}


@pytest.mark.parametrize(
    "body, field, says",
    [
        ({}, "messages", "is missing; send it"),
        ({"messages": []}, "messages", "at least 1 item"),
        ({"messages": [user("x")] * 1_001}, "messages", "at most 1,000 items"),
        ({"messages": {}}, "messages", "must be a list"),
        ({"messages": ["hello"]}, "messages.0", "must be an object"),
        ({"messages": [user("x")], "form": "morse"}, "form", "'openclaw', 'openai' or 'anthropic'"),
        ({"messages": [user("x")], "expectedHead": 7}, "expectedHead", "must be a text"),
        ({"messages": [user("x")], "expectedHead": "x" * 129}, "expectedHead", "at most 128"),
        ({"messages": [user("x")], "colour": "red"}, "colour", "there is no such field"),
        ([user("x")], "body", "must be an object"),
        ("hello", "body", "must be an object"),
        (7, "body", "must be an object"),
        (None, "body", "is missing; send it"),
    ],
)
def test_a_field_of_the_body_is_named_with_what_to_do(
    session: Session, api: ApiClient, body: Any, field: str, says: str
) -> None:
    told = refused(api, "POST", f"/sessions/{session.uuid}/messages", body)
    assert list(told) == [field]
    assert says in told[field]


def test_several_fields_are_told_of_at_once(session: Session, api: ApiClient) -> None:
    body = {"agent": "nobody", "title": "x" * 201, "fork": "perhaps"}
    told = refused(api, "POST", "/sessions", body)
    assert list(told) == ["agent", "title", "fork"]
    assert "must be an id" in told["agent"] and "true or false" in told["fork"]


def test_a_setting_of_the_wrong_kind_is_told_of_once(session: Session, api: ApiClient) -> None:
    assert session.agent
    body = {"settings": {"compaction.mode": {"deep": 1}}}
    told = refused(api, "PUT", f"/agents/{session.agent.uuid}/policy", body)
    assert told == {
        "settings.compaction.mode": "settings.compaction.mode: must be a text, a whole number, a number, "
        "true or false or a list of texts."
    }


@pytest.mark.parametrize(
    "query, field, says",
    [
        ("limit=0", "limit", "must be 1 or more"),
        ("limit=201", "limit", "must be 200 or less"),
        ("limit=many", "limit", "must be a whole number"),
        ("session=7", "session", "must be an id"),
        ("kind=%00", "kind", "no NUL"),
    ],
)
def test_a_parameter_is_named_with_what_to_do(
    api: ApiClient, query: str, field: str, says: str
) -> None:
    assert says in refused(api, "GET", f"/jobs?{query}", None)[field]


@pytest.mark.parametrize(
    "raw, says",
    [
        (b"{nonsense", "line 1, column 2"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"messages": [\n]', "line 2, column 2"),
        (b'{"title": "\xff"}', "UTF-8"),
    ],
)
def test_a_body_that_is_no_json_is_told_where(
    session: Session, api: ApiClient, raw: bytes, says: str
) -> None:
    answer = api.client.post(
        f"/api/v1/sessions/{session.uuid}/messages",
        raw,
        content_type="application/json",
        headers={"Authorization": f"Bearer {api.secret}"},
    )
    said = answer.json()
    assert (answer.status_code, said["type"]) == (400, "urn:contextlab:problem:bad-request")
    assert says in said["detail"]


def test_every_text_can_be_said() -> None:
    context = {
        "min_length": 1,
        "max_length": 2,
        "ge": 1,
        "le": 2,
        "gt": 0,
        "lt": 3,
        "expected": "x",
    }
    assert all(text(context) for text in TEXTS.values())
