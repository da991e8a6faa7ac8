"""What is asked of a provider that clears old tool results on its own server (spec profiles 5.7).

Only Anthropic's own endpoint, reached with an API key, is asked. While it clears, no new round of
pruning starts here; remembered forms stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from compaction_app.engine.pruning.tool_patterns import prunable_tools
from sessions_app.tokens import javascript as js

PROVIDER: Final = "anthropic"
HOST: Final = "api.anthropic.com"
CLEARING_TYPE: Final = "clear_tool_uses_20250919"
CLEARING_BETA: Final = "context-management-2025-06-27"
COMPACTION_TYPE: Final = "compact_20260112"
COMPACTION_BETA: Final = "compact-2026-01-12"
KEPT_TOOL_USES: Final = 3
TRIGGER_SHARE: Final = 0.3
LEAST_TRIGGER_TOKENS: Final = 50_000
CLEARED_SHARE: Final = 0.05
LEAST_CLEARED_TOKENS: Final = 12_500
COMPACTION_SHARE: Final = 0.7
"""Where a server's compaction begins without a configured threshold, as a part of the window."""


def context_management(
    model: Mapping[str, Any],
    options: Mapping[str, Any],
    payload: Mapping[str, Any],
    beta_header: str | None,
) -> tuple[Any, str | None]:
    """The request's ``context_management`` and its beta header; unchanged where nothing is asked.

    ``options`` are ``cacheTtlPruning`` (the pruning settings, when pruning is on),
    ``anthropicServerCompaction`` and ``anthropicCompactThreshold``. ``beta_header`` is none where the
    endpoint is not reached with an API key.
    """
    given = payload.get("context_management")
    if beta_header is None or given is not None or not asks_server(model):
        return given, beta_header
    edits, betas = [], [beta_header] if beta_header else []
    pruning = options.get("cacheTtlPruning")
    if isinstance(pruning, Mapping):
        edits.append(clearing_edit(model, pruning.get("tools"), payload))
        betas.append(CLEARING_BETA)
    if options.get("anthropicServerCompaction") is True:
        edits.append(_compaction_edit(model, options.get("anthropicCompactThreshold")))
        betas.append(COMPACTION_BETA)
    if not edits:
        return None, beta_header
    return {"edits": edits}, ",".join(betas)


def asks_server(model: Mapping[str, Any]) -> bool:
    """Whether a model is reached at an endpoint that clears on request."""
    base = model.get("baseUrl")
    own = not base or (isinstance(base, str) and urlsplit(base).hostname == HOST)
    return js.norm(model.get("provider")) == PROVIDER and own


def clearing_edit(
    model: Mapping[str, Any], tools: Any, payload: Mapping[str, Any]
) -> dict[str, Any]:
    """The edit that clears old results once the prompt reaches its trigger."""
    window = _window(model)
    return {
        "type": CLEARING_TYPE,
        "trigger": _tokens(max(LEAST_TRIGGER_TOKENS, js.floor(TRIGGER_SHARE * window))),
        "keep": {"type": "tool_uses", "value": KEPT_TOOL_USES},
        "clear_at_least": _tokens(max(LEAST_CLEARED_TOKENS, js.floor(CLEARED_SHARE * window))),
        "exclude_tools": excluded_tools(tools, payload),
        "clear_tool_inputs": False,
    }


def _compaction_edit(model: Mapping[str, Any], threshold: object) -> dict[str, Any]:
    asked = threshold if js.is_finite(threshold) else COMPACTION_SHARE * _window(model)
    return {
        "type": COMPACTION_TYPE,
        "trigger": _tokens(max(LEAST_TRIGGER_TOKENS, js.floor(asked))),
    }


def _window(model: Mapping[str, Any]) -> int | float:
    window = model.get("contextWindow")
    return window if js.is_finite(window) and window > 0 else 0


def _tokens(value: float) -> dict[str, Any]:
    return {"type": "input_tokens", "value": value}


def excluded_tools(tools: Any, payload: Mapping[str, Any]) -> list[str]:
    """The tools whose results stay: those denied by name, and all known ones that may not be pruned."""
    lists = tools if isinstance(tools, Mapping) else {}
    denied = lists.get("deny")
    named = (js.norm(name) for name in (denied if isinstance(denied, list) else ()))
    excluded = {name for name in named if name and "*" not in name}
    is_prunable = prunable_tools(tools)
    known = (name for name in _known_tools(payload) if name and js.norm(name) not in excluded)
    excluded |= {name for name in known if not is_prunable(name)}
    return sorted(excluded, key=js.utf16_sort_key)


def _known_tools(payload: Mapping[str, Any]) -> Iterator[str]:
    """The names of the tools a request declares or its messages used."""
    yield from _names(payload.get("tools"))
    for message in _items(payload.get("messages")):
        content = message.get("content") if isinstance(message, Mapping) else None
        yield from _names([b for b in _items(content) if _is_use(b)])


def _names(items: object) -> Iterator[str]:
    for item in _items(items):
        name = item.get("name") if isinstance(item, Mapping) else None
        if isinstance(name, str):
            yield name


def _items(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _is_use(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "tool_use"
