"""The API that agents live by: begin, append, prepare, report, archive, delete, export."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from compaction_app.models import Decision
from compaction_app.run_memory import with_failure
from sessions_app import jobs, store
from sessions_app.models import Entry, Session
from tests.api_client import ApiClient, api_of
from tests.compaction_app.live import answer, live_agent, live_session, user
from tests.conftest import Person, source_of

pytestmark = pytest.mark.django_db(transaction=True)
Json = dict[str, Any]


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "wake", lambda job: None)


@pytest.fixture
def session(alice: Person) -> Session:
    return live_session(alice)


@pytest.fixture
def api(alice: Person) -> ApiClient:
    return api_of(alice.team, "write")


def path(session: Session, part: str = "") -> str:
    return f"/sessions/{session.uuid}{part}"


def test_a_session_is_begun_alone_or_below_another(alice: Person, api: ApiClient) -> None:
    agent = live_agent(alice)
    first = api.post("/sessions", {"agent": str(agent.uuid), "title": "周一"})
    assert (first["title"], first["isLive"], first["entries"]) == ("周一", True, 0)
    api.post(f"/sessions/{first['id']}/messages", {"messages": [user("hello"), answer("hi")]})
    fork = {"agent": str(agent.uuid), "parent": first["id"], "fork": True}
    below = api.post("/sessions", fork)
    child = Session.objects.get(uuid=below["id"])
    assert child.parent and str(child.parent.uuid) == first["id"]
    assert Entry.objects.filter(window__session=child).count() == 2
    status, body = api.call("POST", "/sessions", {"agent": str(agent.uuid), "fork": True})
    assert (status, body["errors"][0]["field"]) == (422, "fork")


def test_appending_answers_ids_tokens_and_pressure(session: Session, api: ApiClient) -> None:
    got = api.post(
        path(session, "/messages"), {"messages": [user("hello"), answer("hi", prompt=12_000)]}
    )
    stored = list(Entry.objects.order_by("seq").values_list("entry_id", flat=True))
    assert [receipt["id"] for receipt in got["receipts"]] == stored
    assert [receipt["sent"] for receipt in got["receipts"]] == [0, 1]
    assert got["head"] == stored[-1]
    assert got["estimatedTokens"] > 0
    pressure = got["pressure"]
    assert (pressure["window"], pressure["storedTotal"]) == (32_000, 12_000)
    assert pressure["fill"] == 0.375
    distance = {line["name"]: line["distance"] for line in pressure["lines"]}
    assert distance["flush"] == 24_000 - 12_000
    assert distance["pre_prompt"] is None, "it judges an estimate, not what was billed"


def test_appending_an_answer_tells_what_was_decided_and_which_job_it_started(
    session: Session, api: ApiClient
) -> None:
    turn = [user("hello " * 2_000), answer("yes", prompt=1_000)]
    got = api.post(path(session, "/messages"), {"messages": turn})
    assert got["jobs"] == []
    (judged,) = [d for d in got["decisions"] if d["kind"] == "inner_trigger"]
    assert (judged["fired"], judged["reason"]) == (False, "below_threshold")
    assert [receipt["billedTokens"] for receipt in got["receipts"]] == [None, 1_010]
    assert (
        sum(receipt["estimatedTokens"] for receipt in got["receipts"]) == (got["estimatedTokens"])
    )
    full = {"messages": [user("more"), answer("yes", prompt=26_000)]}
    got = api.post(path(session, "/messages"), full)
    (job,) = got["jobs"]
    assert api.get(f"/jobs/{job}")["kind"] == "compaction"
    stored = api.get(path(session, "/decisions?kind=inner_trigger"))["items"]
    assert [d["outcome"] for d in stored] == ["none", "compact"]
    assert [d["reason"] for d in stored] == ["below_threshold", "above_threshold"]


def test_a_blocked_turn_is_confirmed_with_its_prompt_alone(
    session: Session, api: ApiClient
) -> None:
    turn = {"messages": [user("hello " * 2_000), answer("yes", prompt=26_000)]}
    api.post(path(session, "/calls"), turn)
    with store.writing(session) as writer:
        for work in ("flush", "compact"):
            writer.state = with_failure(writer.state, work, writer.head, "no model")
    prompt = user("next")
    told = api.post(path(session, "/prepare"), {"prompt": prompt})
    assert (told["action"], told["messages"]) == ("blocked", None)
    said = api.post(path(session, "/calls"), {"messages": [prompt]})
    assert (said["action"], said["reply"], said["job"]) == ("blocked", told["reply"], None)
    assert len(said["receipts"]) == 1
    rows = list(Entry.objects.order_by("-seq").values_list("role", flat=True))[:2]
    assert rows == ["assistant", "user"]


def test_an_expected_head_that_moved_is_told(session: Session, api: ApiClient) -> None:
    body = {"messages": [user("one")], "expectedHead": ""}
    head = api.post(path(session, "/messages"), body)["head"]
    status, answer_ = api.call("POST", path(session, "/messages"), body)
    assert (status, answer_["head"]) == (409, head)
    body["expectedHead"] = head
    assert api.call("POST", path(session, "/messages"), body)[0] == 200


def test_the_same_key_stores_once_and_answers_alike(session: Session, api: ApiClient) -> None:
    body = {"messages": [user("once")]}
    key = {"Idempotency-Key": "k-1"}
    first = api.call("POST", path(session, "/messages"), body, **key)
    again = api.call("POST", path(session, "/messages"), body, **key)
    assert first == again
    assert first[0] == 200
    assert Entry.objects.count() == 1
    status, other = api.call("POST", path(session, "/messages"), {"messages": [user("x")]}, **key)
    assert (status, other["errors"][0]["field"]) == (422, "Idempotency-Key")
    assert api.call("POST", path(session, "/messages"), body)[0] == 200
    assert Entry.objects.count() == 2, "without a key it is another message"
    long = {"Idempotency-Key": "k" * 201}
    assert api.call("POST", path(session, "/messages"), body, **long)[0] == 422


def test_a_key_whose_call_was_refused_can_be_used_again(session: Session, api: ApiClient) -> None:
    key = {"Idempotency-Key": "k"}
    bad = {"messages": [user("x")], "expectedHead": "elsewhere"}
    assert api.call("POST", path(session, "/messages"), bad, **key)[0] == 409
    good = {"messages": [user("x")]}
    assert api.call("POST", path(session, "/messages"), good, **key)[0] == 200


def test_a_whole_turn_in_the_form_of_the_openai_api(session: Session, api: ApiClient) -> None:
    prompt = {"role": "user", "content": "list the files"}
    got = api.post(path(session, "/prepare"), {"form": "openai", "prompt": prompt})
    assert (got["action"], got["messages"]) == ("send", [prompt])
    assert Entry.objects.count() == 0, "nothing is stored before the call"
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        ],
    }
    usage = {"prompt_tokens": 500, "completion_tokens": 20, "total_tokens": 520}
    body = {"form": "openai", "messages": [prompt, call], "usage": usage}
    reported = api.post(path(session, "/calls"), body)
    assert reported["action"] is None, "the results of its tools come next"
    result = {"role": "tool", "tool_call_id": "c1", "content": "a.txt"}
    api.post(path(session, "/messages"), {"form": "openai", "messages": [result]})
    got = api.post(path(session, "/prepare"), {"form": "openai"})
    assert [message["role"] for message in got["messages"]] == ["user", "assistant", "tool"]
    assert got["messages"][1]["tool_calls"][0]["id"] == "c1"
    last = {"form": "openai", "messages": [{"role": "assistant", "content": "One file."}]}
    reported = api.post(
        path(session, "/calls"),
        {**last, "usage": {"prompt_tokens": 560, "completion_tokens": 9}},
    )
    assert reported["action"] == "done"
    assert reported["pressure"]["storedTotal"] == 560
    decisions = api.get(path(session, "/decisions?limit=200"))["items"]
    assert {decision["reading"] for decision in decisions} == {"live"}
    assert {"memory_flush", "preflight"} <= {decision["kind"] for decision in decisions}


def test_what_must_happen_first_is_told_with_its_numbers(session: Session, api: ApiClient) -> None:
    turn = {"messages": [user("hello " * 2_000), answer("yes", prompt=26_000)]}
    api.post(path(session, "/calls"), turn)
    got = api.post(path(session, "/prepare"), {"prompt": user("next")})
    assert got["action"] == "flush", "a due flush goes before a due compaction here"
    assert got["messages"] is None
    judged = next(d for d in got["decisions"] if d["kind"] == "memory_flush")
    assert judged["fired"]
    assert judged["steps"]


def test_an_overflow_is_known_by_its_text_and_answered(session: Session, api: ApiClient) -> None:
    for number in range(3):
        api.post(
            path(session, "/calls"),
            {"messages": [user(f"{number} " + "word " * 900), answer("ok " * 300, prompt=3_000)]},
        )
    error = "prompt is too long: 33000 tokens > 32000 maximum"
    got = api.post(path(session, "/calls"), {"messages": [user("big")], "error": error})
    assert got["action"] == "compact"
    assert got["due"]["trigger"] in ("overflow", "inner_overflow")


def test_anthropic_messages_keep_their_thinking_and_images(
    session: Session, api: ApiClient
) -> None:
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
    }
    prompt = {"role": "user", "content": [{"type": "text", "text": "what is it?"}, image]}
    reply = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "A dot."},
        ],
    }
    usage = {"input_tokens": 100, "output_tokens": 7, "cache_read_input_tokens": 40}
    body = {"form": "anthropic", "messages": [prompt, reply], "usage": usage}
    assert api.post(path(session, "/calls"), body)["pressure"]["storedTotal"] == 140
    follow = {"role": "user", "content": "sure?"}
    got = api.post(path(session, "/prepare"), {"form": "anthropic", "prompt": follow})
    assert got["messages"][:2] == [prompt, reply]


@pytest.mark.parametrize(
    "part, body, field",
    [
        ("/messages", {"messages": []}, "messages"),
        ("/messages", {"messages": [{"content": "x"}]}, "messages.0"),
        ("/messages", {"messages": [{"role": "robot"}], "form": "openai"}, "messages.0"),
        ("/messages", {"messages": [user("x")], "form": "morse"}, "form"),
        ("/prepare", {}, "prompt"),
        ("/prepare", {"prompt": answer("x")}, "prompt"),
        ("/calls", {}, "messages"),
        ("/calls", {"messages": [user("x")], "usage": {"input": 5}}, "usage"),
        ("/calls", {"messages": [user("x"), answer("y")], "usage": {"words": 5}}, "usage"),
    ],
)
def test_a_message_that_cannot_be_used_is_named(
    session: Session, api: ApiClient, part: str, body: Json, field: str
) -> None:
    status, said = api.call("POST", path(session, part), body)
    assert (status, said["errors"][0]["field"]) == (422, field), said
    assert Entry.objects.count() == 0


def test_what_is_exported_comes_back_as_the_same_session(
    alice: Person, session: Session, api: ApiClient
) -> None:
    api.post(path(session, "/calls"), {"messages": [user("hello 你好"), answer("hi", 900)]})
    answered = api.request("GET", path(session, "/export"))
    assert answered.status_code == 200
    data = b"".join(answered.streaming_content)
    again = alice.imports(data, "again.jsonl")
    mine, theirs = api.get(path(session, "/entries")), api.get(path(again, "/entries"))
    assert [item["entry"] for item in mine["items"]] == [item["entry"] for item in theirs["items"]]
    assert source_of(data).size == len(data)


def test_an_archived_session_takes_nothing_and_an_imported_one_never_did(
    alice: Person, session: Session, api: ApiClient
) -> None:
    api.post(path(session, "/messages"), {"messages": [user("hello"), answer("hi")]})
    data = b"".join(api.request("GET", path(session, "/export")).streaming_content)
    assert api.post(path(session, "/archive"), None)["archivedAt"]
    assert api.call("POST", path(session, "/messages"), {"messages": [user("x")]})[0] == 409
    imported = alice.imports(data, "imported.jsonl")
    assert api.call("POST", path(imported, "/messages"), {"messages": [user("x")]})[0] == 404


def test_deleting_needs_an_admin_and_takes_everything_along(
    alice: Person, session: Session, api: ApiClient
) -> None:
    api.post(path(session, "/calls"), {"messages": [user("hello"), answer("hi", 900)]})
    assert api.call("DELETE", path(session))[0] == 403
    assert api_of(alice.team, "admin").call("DELETE", path(session)) == (204, None)
    assert api.call("GET", path(session))[0] == 404
    assert not Entry.objects.exists()
    assert not Decision.objects.exists()


def test_other_teams_and_unknown_ids_are_404(alice: Person, bob: Person, api: ApiClient) -> None:
    theirs = live_session(bob)
    for uuid in (theirs.uuid, uuid4()):
        address = f"/sessions/{uuid}"
        assert api.call("POST", f"{address}/messages", {"messages": [user("x")]})[0] == 404
        assert api.call("POST", f"{address}/prepare", {"prompt": user("x")})[0] == 404
        assert api.call("POST", f"{address}/calls", {"messages": [user("x")]})[0] == 404
        assert api.call("POST", f"{address}/archive")[0] == 404
        assert api.call("GET", f"{address}/export")[0] == 404
        assert api_of(alice.team, "admin").call("DELETE", address)[0] == 404
    body = {"agent": str(theirs.agent.uuid) if theirs.agent else ""}
    assert api.call("POST", "/sessions", body)[0] == 404
    mine = {"agent": str(live_agent(alice).uuid), "parent": str(theirs.uuid)}
    assert api.call("POST", "/sessions", mine)[0] == 404


def test_a_reader_stores_nothing_and_starts_nothing(alice: Person, session: Session) -> None:
    api = api_of(alice.team, "read")
    assert api.call("POST", path(session, "/prepare"), {"prompt": user("x")})[0] == 403
    for part in ("/messages", "/calls"):
        assert api.call("POST", path(session, part), {"messages": [user("x")]})[0] == 403
