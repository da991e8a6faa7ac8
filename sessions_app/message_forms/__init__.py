"""Messages as agents send and expect them, and as a session stores them. Pure, both ways.

A session stores OpenClaw's form: ``user``, ``assistant`` and ``toolResult`` messages. The forms of the
OpenAI chat and the Anthropic messages API say the same with other words, so that a history in their
plain form comes back as it was; tools, images and thinking are kept. What a form cannot say (thinking
in a chat message, an image in a tool's answer) is said as near as it can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, get_args

from sessions_app.message_forms import anthropic, openai_chat
from sessions_app.message_forms.blocks import BadForm
from sessions_app.transcripts.usage import normalize_usage

__all__ = ("FORMS", "BadForm", "Form", "from_stored", "stored_usage", "to_stored")

Form = Literal["openclaw", "openai", "anthropic"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)
Json = dict[str, Any]


def _as_it_is(message: Mapping[str, Any]) -> list[Json]:
    return [dict(message)]


_TO: Final[Mapping[str, Callable[[Mapping[str, Any]], list[Json]]]] = {
    "openclaw": _as_it_is,
    "openai": openai_chat.to_stored,
    "anthropic": anthropic.to_stored,
}
_FROM: Final[Mapping[str, Callable[[Iterable[Mapping[str, Any]]], list[Json]]]] = {
    "openclaw": lambda messages: [dict(message) for message in messages],
    "openai": openai_chat.from_stored,
    "anthropic": anthropic.from_stored,
}


def to_stored(form: Form, message: Mapping[str, Any]) -> list[Json]:
    """The messages that a session stores for one of an agent's.

    Several where a message answers several tools; none for a system prompt, which belongs to the agent.

    Raises:
        BadForm: with the place and what is expected there.
    """
    return _TO[form](message)


def from_stored(form: Form, messages: Iterable[Mapping[str, Any]]) -> list[Json]:
    """A context in an agent's form; its messages are such as a model gets (``llm_messages``)."""
    return _FROM[form](messages)


def stored_usage(reported: Any) -> Json | None:
    """What a provider reports of a call as a stored answer carries it; none where it says nothing."""
    usage = normalize_usage(reported)
    if usage is None or usage.is_empty():
        return None
    parts = {
        "input": usage.input or 0,
        "output": usage.output or 0,
        "cacheRead": usage.cache_read or 0,
        "cacheWrite": usage.cache_write or 0,
    }
    return {**parts, "totalTokens": sum(parts.values()) if usage.total is None else usage.total}
