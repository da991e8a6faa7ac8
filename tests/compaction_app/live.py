"""Live sessions for tests: an agent with a small window, messages, and whole turns."""

from __future__ import annotations

from typing import Any

from compaction_app.policies import save_version
from sessions_app.live_sessions import create_session
from sessions_app.models import Agent, Session
from tests.builders import FIRST_MS, usage
from tests.conftest import Person

Json = dict[str, Any]
SMALL: Json = {
    "contextWindow": 32_000,
    "compaction.reserveTokens": 8_000,
    "compaction.reserveTokensFloor": 6_000,
    "compaction.memoryFlush.softThresholdTokens": 2_000,
    "compaction.keepRecentTokens": 1_000,
}
"""Lines of a window of 32,000 tokens: flush and preflight at 24,000."""


def live_agent(person: Person, settings: Json | None = None, **fields: Any) -> Agent:
    """An agent of the person's team, under a policy of its own."""
    usual = {"name": "main", "provider": "anthropic", "model": "claude-test", "is_live": True}
    agent = Agent.objects.create(team=person.team, **{**usual, **fields})
    save_version(agent, SMALL if settings is None else settings)
    return agent


def live_session(person: Person, settings: Json | None = None, **fields: Any) -> Session:
    return create_session(live_agent(person, settings, **fields), now_ms=FIRST_MS)


def user(text: str) -> Json:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def answer(text: str, prompt: int = 0, output: int = 10) -> Json:
    """A last answer; ``prompt`` tokens are what its call was billed."""
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "provider": "anthropic",
        "model": "claude-test",
        "stopReason": "stop",
        "usage": usage(prompt, output),
    }


def calls(*ids: str, prompt: int = 0) -> Json:
    """An answer that calls a tool for each id."""
    blocks = [{"type": "toolCall", "id": i, "name": "read", "arguments": {"path": i}} for i in ids]
    return {**answer("", prompt), "content": blocks, "stopReason": "toolUse"}


def result(identity: str, text: str = "done") -> Json:
    return {
        "role": "toolResult",
        "toolCallId": identity,
        "toolName": "read",
        "content": [{"type": "text", "text": text}],
        "isError": False,
    }
