"""The doctor's page: pasted, uploaded or stored, explained and corrected; nothing kept unasked."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from compaction_app import doctor_forms
from compaction_app.engine.config.syntax import parse_config
from sessions_app.models import Agent, Session
from tests.compaction_app.conftest import Bring
from tests.compaction_app.pages.page import Page
from tests.conftest import Person
from tests.engine.builders import Script, chat
from tests.engine.doctor.configs import HEALTHY, ILL

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"
ADDRESS = "/doctor/"


def words(answer: HttpResponse) -> str:
    """What a person reads: the answer without its tags."""
    assert answer.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def ask(client: Client, config: str = "", **more: Any) -> HttpResponse:
    return client.post(ADDRESS, {"config": config, **more})  # type: ignore[return-value]


@pytest.fixture
def session(bring: Bring) -> Session:
    return bring(chat(12), ILL)


def stored(session: Session) -> str:
    assert session.agent is not None
    return f"{ADDRESS}?agent={session.agent.uuid}"


def test_the_empty_page_says_what_to_do(viewer: Client) -> None:
    text = words(viewer.get(ADDRESS))  # type: ignore[arg-type]
    assert "What shall be examined?" in text
    assert "No agent is stored here yet" in text


def test_a_pasted_file_is_explained(viewer: Client) -> None:
    text = words(ask(viewer, ILL))
    for part in (
        "CONFIG_UNKNOWN_KEY",
        "FLUSH_UNREACHABLE",
        "Does the memory flush come before the compaction?",
        "Memory flush and preflight: 128,000 tokens.",
        "agents.defaults.contextTokens decides: it is asked first",
        "Small-window protection.",
        "Not active: contextPruning.mode is off.",
        "set in openclaw.json",
        "filled in by the runtime when it reads the file",
        "Does it compact too often?",
        "Does it use too many tokens?",
        "openclaw-2026.4.20",
        "Other agents of this file",
        "contextLimits.toolResultMaxChars 9,000",
    ):
        assert part in text, part
    assert not Session.objects.exists() and not Agent.objects.exists()


def test_an_uploaded_file_takes_the_place_of_the_field(viewer: Client) -> None:
    upload = SimpleUploadedFile("openclaw.json", ILL.encode())
    answer = viewer.post(ADDRESS, {"config": HEALTHY, "config_file": upload})
    assert "FLUSH_UNREACHABLE" in words(answer)  # type: ignore[arg-type]
    assert "// my agent" in answer.content.decode()


def test_the_corrected_file_can_be_taken_whole_or_in_part(viewer: Client) -> None:
    answer = ask(viewer, ILL, action="download")
    assert answer["Content-Disposition"] == 'attachment; filename="openclaw.json"'
    whole = parse_config(answer.content.decode())
    assert whole["agents"]["defaults"]["compaction"]["reserveTokens"] == 24_000
    part = ask(viewer, ILL, action="download", chosen="1", change=["contextPruning.ttl"])
    assert part.content.decode() == ILL.replace("'5y'", '"5m"')
    nothing = ask(viewer, ILL, action="download", chosen="1")
    assert "Corrected openclaw.json" in words(nothing)


def test_the_page_shows_what_changes_in_the_file(viewer: Client) -> None:
    answer = ask(viewer, ILL)
    page = Page(answer)
    proposed = [a["value"] for a in page.named("input") if a.get("name") == "change"]
    assert proposed[:2] == [
        "compaction.reserveTokens",
        "agents.defaults.compaction.keep_recent_tokens",
    ]
    text = answer.content.decode()
    assert '<span class="gone">' in text and '<span class="came">' in text
    assert "corrected" in page.ids()


def test_a_stored_agent_is_examined_with_its_sessions(viewer: Client, session: Session) -> None:
    answer = viewer.get(stored(session))
    text = words(answer)  # type: ignore[arg-type]
    assert "measured in s" in text and "in 1 of 1 session" in text
    assert reverse("session", args=[session.uuid]) in answer.content.decode()
    assert "this session: tokens sent" in text


def test_what_each_change_does_comes_a_moment_later(viewer: Client, session: Session) -> None:
    page = Page(viewer.get(stored(session)))
    (place,) = [a for a in page.named("div") if a.get("id") == "outcomes"]
    assert place["hx-post"] == ADDRESS
    assert session.agent is not None
    answer = viewer.post(
        ADDRESS, {"agent": str(session.agent.uuid)}, headers={"HX-Target": "outcomes"}
    )
    text = words(answer)  # type: ignore[arg-type]
    assert "as the file is" in text and "all of these changes together" in text
    assert "<html" not in answer.content.decode()
    without_scripts = ask(viewer, agent=str(session.agent.uuid), action="outcomes")
    assert "all of these changes together" in words(without_scripts)


def test_the_sessions_of_an_agent_are_judged_as_if_a_pasted_file_held(
    viewer: Client, session: Session
) -> None:
    assert session.agent is not None
    other = HEALTHY.replace("acme", "mock")
    text = words(ask(viewer, other, agent=str(session.agent.uuid)))
    assert "CONFIG_UNKNOWN_KEY" not in text and "measured in s" in text
    session.agent.refresh_from_db()
    assert session.agent.config_text == ILL


def test_a_pasted_file_is_kept_for_an_agent_when_asked_for(
    viewer: Client, session: Session
) -> None:
    assert session.agent is not None
    agent = session.agent
    answer = ask(viewer, HEALTHY, agent=str(agent.uuid), action="keep")
    assert answer["Location"] == stored(session)
    agent.refresh_from_db()
    assert agent.config_text == HEALTHY
    ask(viewer, "{ agents: ", agent=str(agent.uuid), action="keep")
    ask(viewer, HEALTHY, action="keep")
    agent.refresh_from_db()
    assert agent.config_text == HEALTHY


def test_an_index_reaches_stored_sessions_and_judges_the_others_alone(
    viewer: Client, bring: Bring
) -> None:
    bring(chat(6), None)
    index = {
        "agent:main:main": {"sessionId": "s", "totalTokens": 150_000, "totalTokensFresh": False},
        "agent:main:other": {"sessionId": "elsewhere", "totalTokens": 9, "inputTokens": 3},
    }
    text = words(ask(viewer, HEALTHY, sessions=json.dumps(index)))
    assert "Sessions looked at: 2" in text
    assert "TOTAL_STALE" in text
    assert Session.objects.get().index_entry is None


def test_another_agent_of_the_file_can_be_asked_for(viewer: Client) -> None:
    text = words(ask(viewer, ILL, **{"as": "ops"}))
    assert "agent ops" in text and "set for this agent" in text


def test_other_rules_can_be_asked_for_and_unknown_ones_are_refused(viewer: Client) -> None:
    assert "rules openclaw-2026.3" in words(ask(viewer, HEALTHY, rules="openclaw-2026.3"))
    assert "There is no rule set 'openclaw-1'" in words(ask(viewer, HEALTHY, rules="openclaw-1"))
    dated = HEALTHY.replace("{", "{meta: {lastTouchedVersion: '2026.4.20'},", 1)
    assert "rules openclaw-2026.4.20" in words(ask(viewer, dated))


def test_what_is_not_ours_is_not_there(alice: Person, bob: Person, bring: Bring) -> None:
    theirs = bring(chat(2), HEALTHY, owner=bob.team)
    assert theirs.agent is not None
    assert alice.client.get(stored(theirs)).status_code == 404
    assert ask(alice.client, agent=str(theirs.agent.uuid)).status_code == 404
    keep = {"config": HEALTHY, "agent": str(theirs.agent.uuid), "action": "keep"}
    assert alice.client.post(ADDRESS, keep).status_code == 404
    index = json.dumps({"agent:main:main": {"sessionId": "s"}})
    assert "Sessions looked at: 1" in words(ask(alice.client, HEALTHY, sessions=index))
    assert str(theirs.uuid) not in ask(alice.client, HEALTHY, sessions=index).content.decode()
    assert alice.client.get(f"/sessions/{theirs.uuid}/rule-sets/").status_code == 404


def test_it_wants_somebody_who_is_logged_in_and_the_token_of_the_page(
    client: Client, alice: Person
) -> None:
    assert client.get(ADDRESS)["Location"].startswith("/login/")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice.user)
    assert strict.post(ADDRESS, {"config": "{}"}).status_code == 403
    assert alice.client.delete(ADDRESS).status_code == 405


@pytest.mark.parametrize("agent", ["not-a-uuid", "%00"])
def test_a_wrong_agent_is_told(viewer: Client, agent: str) -> None:
    assert "There is no such agent" in words(viewer.get(ADDRESS, {"agent": agent}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["{ agents: ", "[]", "\x00", "{a: '\\ud83d', '\\ud83d': 1}", "{" * 500]
)
def test_any_text_gives_a_page(viewer: Client, text: str) -> None:
    found = words(ask(viewer, text))
    assert re.search("CONFIG_INVALID|CONFIG_UNKNOWN_KEY|Nothing is out of order", found)


def test_a_file_that_is_too_large_is_refused(viewer: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(doctor_forms, "MOST_CONFIG_BYTES", 10)
    assert "larger than 0 MB" in words(ask(viewer, HEALTHY))


def test_nothing_of_a_hostile_file_is_markup(viewer: Client, bring: Bring) -> None:
    text = json.dumps(
        {"agents": {"list": [{"id": HOSTILE}]}, HOSTILE: 1, "models": {"providers": {HOSTILE: {}}}}
    )
    session = bring(Script().user(HOSTILE).answer(100, 900), text)
    assert session.agent is not None
    session.agent.name = session.agent.home = HOSTILE
    session.agent.save()
    for answer in (ask(viewer, text), viewer.get(stored(session)), viewer.get(ADDRESS)):
        page = answer.content.decode()
        assert HOSTILE not in page and "alert(1)" in page
        for tag, attributes in Page(answer).elements:
            assert tag != "style"
            assert not [name for name in attributes if name.startswith("on") or name == "style"]


def test_the_picture_has_a_bar_for_each_unit(viewer: Client) -> None:
    text = ask(viewer, HEALTHY).content.decode()
    ladder = text[text.index('class="ladder"') : text.index("</figure>")]
    assert re.findall(r'class="unit"[^>]*>([^<]+)<', ladder) == [
        "billed prompt tokens",
        "billed total tokens",
        "estimated tokens × 1.2",
    ]
    assert "flush and preflight line" in ladder


def test_a_session_under_every_rule_set(viewer: Client, session: Session) -> None:
    place = reverse("rule-sets", args=[session.uuid])
    assert place in viewer.get(f"/sessions/{session.uuid}/").content.decode()
    text = words(viewer.get(place))  # type: ignore[arg-type]
    assert "Under every rule set" in text and "this session: tokens sent" in text
    assert viewer.post(place).status_code == 405


def test_the_session_page_shows_all_three_windows(viewer: Client, session: Session) -> None:
    text = words(viewer.get(f"/sessions/{session.uuid}/"))  # type: ignore[arg-type]
    for chain in (
        "Memory flush and preflight",
        "Runs, pruning and compaction",
        "Replies and status",
    ):
        assert f"{chain}:" in text
