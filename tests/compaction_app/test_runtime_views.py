"""The runtime's own views of a session: on the page, in the API and in the terminal the same words."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from compaction_app.engine.composition.context_reply import context_reply
from compaction_app.runs import situation_of
from compaction_app.runtime_views import COMMANDS, reply, runtime_session
from sessions_app.models import Session
from tests.api_client import api_of
from tests.builders import FIRST_MS, short_session
from tests.compaction_app.audited import audited
from tests.compaction_app.live import answer, live_session, user
from tests.conftest import Person
from tests.golden.runs import folder

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def session(alice: Person) -> Session:
    """A recorded run, with the entry that the runtime kept of it."""
    return audited(alice.team, "prune-cache-ttl")


def said(name: str, *arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command(name, *arguments, stdout=out, **options)
    return out.getvalue().rstrip("\n")


def test_context_is_answered_from_the_entry_that_the_runtime_kept(session: Session) -> None:
    entry = session.index_entry
    assert entry is not None
    known = runtime_session(situation_of(session))
    for command in COMMANDS[:4]:
        assert reply(command, known) == context_reply(command, entry, known.context_tokens)
    assert f"Session tokens (cached): {entry['totalTokens']:,} total" in reply(
        "/context list", known
    )


def test_status_has_the_context_the_window_and_the_compactions(session: Session) -> None:
    known = runtime_session(situation_of(session))
    text = reply("/status", known, now_ms=known.entry["updatedAt"] + 60_000)
    assert f"🧹 Compactions: {known.entry.get('compactionCount', 0)}" in text
    assert "updated 1m ago" in text
    assert text.startswith("🦞 OpenClaw 2026.5.28\n🧠 Model: ")


def test_without_an_entry_the_recording_stands_in_and_the_prompt_is_unknown(alice: Person) -> None:
    chain = short_session()
    chain.compaction("e5")
    known = runtime_session(situation_of(alice.imports(chain.data())))
    assert "📚 Context: 1.1k/" in reply("/status", known)
    assert "🧹 Compactions: 1" in reply("/status", known)
    assert reply("/usage tokens", known) == "Usage: 1.1k in / 30 out"
    assert reply("/context list", known).startswith("Context breakdown: unknown.")
    assert json.loads(reply("/context json", known))["report"] is None


def test_a_live_agents_prompt_is_estimated(alice: Person) -> None:
    from compaction_app import live_turns

    tool = {"name": "read", "description": "Reads", "parameters": {"type": "object", "properties": {"path": {}}}}  # fmt: skip
    session = live_session(alice, system_prompt="Be brief. " * 40, tools=[tool])
    live_turns.append(session, [user("Hi"), answer("Yes", prompt=2_000)])
    text = reply("/context detail", runtime_session(situation_of(session)))
    assert "System prompt (estimate): 400 chars (~100 tok)" in text
    assert "- read: 1 params" in text


def test_page_api_and_terminal_say_the_same(alice: Person, session: Session) -> None:
    api = api_of(alice.team)
    known = runtime_session(situation_of(session))
    for command in ("/context list", "/context detail", "/context json", "/usage tokens"):
        expected = reply(command, known)
        asked = f"/sessions/{session.uuid}/commands?command={quote(command)}"
        assert api.get(asked)["text"] == expected
        page = alice.client.get(f"/sessions/{session.uuid}/commands/", {"command": command})
        assert page.context["answer"] == expected
    for mode in ("list", "detail", "json"):
        assert said("context", str(session.uuid), mode) == reply(f"/context {mode}", known)
    assert said("status", str(session.uuid), usage=True) == reply("/usage tokens", known)
    assert "🧹 Compactions" in said("status", str(session.uuid))


def test_the_terminal_reads_files_too(session: Session) -> None:
    place = folder("prune-cache-ttl")
    assert said("context", str(place)) == said("context", str(session.uuid))
    assert "🧹 Compactions" in said("status", str(place))


def test_one_call_in_the_terminal(session: Session) -> None:
    text = said("context", str(session.uuid), call=14)
    assert text.startswith("Context at call 14 of 23\n")
    assert "the cache-stable beginning ends here" in text
    assert "agreement: " in text
    told = json.loads(said("context", str(session.uuid), call=14, json=True))
    assert told["call"] == 14
    assert told["agreement"]["state"] in ("agrees", "parts")


def test_bad_targets_are_said_in_one_sentence(session: Session, tmp_path: Path) -> None:
    for arguments, words in (
        (("context", str(uuid4())), "No stored session"),
        (("context", str(tmp_path)), "no session was found"),
        (("status", str(tmp_path / "missing")), "no such file or folder"),
    ):
        with pytest.raises(CommandError, match=words):
            said(*arguments)
    with pytest.raises(CommandError, match="its calls are 1 to 23"):
        said("context", str(session.uuid), call=99)
    with pytest.raises(CommandError, match="needs a stored session"):
        said("context", str(tmp_path), call=1)
    with pytest.raises(CommandError, match="with the key 'nobody'"):
        said("status", str(folder("prune-cache-ttl")), key="nobody")


def test_the_page_escapes_and_says_what_it_knows(alice: Person, bob: Person) -> None:
    session = alice.imports(short_session().data())
    address = f"/sessions/{session.uuid}/commands/"
    page = alice.client.get(address, {"command": f"/x {HOSTILE}"})
    assert page.status_code == 200
    assert HOSTILE not in page.text
    assert "Unknown command. Known: /context list" in page.text
    assert bob.client.get(address).status_code == 404
    assert alice.client.post(address).status_code == 405
    assert alice.client.get(f"/sessions/{uuid4()}/commands/").status_code == 404


def test_the_api_refuses_what_it_cannot_ask_and_other_teams(alice: Person, bob: Person) -> None:
    session = alice.imports(short_session().data())
    path = f"/sessions/{session.uuid}/commands"
    assert api_of(bob.team).call("GET", path)[0] == 404
    assert api_of(alice.team).call("GET", f"{path}?command={'x' * 61}")[0] == 422
    assert api_of(alice.team).call("GET", f"{path}?command=%00")[0] == 422
    assert "Unknown command" in api_of(alice.team).get(f"{path}?command=/reset")["text"]


def test_moments_are_told_from_the_recording(alice: Person) -> None:
    known = runtime_session(situation_of(alice.imports(short_session().data())))
    assert known.entry["updatedAt"] >= FIRST_MS
