"""Subagents by the API: how many and how deep, with what context, and what their parents are told."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from compaction_app.engine.subagent.completion import CONTEXT_BEGIN
from compaction_app.models import Decision
from sessions_app.models import Entry, Session
from tests.api_client import ApiClient, api_of
from tests.compaction_app.live import answer, live_agent, live_session, user
from tests.conftest import Person

pytestmark = pytest.mark.django_db
Json = dict[str, Any]
DEEP = "{agents: {defaults: {subagents: {maxSpawnDepth: 3, maxChildrenPerAgent: 2}}}}"


@pytest.fixture
def api(alice: Person) -> ApiClient:
    return api_of(alice.team, "write")


@pytest.fixture
def parent(alice: Person) -> Session:
    session = live_session(alice)
    return session


def spawn(api: ApiClient, parent: Session | str, **fields: Any) -> Json:
    identity = parent if isinstance(parent, str) else str(parent.uuid)
    agent = Session.objects.get(uuid=identity).agent
    assert agent is not None
    body = {"agent": str(agent.uuid), "parent": identity, **fields}
    got: Json = api.post("/sessions", body)
    return got


def refused(api: ApiClient, parent: Session | str, **fields: Any) -> Json:
    identity = parent if isinstance(parent, str) else str(parent.uuid)
    agent = Session.objects.get(uuid=identity).agent
    assert agent is not None
    body = {"agent": str(agent.uuid), "parent": identity, **fields}
    status, said = api.call("POST", "/sessions", body)
    assert status == 409, said
    return dict(said)


def turn(api: ApiClient, session: str, said: str, **more: Any) -> None:
    body = {"messages": [user("go"), answer(said, prompt=900)], **more}
    api.post(f"/sessions/{session}/calls", body)


def end(api: ApiClient, session: str, **body: Any) -> Json:
    got: Json = api.post(f"/sessions/{session}/end", body)
    return got


def next_context(api: ApiClient, session: str) -> str:
    got = api.post(f"/sessions/{session}/prepare", {"prompt": user("and now?")})
    return str(got["messages"])


def test_a_subagent_begins_empty_with_the_runtime_s_first_message(
    api: ApiClient, parent: Session
) -> None:
    child = spawn(api, parent, task="  Read the log.  ", label="reader")
    assert child["title"] == "reader"
    assert child["subagent"] == {
        "depth": 1,
        "maxDepth": 1,
        "context": "isolated",
        "note": None,
        "firstMessage": "[Subagent Context] You are running as a subagent (depth 1/1). Results "
        "auto-announce to your requester; do not busy-poll for status.\n\n[Subagent Task]\n\n"
        "Read the log.\n\nBegin. Execute the assigned task to completion.",
    }
    entry = Session.objects.get(uuid=child["id"]).index_entry
    assert entry is not None
    assert (entry["spawnedBy"], entry["spawnDepth"], entry["status"]) == (parent.key, 1, "running")
    made = Decision.objects.get(rule="subagent_spawn")
    assert (made.session_id, made.outcome) == (parent.pk, "spawn")


def test_no_deeper_than_allowed_and_the_refusal_is_on_record(
    api: ApiClient, parent: Session
) -> None:
    child = spawn(api, parent)
    said = refused(api, child["id"])
    assert said["reason"] == "max_spawn_depth"
    assert "maxSpawnDepth" in said["detail"]
    made = Decision.objects.filter(rule="subagent_spawn", fired=False)
    assert list(made.values_list("reason", flat=True)) == ["max_spawn_depth"]
    assert Session.objects.count() == 2


def test_no_more_than_allowed_until_one_has_ended(api: ApiClient, parent: Session) -> None:
    children = [spawn(api, parent)["id"] for _ in range(5)]
    assert refused(api, parent)["reason"] == "max_children"
    end(api, children[0])
    spawn(api, parent)


def test_the_limits_are_settings(alice: Person, api: ApiClient) -> None:
    session = live_session(alice, config_text=DEEP)
    child = spawn(api, session)
    deep = spawn(api, child["id"])
    assert (deep["subagent"]["depth"], deep["subagent"]["maxDepth"]) == (2, 3)
    spawn(api, session)
    assert refused(api, session)["reason"] == "max_children"


def test_a_fork_begins_with_the_parent_s_branch_while_that_is_not_too_large(
    api: ApiClient, parent: Session
) -> None:
    turn(api, str(parent.uuid), "hi")
    child = spawn(api, parent, fork=True)
    assert (child["subagent"]["context"], child["entries"]) == ("fork", 2)
    parent.refresh_from_db()
    parent.index_entry = {**(parent.index_entry or {}), "totalTokens": 100_001}
    parent.save()
    child = spawn(api, parent, fork=True)
    assert (child["subagent"]["context"], child["entries"]) == ("isolated", 0)
    assert "too large to fork (100001/100000 tokens)" in child["subagent"]["note"]


def test_another_agent_s_subagent_never_forks(
    alice: Person, api: ApiClient, parent: Session
) -> None:
    turn(api, str(parent.uuid), "hi")
    other = live_agent(alice, name="other")
    body = {"agent": str(other.uuid), "parent": str(parent.uuid), "fork": True}
    assert api.post("/sessions", body)["subagent"]["context"] == "isolated"


@pytest.mark.django_db(transaction=True)
def test_the_result_is_told_by_the_parent_s_next_prompt_and_once(
    api: ApiClient, parent: Session
) -> None:
    child = spawn(api, parent, task="Read it.", label="reader")
    turn(api, child["id"], "It says <42>.")
    ended = end(api, child["id"])
    assert (ended["outcome"], ended["reason"], ended["pending"]) == ("announce", "reply", 0)
    for part in (CONTEXT_BEGIN, "task: reader", "status: completed; ready for parent review",
                 "It says &lt;42&gt;.", "Stats: runtime", "NO_REPLY when no user-facing"):  # fmt: skip
        assert part in ended["told"]
    events = api.get(f"/sessions/{parent.uuid}/events")
    assert events[-1]["kind"] == "subagent"
    assert events[-1]["data"] == {"session": child["id"], "status": "ok"}
    assert "It says &lt;42&gt;." in next_context(api, str(parent.uuid))
    turn(api, str(parent.uuid), "thanks")
    assert "&lt;42&gt;" not in next_context(api, str(parent.uuid))
    assert not Entry.objects.filter(window__session=parent, excerpt__contains="42").exists(), (
        "the prompt of an announcement is not stored"
    )


@pytest.mark.parametrize(
    "said, outcome, reason",
    [
        ("NO_REPLY", "skip", "silent_reply"),
        ("ANNOUNCE_SKIP", "skip", "silent_reply"),
        ("Done. NO_REPLY", "announce", "reply"),
    ],
)
def test_a_silent_reply_is_not_announced(
    api: ApiClient, parent: Session, said: str, outcome: str, reason: str
) -> None:
    child = spawn(api, parent)
    turn(api, child["id"], said)
    ended = end(api, child["id"])
    assert (ended["outcome"], ended["reason"]) == (outcome, reason)
    assert (ended["told"] is None) == (outcome == "skip")
    made = Decision.objects.get(rule="subagent_announce")
    assert (made.outcome, made.session.uuid) == (
        outcome,
        Session.objects.get(uuid=child["id"]).uuid,
    )


@pytest.mark.parametrize(
    "body, status",
    [
        ({"status": "timeout"}, "status: timed out"),
        ({"status": "error", "error": "the log is gone"}, "status: failed: the log is gone"),
        ({"status": "error"}, "status: failed: unknown error"),
    ],
)
def test_a_run_that_failed_is_told_as_such(
    api: ApiClient, parent: Session, body: Json, status: str
) -> None:
    child = spawn(api, parent)
    ended = end(api, child["id"], **body)
    assert status in ended["told"]
    assert "(no output)" in ended["told"]


def test_what_a_fork_took_over_is_no_result_of_its_own(api: ApiClient, parent: Session) -> None:
    turn(api, str(parent.uuid), "the parent's own words")
    child = spawn(api, parent, fork=True)
    assert "(no output)" in end(api, child["id"])["told"]


@pytest.mark.django_db(transaction=True)
def test_an_announcement_waits_for_the_subagents_below(alice: Person, api: ApiClient) -> None:
    root = live_session(alice, config_text=DEEP)
    middle = spawn(api, root, label="middle")
    low = spawn(api, middle["id"], label="low")
    turn(api, middle["id"], "I wait for the other one.")
    ended = end(api, middle["id"])
    assert (ended["outcome"], ended["pending"], ended["told"]) == ("postpone", 1, None)
    turn(api, low["id"], "The lowest result.")
    assert end(api, low["id"])["outcome"] == "announce"
    told = next_context(api, str(root.uuid))
    assert "Child completion results" in told
    assert "The lowest result." in told
    assert "I wait for" not in told, "the findings stand for its reply"


def test_an_end_is_told_once_and_only_of_subagents(api: ApiClient, parent: Session) -> None:
    child = spawn(api, parent)
    end(api, child["id"])
    assert api.call("POST", f"/sessions/{child['id']}/end", {})[0] == 409
    assert api.call("POST", f"/sessions/{parent.uuid}/end", {})[0] == 409
    key = {"Idempotency-Key": "once"}
    other = spawn(api, parent)["id"]
    first = api.call("POST", f"/sessions/{other}/end", {}, **key)
    assert api.call("POST", f"/sessions/{other}/end", {}, **key) == first


def test_a_parent_that_is_archived_is_told_nothing(api: ApiClient, parent: Session) -> None:
    child = spawn(api, parent)
    api.post(f"/sessions/{parent.uuid}/archive", None)
    assert end(api, child["id"])["told"] is None
    assert api.call("POST", "/sessions", {"agent": child["agent"], "parent": child["id"]})[0] == 422
    refused(api, parent)


def test_other_teams_bad_values_and_readers(
    alice: Person, bob: Person, api: ApiClient, parent: Session
) -> None:
    theirs = live_session(bob)
    for identity in (theirs.uuid, uuid4()):
        assert api.call("POST", f"/sessions/{identity}/end", {})[0] == 404
    child = spawn(api, parent)["id"]
    assert api.call("POST", f"/sessions/{child}/end", {"status": "tired"})[0] == 422
    assert api.call("GET", f"/sessions/{child}/end")[0] == 405
    assert api_of(alice.team, "read").call("POST", f"/sessions/{child}/end", {})[0] == 403
