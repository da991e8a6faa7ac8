"""The answers that the gateway writes itself, and stores without a usage (runs 2, 3.10)."""

from __future__ import annotations

from typing import Any, Final

from compaction_app.engine.recovery_limits import OVERFLOW_TEXT
from compaction_app.engine.turn.requests import Moment, Steps
from compaction_app.engine.turn.work import TurnWork
from sessions_app.transcripts.timestamps import iso_text

GATEWAY_ID_TAIL: Final = "-0000-4000-8000-000000000000"
"""The gateway's own entries have ids of 36 characters, those of the agent have 8."""

NO_USAGE: Final = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}
NO_COST: Final = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}


def gateway_answers(work: TurnWork, text: str, *, stored: bool) -> Steps[None]:
    """The gateway's own answer, stored as an assistant's message without usage (runs 2, 3.10)."""
    if work.setup.around.path != "chat":
        return
    if not stored:
        yield from work.append_prompt()
    now = yield Moment("entry")
    identity, leaf = next(work.setup.new_ids), work.state.leaf_id
    reply = gateway_reply(text, work.prompt.run_id, identity, leaf, now)
    if work.rules.turn.command_follows:
        message = reply["message"]
        reply["message"] = {**message, "openclawDisplayContent": message["content"]}
    yield from work.append(reply)


def gateway_reply(
    text: str, run_id: str, identity: str, parent: str | None, now: float
) -> dict[str, Any]:
    """The entry of an answer that the gateway wrote itself."""
    from_flush = text == OVERFLOW_TEXT and run_id
    named = f"[[reply_to:{run_id}]]\n{text}" if from_flush else text
    message: dict[str, Any] = {
        "role": "assistant",
        "content": [{"type": "text", "text": named}],
        "timestamp": now,
        "stopReason": "stop",
        "usage": {**NO_USAGE, "cost": dict(NO_COST)},
        "api": "openai-responses",
        "provider": "openclaw",
        "model": "gateway-injected",
    }
    if run_id:
        message["idempotencyKey"] = run_id
    long = identity if identity.endswith(GATEWAY_ID_TAIL) else identity + GATEWAY_ID_TAIL
    entry = {"type": "message", "id": long, "parentId": parent}
    return {**entry, "timestamp": iso_text(now), "message": message}
