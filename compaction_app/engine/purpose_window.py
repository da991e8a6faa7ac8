"""Which window do the flush, the status pages and the reply assume? (spec budgets 1.4)

All of them ask the chain of ``window``, but hand in ``agents.defaults.contextTokens`` differently: as an
override for the flush, as a cap for the reply. So they can disagree for one and the same model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from compaction_app.engine.window import (
    DEFAULT_CONTEXT_TOKENS,
    ChainRules,
    WindowRequest,
    WindowResolution,
    WindowStep,
    first_answer,
    present,
    resolve_window,
)
from compaction_app.engine.window_cache import Cache
from compaction_app.engine.window_owned import projected_window
from sessions_app.tokens import javascript as js

PurposeWindow = Callable[[ChainRules, Cache, WindowRequest, object], WindowResolution]

CODEX_RUNTIME: Final = "codex"

_CONTEXT_TOKENS: Final = "agents.defaults.contextTokens"


@dataclass(frozen=True, slots=True)
class PurposeWindowRules:
    """The variants of one version; each takes the chain's rules, the cache, the request and
    ``agents.defaults.contextTokens``."""

    flush: PurposeWindow
    reply: PurposeWindow


def flush_provider(provider: str | None, runtime: str | None) -> str | None:
    """The provider under which the flush asks: OpenAI on the Codex runtime has a name of its own."""
    if js.norm(provider) == "openai" and runtime == CODEX_RUNTIME:
        return "openai-codex"
    return provider


def flush_window(
    rules: ChainRules, cache: Cache, request: WindowRequest, context_tokens: object
) -> WindowResolution:
    """Flush and preflight: contextTokens overrides everything, even above the model's own window."""
    asked = replace(request, override=context_tokens, fallback=None)
    return _or_default(resolve_window(rules, cache, asked))


def cached_window(
    rules: ChainRules, cache: Cache, request: WindowRequest, context_tokens: object
) -> WindowResolution:
    """2026.3: the bare model's cached window, else contextTokens, else the default."""
    return first_answer(
        (
            present(f"cache[{request.model}]", cache.get(request.model or "")),
            present(_CONTEXT_TOKENS, _number(context_tokens)),
            present("default", DEFAULT_CONTEXT_TOKENS),
        )
    )


def reply_window(
    rules: ChainRules, cache: Cache, request: WindowRequest, context_tokens: object
) -> WindowResolution:
    """The reply's budget: contextTokens caps what the chain says, and stands in where it is silent."""
    known = resolve_window(rules, cache, replace(request, override=None))
    cap = js.pos_int(context_tokens)
    if cap is None:
        return _or_default(known)
    if known.tokens is None:
        trace = (*known.trace, WindowStep(_CONTEXT_TOKENS, cap, "wins"))
        return WindowResolution(cap, _CONTEXT_TOKENS, trace)
    if not cap < known.tokens:
        trace = (*known.trace, WindowStep(_CONTEXT_TOKENS, cap, "does_not_cap"))
        return replace(known, trace=trace)
    trace = (*known.trace, WindowStep(_CONTEXT_TOKENS, cap, "caps"))
    return WindowResolution(cap, _CONTEXT_TOKENS, trace, known.tokens)


def reply_window_overridden(
    rules: ChainRules, cache: Cache, request: WindowRequest, context_tokens: object
) -> WindowResolution:
    """2026.4.20: contextTokens, even 0 or fractional, else the chain."""
    first = present(_CONTEXT_TOKENS, _number(context_tokens))
    if first.verdict == "wins":
        return first_answer((first,))
    known = _or_default(resolve_window(rules, cache, replace(request, override=None)))
    return replace(known, trace=(first, *known.trace))


def reply_window_cached(
    rules: ChainRules, cache: Cache, request: WindowRequest, context_tokens: object
) -> WindowResolution:
    """2026.3: contextTokens, else the bare model's cached window, else the default."""
    return first_answer(
        (
            present(_CONTEXT_TOKENS, _number(context_tokens)),
            present(f"cache[{request.model}]", cache.get(request.model or "")),
            present("default", DEFAULT_CONTEXT_TOKENS),
        )
    )


def status_window(
    rules: ChainRules,
    cache: Cache,
    request: WindowRequest,
    active: int | float,
    *,
    channel_model: int | float | None = None,
    session: int | float | None = None,
    defaults: int | float | None = None,
    agent: int | float | None = None,
    runtime: int | float | None = None,
) -> WindowResolution:
    """The status message: the first value present overrides; three of them no higher than ``active``."""
    limited = (None if each is None else min(each, active) for each in (session, defaults, agent))
    values = (channel_model, *limited, runtime)
    override = next((value for value in values if value is not None), None)
    return resolve_window(
        rules, cache, replace(request, override=override, fallback=DEFAULT_CONTEXT_TOKENS)
    )


def session_table_window(
    rules: ChainRules,
    cache: Cache,
    request: WindowRequest,
    context_tokens: object,
    session: int | float | None = None,
) -> WindowResolution:
    """The session table: the session's own value, else the chain, else what the configuration gives."""
    general = flush_window(rules, cache, request, context_tokens)
    return resolve_window(rules, cache, replace(request, override=session, fallback=general.tokens))


def owned_window(
    rules: ChainRules, cache: Cache, request: WindowRequest, _context_tokens: object
) -> WindowResolution:
    """2026.9: one chain for every purpose, and contextTokens of the defaults is not asked."""
    return _or_default(projected_window(rules, cache, replace(request, fallback=None)))


def _number(value: object) -> int | float | None:
    return value if js.is_number(value) else None


def _or_default(found: WindowResolution) -> WindowResolution:
    if found.tokens is not None:
        return found
    last = present("default", DEFAULT_CONTEXT_TOKENS)
    return WindowResolution(DEFAULT_CONTEXT_TOKENS, last.source, (*found.trace, last))


OPENCLAW_2026_3: Final = PurposeWindowRules(flush=cached_window, reply=reply_window_cached)
OPENCLAW_2026_4_20: Final = PurposeWindowRules(flush=flush_window, reply=reply_window_overridden)
OPENCLAW_2026_5_28: Final = PurposeWindowRules(flush=flush_window, reply=reply_window)
OPENCLAW_2026_9: Final = PurposeWindowRules(flush=owned_window, reply=owned_window)
