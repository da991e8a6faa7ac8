"""Who may call the API, and what its errors look like."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from contextlab.rate_limit import count_call
from sessions_app import api_tokens
from sessions_app.models import ApiToken
from tests.api_client import ApiClient, api_of
from tests.builders import short_session
from tests.conftest import Person

pytestmark = pytest.mark.django_db
PROBLEM = "application/problem+json"


def problem(answer: Any, status: int, name: str) -> dict[str, Any]:
    assert answer.status_code == status
    assert answer["Content-Type"] == PROBLEM
    body: dict[str, Any] = json.loads(answer.content)
    assert body["type"] == f"urn:contextlab:problem:{name}"
    assert body["status"] == status
    return body


def test_without_a_token_the_answer_says_how_to_send_one(client: Client) -> None:
    for headers in ({}, {"Authorization": "Basic x"}, {"Authorization": "Bearer"}):
        answer = client.get("/api/v1/sessions", headers=headers)
        body = problem(answer, 401, "unauthorized")
        assert "Bearer TOKEN" in body["detail"]
        assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_browsers_login_is_no_token(alice: Person) -> None:
    problem(alice.client.get("/api/v1/sessions"), 401, "unauthorized")


def test_a_token_is_kept_as_a_digest_and_opens_only_its_teams_things(
    alice: Person, bob: Person
) -> None:
    mine, theirs = alice.imports(short_session().data()), bob.imports(short_session("b").data())
    token = api_tokens.create(alice.team, alice.user, "laptop", "read")
    assert token.secret not in json.dumps(list(ApiToken.objects.values()), default=str)
    assert token.secret.startswith(token.row.shown)
    api = ApiClient(token.secret)
    assert [each["id"] for each in api.get("/sessions")["items"]] == [str(mine.uuid)]
    assert api.get(f"/sessions/{mine.uuid}")["title"]
    for uuid in (theirs.uuid, uuid4()):
        problem(api.request("GET", f"/sessions/{uuid}"), 404, "not-found")


@pytest.mark.parametrize(
    "end", ["revoked", "expired", "user gone", "user away", "user left the team", "wrong"]
)
def test_a_token_that_has_ended_opens_nothing(alice: Person, end: str) -> None:
    token = api_tokens.create(alice.team, alice.user, "laptop", "read")
    api = ApiClient(token.secret + ("x" if end == "wrong" else ""))
    if end == "revoked":
        api_tokens.revoke(token.row)
    elif end == "expired":
        ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif end == "user gone":
        alice.user.delete()
    elif end == "user left the team":
        alice.team.memberships.all().delete()
    elif end == "user away":
        alice.user.is_active = False
        alice.user.save()
    problem(api.request("GET", "/sessions"), 401, "unauthorized")


def test_a_scope_includes_those_below_it_and_no_more(alice: Person) -> None:
    session = alice.imports(short_session().data())
    address = f"/sessions/{session.uuid}"
    body = problem(
        api_of(alice.team, "read").request("PATCH", address, {"title": "x"}), 403, "forbidden"
    )
    assert "scope write" in body["detail"]
    for scope in ("write", "admin"):
        assert api_of(alice.team, scope).call("PATCH", address, {"title": scope})[0] == 200
        assert api_of(alice.team, scope).get(address)["title"] == scope


def test_the_last_use_is_noted_once_a_minute(alice: Person) -> None:
    token = api_tokens.create(alice.team, alice.user, "laptop", "read")
    now = timezone.now()
    for seconds, noted in ((0, 0), (59, 0), (61, 61), (100, 61)):
        assert api_tokens.verify(token.secret, now + timedelta(seconds=seconds))
        token.row.refresh_from_db()
        assert token.row.last_used_at == now + timedelta(seconds=noted)


def test_a_token_cannot_be_made_with_a_scope_or_an_end_that_means_nothing(alice: Person) -> None:
    with pytest.raises(ValueError, match="known: read, write, admin"):
        api_tokens.create(alice.team, alice.user, "x", "root")
    with pytest.raises(ValueError, match="has passed"):
        api_tokens.create(
            alice.team, alice.user, "x", "read", timezone.now() - timedelta(seconds=1)
        )


def test_every_answer_says_where_the_rate_stands_and_the_limit_holds(
    alice: Person, settings: Settings
) -> None:
    settings.API_CALLS_PER_MINUTE = 2
    api = api_of(alice.team)
    answers = [api.request("GET", "/sessions") for _ in range(2)]
    left = [int(answer["RateLimit-Remaining"]) for answer in answers]
    assert left in ([1, 0], [1, 1]), "the minute may turn between two calls"
    api.request("GET", "/sessions")
    answer = api.request("GET", "/sessions")
    if answer.status_code == 200:  # the minute has just turned
        for _ in range(2):
            answer = api.request("GET", "/sessions")
    problem(answer, 429, "too-many-requests")
    assert 0 < int(answer["Retry-After"]) <= 60
    assert api_of(alice.team).call("GET", "/sessions")[0] == 200, "another token has its own count"


def test_a_minute_counts_for_itself() -> None:
    assert [count_call("a-minute", 2, now).used for now in (0, 59.9, 60, 119, 119)] == [
        1,
        2,
        1,
        2,
        3,
    ]
    rate = count_call("a-minute", 2, 119)
    assert (rate.exceeded, rate.remaining, rate.reset) == (True, 0, 1)


def test_unknown_addresses_and_methods_are_problems_too(alice: Person) -> None:
    api = api_of(alice.team)
    problem(api.request("GET", "/nothing/here"), 404, "not-found")
    problem(api.request("GET", "/sessions/no-uuid"), 404, "not-found")
    answer = api.request("DELETE", "/sessions")
    problem(answer, 405, "method-not-allowed")
    assert "GET" in answer["Allow"]


def test_refused_fields_are_named_and_their_values_not_repeated(alice: Person) -> None:
    session = alice.imports(short_session().data())
    api = api_of(alice.team, "write")
    address = f"/sessions/{session.uuid}"
    for body, field in (
        ({"title": ""}, "title"),
        ({"title": "s3cret" * 100}, "title"),
        ({}, "title"),
        ({"title": "x", "colour": "red"}, "colour"),
    ):
        answer = problem(api.request("PATCH", address, body), 422, "invalid")
        assert answer["errors"][0]["field"] == field
        assert "s3cret" not in json.dumps(answer)
    assert (
        problem(api.request("GET", "/sessions?limit=0"), 422, "invalid")["errors"][0]["field"]
        == "limit"
    )
    answer = api.client.patch(
        f"/api/v1{address}", b"{nonsense", content_type="application/json",
        headers={"Authorization": f"Bearer {api.secret}"},
    )  # fmt: skip
    problem(answer, 400, "bad-request")


def test_a_failure_of_ours_tells_nothing_of_the_inside(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr("sessions_app.api.session_out", fail)
    alice.imports(short_session().data())
    answer = api_of(alice.team).request("GET", "/sessions")
    assert "hunter2" not in answer.content.decode()
    problem(answer, 500, "server-error")


def test_a_busy_database_is_told_with_when_to_come_back(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr("sessions_app.api.session_out", fail)
    alice.imports(short_session().data())
    answer = api_of(alice.team).request("GET", "/sessions")
    body = problem(answer, 503, "unavailable")
    assert answer["Retry-After"] == "1"
    assert "locked" not in body["detail"] and "again" in body["detail"]


def test_the_documentation_is_there_for_everybody(client: Client) -> None:
    document = client.get("/api/v1/openapi.json").json()
    assert "/api/v1/sessions" in document["paths"]
    page = client.get("/api/v1/docs").content.decode()
    assert "<script>" not in page, "the policy of the site forbids scripts in pages"
    assert "ninja/swagger-ui" in page
