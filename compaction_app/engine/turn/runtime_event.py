"""What the runtime tells the model of a ``/compact``, at the next prompt.

The event stands in front of the text that the gates estimate, and reaches the model as a message of its
own before the prompt. Nothing of it is stored (read off the requests and gates of recorded runs).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import RUNTIME_CONTEXT_TYPE
from sessions_app.transcripts.timestamps import iso_text

CONTEXT_HEADING: Final = (
    "OpenClaw runtime context for the immediately preceding user message.\n"
    "This context is runtime-generated, not user-authored. Keep internal details private.\n\n"
)
EVENT_BREAK: Final = "\n\n"
THOUSAND: Final = 1_000
WHOLE_THOUSANDS_FROM: Final = 10_000
MILLION: Final = 1_000_000


def compacted_event(
    before: float, after: float | None, total: float | None, window: float, now_ms: float
) -> str:
    """The line about a finished compaction; ``after`` none where its size contradicts the one before.

    ``total`` is what the store holds now.
    """
    sizes = f"{short_count(before)} before"
    if after is not None:
        sizes = f"{short_count(before)} → {short_count(after)}"
    held = after if after is not None else total
    text = f"Compacted ({sizes})"
    if held is not None and window > 0:
        share = js.round_half_up(held / window * 100)
        text += f" • Context {short_count(held)}/{short_count(window)} ({share}%)"
    return f"System: [{iso_text(now_ms)[:19].replace('T', ' ')} UTC] {text}"


def short_count(tokens: float) -> str:
    """A count of tokens as the runtime shortens it in replies: 765, 3.4k, 12k, 1.0m."""
    if tokens >= MILLION:
        return f"{tokens / MILLION:.1f}m"
    if tokens >= THOUSAND:
        return f"{tokens / THOUSAND:.{0 if tokens >= WHOLE_THOUSANDS_FROM else 1}f}k"
    return js.number_text(tokens)


def with_event(queued: tuple[str, ...], event: str) -> tuple[str, ...]:
    """The queue with an event more; the same one twice in a row is queued once."""
    said = event.partition("] ")[2]
    if queued and queued[-1].partition("] ")[2] == said:
        return queued
    return (*queued, event)


def runtime_context(queued: tuple[str, ...]) -> list[Mapping[str, Any]]:
    """The message that carries the queued events to the model; none without events."""
    if not queued:
        return []
    content = CONTEXT_HEADING + "\n".join(queued)
    return [
        {
            "role": "custom",
            "customType": RUNTIME_CONTEXT_TYPE,
            "content": content,
            "display": False,
        }
    ]


def judged_text(queued: tuple[str, ...], text: str) -> str:
    """A prompt as the gates estimate it."""
    return EVENT_BREAK.join((*queued, text))
