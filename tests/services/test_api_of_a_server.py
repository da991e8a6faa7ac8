"""The API as clients of a running server see it: streams that miss nothing, writers at once, keys and heads."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from contextlab.management.commands.up import WEB
from tests.services.conftest import free_port, wait_until
from tests.services.processes import Program

pytestmark = [pytest.mark.service, pytest.mark.timeout(240)]
Json = dict[str, Any]
MAKE = """
from sessions_app import api_tokens
from sessions_app.models import Agent, Team
team = Team.objects.create(name="t")
agent = Agent.objects.create(team=team, name="a", model="m", is_live=True)
print(agent.uuid, api_tokens.create(team, None, "t", "write").secret)
"""
WRITERS, ROUNDS = 8, 5


@dataclass(frozen=True)
class Site:
    port: int
    agent: str
    token: str

    def ask(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, Json, Any]:
        """Status, body, headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        text = None if body is None else json.dumps(body)
        connection.request(method, f"/api/v1{path}", text, sent | headers)
        answer = connection.getresponse()
        found = json.loads(answer.read())
        connection.close()
        return answer.status, found, answer.headers

    def post(self, path: str, body: Any, **headers: str) -> Json:
        status, found, _ = self.ask("POST", path, body, **headers)
        assert status == 200, found
        return found

    def begin(self) -> str:
        return str(self.post("/sessions", {"agent": self.agent})["id"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data: Path = tmp_path_factory.mktemp("site")
    for arguments in (["migrate", "--no-input"], ["shell", "-v", "0", "-c", MAKE]):
        with Program(["manage.py", *arguments], data) as program:
            assert program.process.wait(120) == 0, program.output()
            said = program.output()
    agent, token = said.split()[-2:]
    found = Site(free_port(), agent, token)
    with Program([*WEB, "--host", "127.0.0.1", "--port", str(found.port)], data) as server:

        def answers() -> bool:
            assert server.process.poll() is None, server.output()
            try:
                return found.ask("GET", "/sessions")[0] == 200
            except OSError:
                return False

        wait_until(answers, "the server", 60)
        yield found


@dataclass
class Listener:
    """Reads a stream, breaks off after every few events, and goes on with the last id it has seen."""

    site: Site
    path: str
    breaks_after: int
    seen: list[Json] = field(default_factory=list)
    connections: int = 0
    over: bool = False

    def listen(self) -> None:
        last = ""
        while not self.over:
            self.connections += 1
            connection = http.client.HTTPConnection("127.0.0.1", self.site.port, timeout=20)
            headers = {"Authorization": f"Bearer {self.site.token}"}
            headers |= {"Last-Event-ID": last} if last else {}
            connection.request("GET", f"/api/v1{self.path}", headers=headers)
            answer = connection.getresponse()
            assert answer.status == 200
            for event in self._events(answer):
                last = event["id"]
                self.seen.append(event)
            connection.close()

    def _events(self, answer: http.client.HTTPResponse) -> Iterator[Json]:
        fields: Json = {}
        came = 0
        while not self.over and came < self.breaks_after:
            line = answer.readline().decode().rstrip("\n")
            if line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value
            elif not line and "event" in fields:
                came += 1
                yield {**fields, "data": json.loads(fields["data"])}
                fields = {}

    def numbers(self, session: str) -> list[int]:
        return [e["data"]["sequence"] for e in self.seen if e["data"].get("session", session) == session]  # fmt: skip


def test_streams_that_are_broken_off_and_resumed_miss_nothing_while_many_write(site: Site) -> None:
    sessions = [site.begin() for _ in range(2)]
    ours = [Listener(site, f"/sessions/{session}/events/stream", 3) for session in sessions]
    team = Listener(site, "/events/stream", 7)
    threads = [threading.Thread(target=each.listen, daemon=True) for each in (*ours, team)]
    for thread in threads:
        thread.start()
    wait_until(lambda: team.connections == 1, "the listeners")
    wait_until(lambda: _is_heard(site, sessions[0], team), "the stream of the team", 60)

    def write(number: int) -> None:
        for turn in range(ROUNDS):
            message = {"role": "user", "content": f"{number} {turn}"}
            site.post(f"/sessions/{sessions[number % 2]}/messages", {"messages": [message]})

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    newest = [len(site.ask("GET", f"/sessions/{s}/events?limit=200")[1]) for s in sessions]
    for listener, session, count in zip(ours, sessions, newest, strict=True):
        wait_until(lambda a=listener, b=count: len(a.seen) >= b, "the session's events", 60)
        assert listener.numbers(session) == list(range(1, count + 1)), "each once, in order"
        assert listener.connections > 2
        wait_until(
            lambda s=session, b=count: {*team.numbers(s)} >= {*range(2, b + 1)},
            "the team's events",
            60,
        )
    assert team.connections > 2
    assert team.numbers(sessions[0]) == sorted(set(team.numbers(sessions[0]))), "none twice"
    for listener in (*ours, team):
        listener.over = True
    for session in sessions:  # something comes, so that they see it
        site.post(f"/sessions/{session}/messages", {"messages": [{"role": "user", "content": "x"}]})
    for thread in threads:
        thread.join(20)


def _is_heard(site: Site, session: str, team: Listener) -> bool:
    site.post(f"/sessions/{session}/messages", {"messages": [{"role": "user", "content": "hm"}]})
    return bool(team.seen)


def test_writers_at_one_head_win_one_by_one(site: Site) -> None:
    session = site.begin()
    path = f"/sessions/{session}/messages"
    won: list[str] = []

    def write(number: int) -> None:
        head, tries = "", 0
        while tries < 200:
            body = {"messages": [{"role": "user", "content": str(number)}], "expectedHead": head}
            status, said, _ = site.ask("POST", path, body)
            if status == 200:
                won.append(str(number))
                return
            assert (status, said["type"]) == (409, "urn:contextlab:problem:conflict")
            head, tries = said["head"], tries + 1

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    stored = site.ask("GET", f"/sessions/{session}/entries")[1]["items"]
    texts = [item["entry"]["message"]["content"] for item in stored]
    assert sorted(texts) == sorted(won) == sorted(map(str, range(WRITERS)))


def test_one_key_sent_by_many_at_once_stores_once_and_answers_all_alike(site: Site) -> None:
    session = site.begin()
    body = {"messages": [{"role": "user", "content": "once"}]}

    def write(_: int) -> str:
        headers = {"Idempotency-Key": f"key-{session}"}
        return json.dumps(site.post(f"/sessions/{session}/messages", body, **headers))

    with ThreadPoolExecutor(WRITERS) as pool:
        answers = set(pool.map(write, range(WRITERS)))
    assert len(answers) == 1
    assert len(site.ask("GET", f"/sessions/{session}/entries")[1]["items"]) == 1


def test_every_answer_counts_down_the_rate(site: Site) -> None:
    left = []
    for _ in range(3):
        _, _, headers = site.ask("GET", "/sessions")
        left.append(int(headers["RateLimit-Remaining"]))
        assert 0 < int(headers["RateLimit-Reset"]) <= 60
    assert int(headers["RateLimit-Limit"]) == 6_000
    assert left[0] > left[1] or left[1] > left[2], "the minute may turn between two of them"
