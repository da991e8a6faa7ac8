"""The programs in docs/examples run as they stand, against the real site and a model on loopback."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import sync_playwright
from pytest_django.live_server_helper import LiveServer

from compaction_app.models import CompactionRecord, FlushRecord, MemoryFile
from sessions_app import api_tokens
from sessions_app.models import Entry, Session
from tests.browser.chromium import QUIET, chromium
from tests.compaction_app.live import live_agent
from tests.conftest import Person, missing
from tests.docs.models import chat_model, tool_model
from tests.summarisers.loopback import serving

EXAMPLES = Path(settings.BASE_DIR) / "docs" / "examples"
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("at_work")]


@pytest.fixture
def token(alice: Person) -> str:
    return api_tokens.create(alice.team, alice.user, "example", "admin").secret


def run(command: list[str], site: LiveServer, token: str, typed: str = "", **extra: str) -> str:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment = {**kept, "CONTEXTLAB_URL": site.url, "CONTEXTLAB_TOKEN": token, **extra}
    done = subprocess.run(
        command, input=typed, env=environment, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_the_openai_agent_grows_until_it_flushes_and_compacts(
    live_server: LiveServer, token: str
) -> None:
    typed = (
        "".join(f"Question {number}: go on with the plan.\n" for number in range(22)) + "/quit\n"
    )
    with serving(chat_model) as model:
        script = [sys.executable, str(EXAMPLES / "openai_agent.py")]
        out = run(script, live_server, token, typed, MODEL_URL=f"{model.url}/v1")
        sent = [body["messages"] for _, _, body in model.seen]
    assert len(re.findall(r"^Answer \d+\.", out, re.MULTILINE)) == 22, "every question is answered"
    assert FlushRecord.objects.filter(outcome="written").exists()
    assert MemoryFile.objects.exists()
    assert CompactionRecord.objects.exists()
    lengths = [len(messages) for messages in sent]
    assert min(b - a for a, b in pairwise(lengths)) < 0, "it has shrunk"
    assert sent[0][0] == {"role": "system", "content": "You are brief."}


def test_the_anthropic_agent_uses_its_tool(live_server: LiveServer, token: str) -> None:
    with serving(tool_model) as model:
        script = [sys.executable, str(EXAMPLES / "anthropic_agent.py")]
        typed = "Which day is it?\nAnd now?\n/quit\n"
        out = run(script, live_server, token, typed, MODEL_URL=model.url)
    assert len(re.findall(r"^It is \d{4}-\d\d-\d\d\.$", out, re.MULTILINE)) == 2, out
    roles = list(Entry.objects.order_by("seq").values_list("role", flat=True))
    assert roles == ["user", "assistant", "toolResult", "assistant"] * 2


def test_the_context_engine_plays_a_session_with_a_subagent(
    live_server: LiveServer, alice: Person, token: str
) -> None:
    settings_ = {"contextWindow": 64_000, "compaction.keepRecentTokens": 2_000}
    agent = live_agent(alice, settings_)
    script = [sys.executable, str(EXAMPLES / "context_engine.py")]
    out = run(script, live_server, token, AGENT=str(agent.uuid)).splitlines()
    said = dict(line.split(" ", 1) for line in out if not line.startswith("assemble"))
    lengths = [int(line.split()[1]) for line in out if line.startswith("assemble")]
    assert said["bootstrap"] == "{'bootstrapped': True, 'importedMessages': 80}"
    assert lengths[0] == 81 and lengths[1] < 20, "the compaction shows"
    assert (said["afterTurn"], said["compact"]) == ("done", "True")
    assert (said["onSubagentEnded"], said["told"]) == ("announce", "True")


@pytest.mark.service
def test_the_session_by_curl(live_server: LiveServer, token: str) -> None:
    if not shutil.which("curl"):
        missing("curl")
    out = run(["sh", str(EXAMPLES / "session.sh")], live_server, token)
    assert '"action": "send"' in out
    assert '"storedTotal": 70000' in out
    assert '"kind": "memory_flush"' in out
    assert Session.objects.get().entry_count == 2


@pytest.mark.browser
def test_the_session_by_fetch(
    live_server: LiveServer, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    if not chromium():
        missing("Chromium")
    code = (EXAMPLES / "session.mjs").read_text(encoding="utf-8").replace("export ", "")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(QUIET))
        page = browser.new_page()
        page.goto(f"{live_server.url}/login/")
        got: Any = page.evaluate(
            f"async ([url, token]) => {{ {code}; return run(url, token); }}",
            [live_server.url, token],
        )
        browser.close()
    assert got["sent"] == [{"role": "user", "content": "Which day is it?"}]
    assert got["fill"] == 0.5
    assert "entries" in got["kinds"]
