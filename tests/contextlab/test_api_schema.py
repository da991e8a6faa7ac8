"""Whatever the OpenAPI document allows, and much that it does not, is answered as the document says."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from compaction_app.live_turns import append
from compaction_app.models import Decision
from sessions_app import jobs
from sessions_app.models import Job
from tests.api_client import api_of
from tests.compaction_app.live import answer, live_session, user
from tests.conftest import Person

pytestmark = pytest.mark.django_db(transaction=True)
EXAMPLES = 8
CHECKS = (
    not_a_server_error, status_code_conformance, content_type_conformance,
    response_schema_conformance,
)  # fmt: skip
document = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", get_wsgi_application())
answering = document.exclude(path_regex="/stream$")  # those never end


@pytest.fixture
def real(alice: Person, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Ids of things that are there, by the names the addresses give them, and a token for all of it."""
    monkeypatch.setattr(jobs, "wake", lambda job: None)
    session = live_session(alice)
    append(session, [user("hello"), answer("hi", 900)])
    assert session.agent
    job = Job.objects.create(team=alice.team, kind="import", title="x", session=session)
    decision = Decision.objects.create(
        session=session, reading="live", turn=1, stage="x", rule="x", fired=False, outcome="x",
        reason="x", rule_set="x",
    )  # fmt: skip
    ids = {"session_id": session, "agent_id": session.agent, "job_id": job, "decision_id": decision}
    return {name: str(row.uuid) for name, row in ids.items()} | {
        "token": api_of(alice.team, "admin").secret
    }


@answering.parametrize()
@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
def test_every_address_answers_as_documented(case: Any, real: dict[str, Any]) -> None:
    if len(str(case.body)) % 4:  # now and then it keeps an id that leads nowhere
        case.path_parameters |= {k: v for k, v in real.items() if k in case.path_parameters}
    if case.query and "wait" in case.query:
        case.query["wait"] = 0
    headers = {"Authorization": f"Bearer {real['token']}", "Accept-Encoding": "identity"}
    case.call_and_validate(headers=headers, checks=CHECKS)
