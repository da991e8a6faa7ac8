"""What the runtime adds to a configuration when it loads the file (spec budgets 8.6).

Two modes: *load* fills everything; *snapshot* leaves out what concerns compaction and pruning. A
running gateway works on a snapshot, so a file without a compaction mode runs in mode "default" there
(runs 3.1), while tools that load the file see "safeguard".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from compaction_app.engine.config_value import value_at
from sessions_app.tokens import javascript as js

Mode = Literal["load", "snapshot"]
Json = Any

DEFAULT_WINDOW: Final = 200_000
DEFAULT_MAX_TOKENS: Final = 8192
MAX_CONCURRENT: Final = 4
SUBAGENT_CONCURRENT: Final = 8
ARCHIVE_AFTER_MINUTES: Final = 60
FREE: Final = ("input", "output", "cacheRead", "cacheWrite")

ANTHROPIC_PROVIDERS: Final = frozenset({"anthropic", "claude-cli"})
PRUNING_TTL: Final = "1h"
HEARTBEAT_BY_SIGN_IN: Final[Mapping[str, str]] = {"api_key": "30m", "oauth": "1h"}
OAUTH_MODES: Final = frozenset({"oauth", "token"})

ALIASES: Final[Mapping[str, str]] = {
    "anthropic/claude-opus-4-8": "opus",
    "anthropic/claude-sonnet-4-6": "sonnet",
}
CLAUDE_CLI_MODELS: Final = (
    "anthropic/claude-opus-4-8",
    "anthropic/claude-opus-4-7",
    "anthropic/claude-sonnet-4-6",
    "anthropic/claude-opus-4-6",
)


@dataclass(frozen=True, slots=True)
class MaterializeRules:
    """What a version adds beyond the others: minutes after which subagents are archived, the models
    that a sign-in through Claude's command line brings along, and how many runs may go on at once.

    ``snapshot_mode``: the compaction mode of a running gateway whose file names none.
    """

    archive_after_minutes: int | None
    claude_cli_models: tuple[str, ...]
    max_concurrent: int = MAX_CONCURRENT
    snapshot_mode: Literal["default", "safeguard"] = "default"


OPENCLAW_2026_4_20: Final = MaterializeRules(None, ())
OPENCLAW_2026_5_28: Final = MaterializeRules(ARCHIVE_AFTER_MINUTES, CLAUDE_CLI_MODELS)
OPENCLAW_2026_9: Final = MaterializeRules(
    ARCHIVE_AFTER_MINUTES, CLAUDE_CLI_MODELS, max_concurrent=8, snapshot_mode="safeguard"
)


def materialize(
    config: Mapping[str, Json],
    rules: MaterializeRules,
    mode: Mode = "load",
    environment: Mapping[str, str] | None = None,
) -> dict[str, Json]:
    """A valid configuration with the runtime's additions; the input is left as it is.

    ``environment`` may hold ANTHROPIC_API_KEY or ANTHROPIC_OAUTH_TOKEN, which switch pruning on.
    """
    filled = dict(config)
    models = value_at(config, "models", "providers")
    if isinstance(models, Mapping):
        filled["models"] = {**config["models"], "providers": _providers(models)}
    defaults = _agent_defaults(_object(value_at(config, "agents", "defaults")), rules)
    if mode == "load":
        defaults = _pruning(defaults, config, environment or {}, rules)
    filled["agents"] = {**_object(config.get("agents")), "defaults": defaults}
    fills = mode == "load" or rules.snapshot_mode == "safeguard"
    return with_compaction_mode(filled) if fills else filled


def with_compaction_mode(config: Mapping[str, Json]) -> dict[str, Json]:
    """The configuration with the compaction mode filled in, where it has agent defaults without one."""
    defaults = value_at(config, "agents", "defaults")
    if not isinstance(defaults, Mapping) or value_at(defaults, "compaction", "mode"):
        return dict(config)
    compaction = {**_object(defaults.get("compaction")), "mode": "safeguard"}
    return {
        **config,
        "agents": {**config["agents"], "defaults": {**defaults, "compaction": compaction}},
    }


def _agent_defaults(defaults: Mapping[str, Json], rules: MaterializeRules) -> dict[str, Json]:
    subagents = {"maxConcurrent": SUBAGENT_CONCURRENT, **_object(defaults.get("subagents"))}
    if rules.archive_after_minutes is not None:
        subagents.setdefault("archiveAfterMinutes", rules.archive_after_minutes)
    filled = {"maxConcurrent": rules.max_concurrent, **defaults, "subagents": subagents}
    if isinstance(filled.get("models"), Mapping):
        filled["models"] = _with_aliases(filled["models"])
    return filled


def _with_aliases(models: Mapping[str, Json]) -> dict[str, Json]:
    return {
        key: {**entry, "alias": ALIASES[key]}
        if key in ALIASES and isinstance(entry, Mapping) and entry.get("alias") is None
        else entry
        for key, entry in models.items()
    }


def anthropic_sign_in(
    config: Mapping[str, Json], environment: Mapping[str, str]
) -> Literal["api_key", "oauth"] | None:
    """How the user signs in with Anthropic: by the order of profiles, by all profiles where they
    agree, by the environment; None without a sign."""
    profiles = _object(value_at(config, "auth", "profiles"))
    order = _object(value_at(config, "auth", "order"))
    ordered = [
        profiles.get(name)
        for provider in sorted(ANTHROPIC_PROVIDERS)
        for name in _texts(order.get(provider))
    ]
    for ways in (_ways(ordered)[:1], list(dict.fromkeys(_ways(profiles.values())))):
        if len(ways) == 1:
            return ways[0]
    if js.trim(environment.get("ANTHROPIC_OAUTH_TOKEN", "")):
        return "oauth"
    return "api_key" if js.trim(environment.get("ANTHROPIC_API_KEY", "")) else None


def _ways(profiles: Iterable[Json]) -> list[Literal["api_key", "oauth"]]:
    ways: list[Literal["api_key", "oauth"]] = []
    for profile in profiles:
        mode = value_at(profile, "mode")
        if js.norm(value_at(profile, "provider")) not in ANTHROPIC_PROVIDERS:
            continue
        if mode == "api_key":
            ways.append("api_key")
        elif isinstance(mode, str) and mode in OAUTH_MODES:
            ways.append("oauth")
    return ways


def _pruning(
    defaults: dict[str, Json],
    config: Mapping[str, Json],
    environment: Mapping[str, str],
    rules: MaterializeRules,
) -> dict[str, Json]:
    sign_in = anthropic_sign_in(config, environment)
    if sign_in is None:
        return defaults
    filled = dict(defaults)
    pruning = _object(defaults.get("contextPruning"))
    if pruning.get("mode") is None:
        ttl = pruning.get("ttl", PRUNING_TTL)
        filled["contextPruning"] = {**pruning, "mode": "cache-ttl", "ttl": ttl}
    heartbeat = _object(defaults.get("heartbeat"))
    filled["heartbeat"] = {"every": HEARTBEAT_BY_SIGN_IN[sign_in], **heartbeat}
    profiles = _object(value_at(config, "auth", "profiles")).values()
    uses_cli = any(js.norm(value_at(profile, "provider")) == "claude-cli" for profile in profiles)
    if uses_cli and rules.claude_cli_models:
        added = {name: {"agentRuntime": {"id": "claude-cli"}} for name in rules.claude_cli_models}
        filled["models"] = _with_aliases({**added, **_object(defaults.get("models"))})
    return filled


def _providers(providers: Mapping[str, Json]) -> dict[str, Json]:
    return {
        name: {**provider, "models": [_model(model, provider) for model in provider["models"]]}
        if isinstance(provider, Mapping) and isinstance(provider.get("models"), list)
        else provider
        for name, provider in providers.items()
    }


def _model(model: Json, provider: Mapping[str, Json]) -> Json:
    """A listed model with a window of its own: it never takes its provider's."""
    if not isinstance(model, Mapping):
        return model
    window = _positive(model.get("contextWindow")) or DEFAULT_WINDOW
    most = _positive(model.get("maxTokens")) or min(DEFAULT_MAX_TOKENS, window)
    kinds = model.get("input")
    filled = {
        **model,
        "reasoning": model["reasoning"] if isinstance(model.get("reasoning"), bool) else False,
        "input": kinds if isinstance(kinds, list) and kinds else ["text"],
        "cost": {**dict.fromkeys(FREE, 0), **_object(model.get("cost"))},
        "contextWindow": window,
        "maxTokens": min(most, window),
    }
    api = model.get("api", provider.get("api"))
    return filled if api is None else {**filled, "api": api}


def _positive(value: object) -> int | float | None:
    return value if js.is_finite(value) and value > 0 else None


def _object(value: object) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
