"""A secret that stands in a session is on no page, in no answer, no file and no message to others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from compaction_app import live_turns
from compaction_app.compaction_jobs import request_compaction
from compaction_app.flush_jobs import request_flush
from compaction_app.models import CompactionRecord, Decision, FlushRecord, WebhookDelivery
from compaction_app.tasks import compact_session, flush_session
from compaction_app.webhooks import KINDS, add_webhook
from sessions_app import stream
from sessions_app.events import announce
from sessions_app.following import count_session
from sessions_app.models import Agent, Job, Session
from sessions_app.secret_search import search_all
from tests.admin_pages import superuser
from tests.api_client import api_of
from tests.compaction_app.live import answer, live_session, result, user
from tests.conftest import Person

pytestmark = pytest.mark.django_db

KEY = "sk-ant-api03-" + "Zq7Rk2Vw9Xb4Nc6Tm1Yp8Ls3" * 2
PASSWORD = "Tr0ub4dor&3zebra"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PARTS = (KEY[:20], KEY[-20:], PASSWORD, TOKEN[:16])
"""No piece of these may be seen either."""
TEXT = (
    f"Always use the key {KEY} and the database postgres://app:{PASSWORD}@db.internal:5432/orders "
    f"for host db.internal:5432. We decided: deploy with {TOKEN}. Never change /srv/app/config.yml."
)


@pytest.fixture
def session(alice: Person) -> Session:
    """Secrets in prompts, calls, results and answers, at a place where excerpts are cut, and alone."""
    made = live_session(alice, system_prompt=f"You may use {TOKEN}.")
    assert made.agent is not None
    add_webhook(made.agent, "https://hooks.example.org/x", list(KINDS))
    call = answer("", prompt=3_000) | {
        "content": [
            {"type": "thinking", "thinking": f"The key is {KEY}."},
            {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"cmd": f"curl -H 'Authorization: Bearer {TOKEN}' x", "password": PASSWORD}},
        ],
        "stopReason": "toolUse",
    }  # fmt: skip
    filler = "alpha beta gamma delta " * 250
    live_turns.append(made, [user(TEXT + filler), call, result("c1", f"export API_KEY={KEY}\n{filler}")])  # fmt: skip
    live_turns.append(made, [answer(f"Done with {PASSWORD}.", prompt=9_000)])
    live_turns.append(made, [user("x " * 110 + f"then {KEY} " + filler), answer("fine", prompt=14_000)])  # fmt: skip
    live_turns.append(made, [user("Go on " + filler), answer(f"It is {KEY}", prompt=19_000)])
    return made


def worked(session: Session) -> None:
    """A flush and a compaction of it, which write records, decisions, memory and messages to others."""
    flush_session(str(request_flush(session).uuid))
    compact_session(str(request_compaction(session).uuid))
    session.refresh_from_db()
    count_session(session)


def leaks(text: str) -> list[str]:
    plain = text.replace("\\u0026", "&").replace("&amp;", "&").replace("\\/", "/")
    return [part for part in PARTS if part in plain]


def routes(urls: Any, prefix: str = "") -> Iterator[str]:
    for one in urls:
        route = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            if not route.startswith(("admin", "api")):
                yield from routes(one.url_patterns, route)
        elif isinstance(one, URLPattern):
            yield route


def addresses(session: Session) -> Iterator[str]:
    """Every page of the site that can be looked at, for everything there is."""
    agent = session.agent
    assert agent is not None
    ids: dict[str, list[UUID]] = {
        "sessions": [session.uuid],
        "decisions": list(Decision.objects.values_list("uuid", flat=True)[:15]),
        "compactions": list(CompactionRecord.objects.values_list("uuid", flat=True)),
        "flushes": list(FlushRecord.objects.values_list("uuid", flat=True)),
        "agents": [agent.uuid],
        "jobs": list(Job.objects.filter(session=session).values_list("uuid", flat=True)),
        "policies": list(agent.policies.values_list("uuid", flat=True)),
    }
    for route in routes(get_resolver().url_patterns):
        if route.endswith("/events/"):
            continue  # a stream without end; its messages have a test of their own
        owners = ids.get(route.split("/")[0], [])
        for uuid in owners if "<uuid:uuid>" in route else ids["sessions"]:
            one = "/" + route.replace("<uuid:uuid>", str(uuid))
            if re.search(r"<int:(seq|call|number)>", one):
                for number in range(session.entry_count):
                    yield re.sub(r"<int:\w+>", str(number), one)
            elif "<" not in one:
                yield one
    yield f"/agents/{agent.uuid}/?file=AGENTS.md"
    yield f"/sessions/{session.uuid}/report/?texts=1"


def api_paths(session: Session, client: Client) -> Iterator[str]:
    schema = json.loads(client.get("/api/v1/openapi.json").content)
    agent = session.agent
    assert agent is not None
    for path, methods in schema["paths"].items():
        if "get" not in methods or "stream" in path:
            continue
        one = path.removeprefix("/api/v1").replace("{session_id}", str(session.uuid))
        one = one.replace("{agent_id}", str(agent.uuid))
        if "{decision_id}" in one:
            for uuid in Decision.objects.values_list("uuid", flat=True)[:40]:
                yield one.replace("{decision_id}", str(uuid))
        elif re.search(r"{(call|seq|turn|number)}", one):
            for number in range(session.entry_count):
                yield re.sub(r"{(call|seq|turn|number)}", str(number), one)
        elif "{" not in one:
            yield one


@pytest.mark.parametrize("is_searched", [False, True], ids=["not yet searched", "searched"])
def test_a_secret_is_seen_nowhere(alice: Person, session: Session, is_searched: bool) -> None:
    if is_searched:
        search_all()
    worked(session)
    if is_searched:
        search_all()
    agent = Agent.objects.get(pk=session.agent_id)
    alice.client.post(f"/agents/{agent.uuid}/files/", {"name": "AGENTS.md", "text": TEXT})
    looked, seen = 0, {}
    for address in addresses(session):
        shown = alice.client.get(address)
        if shown.status_code == 200:
            looked += 1
            body = b"".join(shown) if shown.streaming else shown.content
            if found := leaks(body.decode("utf-8", "replace")):
                seen[address] = found
    api = api_of(alice.team)
    for path in api_paths(session, alice.client):
        shown = api.request("GET", path)
        if shown.status_code == 200:
            looked += 1
            body = b"".join(shown) if shown.streaming else shown.content
            if found := leaks(body.decode("utf-8", "replace")):
                seen[path] = found
    for delivery in WebhookDelivery.objects.all():
        if found := leaks(delivery.body):
            seen[f"webhook {delivery.kind}"] = found
    assert looked > 80
    assert WebhookDelivery.objects.exists()
    assert seen == {}


def test_the_admin_shows_no_secret(session: Session) -> None:
    worked(session)
    client = superuser()
    seen = {}
    index = client.get("/admin/").text
    for address in sorted(set(re.findall(r'href="(/admin/\w+/\w+/)"', index))):
        lists = client.get(address, {"q": str(session.uuid)}).text + client.get(address).text
        pages = re.findall(rf'href="({address}\d+/change/)', lists)
        for page in [address, *pages[:30]]:
            if found := leaks(client.get(page).text):
                seen[page] = found
        if found := leaks(lists):
            seen[address] = found
    assert seen == {}


def test_events_for_those_who_listen_hold_none(session: Session) -> None:
    announce(session, "note", {"text": f"used {KEY}", "list": [{"password": PASSWORD}]})
    (event,) = stream._masked(session, session.last_event)[-1:]
    assert leaks(stream.message("1", event.kind, event.data).decode()) == []
