"""What does a session's status keep of the pre-prompt check? (spec budgets 4.5)"""

from __future__ import annotations

from dataclasses import dataclass

from compaction_app.engine.routing import PromptRoute
from sessions_app.tokens import javascript as js


@dataclass(frozen=True, slots=True)
class RouteStatus:
    """The route as a session's status keeps it; tokens, chars and counts."""

    updated_at_ms: int | float
    provider: str
    model: str
    route: PromptRoute
    context_tokens: int | float
    reserve_tokens: int | float
    remaining_tokens: int | float
    message_count: int | float
    unwindowed_message_count: int | float
    session_id: str | None
    schema_version: int = 1
    source: str = "pre-prompt-estimate"


def route_status(
    route: PromptRoute,
    *,
    now_ms: int | float,
    provider: str,
    model: str,
    context_tokens: float,
    reserve_tokens: float,
    message_count: float,
    unwindowed_message_count: float | None = None,
    session_id: str | None = None,
) -> RouteStatus:
    """The record that a session's status shows of the last check."""
    window = js.maximum(1, js.floor(context_tokens))
    whole = message_count if unwindowed_message_count is None else unwindowed_message_count
    left = route.budget.prompt - route.estimated_prompt_tokens
    return RouteStatus(
        updated_at_ms=now_ms,
        provider=provider,
        model=model,
        route=route,
        context_tokens=window,
        reserve_tokens=js.maximum(0, js.floor(reserve_tokens)),
        remaining_tokens=js.maximum(0, left),
        message_count=js.maximum(0, js.floor(message_count)),
        unwindowed_message_count=js.maximum(0, js.floor(whole)),
        session_id=session_id or None,
    )
