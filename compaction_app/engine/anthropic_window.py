"""Does a model belong to the Claude families whose window is a million tokens? (spec budgets 1.3)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.config_value import value_at
from sessions_app.tokens import javascript as js

WINDOW_TOKENS: Final = 1_048_576
ROUND_WINDOW_TOKENS: Final = 1_000_000
CLI_PROVIDER: Final = "claude-cli"
LARGE_MARK: Final = "[1m]"
"""What asks for the large window in a model's name."""


@dataclass(frozen=True, slots=True)
class MillionWindowRules:
    """What differs by version (spec profiles 1.4).

    ``families``: prefixes of the model's last path part. ``opt_in``: the model's configured
    ``params.context1m`` must be true, and the provider need not be given separately.
    ``lifts_discovered``: models reported by the registry are lifted too. ``cli_opts_in``: the command
    line backend gets the window only where the model's name or its parameters ask for it.
    """

    families: tuple[str, ...]
    providers: frozenset[str]
    opt_in: bool
    lifts_discovered: bool
    window_tokens: int = WINDOW_TOKENS
    cli_opts_in: bool = False


OPENCLAW_2026_3: Final = MillionWindowRules(
    families=("claude-opus-4", "claude-sonnet-4"),
    providers=frozenset({"anthropic"}),
    opt_in=True,
    lifts_discovered=False,
)
OPENCLAW_2026_5_28: Final = MillionWindowRules(
    families=(
        "claude-opus-4-8",
        "claude-opus-4.8",
        "claude-opus-4-6",
        "claude-opus-4.6",
        "claude-opus-4-7",
        "claude-opus-4.7",
        "claude-sonnet-4-6",
        "claude-sonnet-4.6",
    ),
    providers=frozenset({"anthropic", CLI_PROVIDER}),
    opt_in=False,
    lifts_discovered=True,
)


OPENCLAW_2026_9: Final = MillionWindowRules(
    families=(
        *OPENCLAW_2026_5_28.families,
        "claude-fable-5",
        "claude-mythos-5",
        "claude-opus-5",
        "claude-sonnet-5",
    ),
    providers=frozenset({"anthropic", "anthropic-vertex", CLI_PROVIDER}),
    opt_in=False,
    lifts_discovered=True,
    window_tokens=ROUND_WINDOW_TOKENS,
    cli_opts_in=True,
)


def has_million_window(
    rules: MillionWindowRules, config: object, provider: str, model: str
) -> bool:
    """Whether the resolved ``provider`` and ``model`` get the million-token window."""
    if not _in_family(rules, provider, model):
        return False
    asked = _params(config, provider, model).get("context1m") is True
    if rules.cli_opts_in and js.norm(provider) == CLI_PROVIDER:
        return asked or LARGE_MARK in js.norm(model)
    return not rules.opt_in or asked


def lifts_discovered(rules: MillionWindowRules, model: Mapping[str, Any]) -> bool:
    """Whether a model that the registry reports is lifted, whatever window it reports.

    Without a provider only ids of the form ``claude-cli/<family>`` qualify.
    """
    if not rules.lifts_discovered:
        return False
    model_id = js.norm(model.get("id"))
    provider = js.norm(model.get("provider"))
    if not provider:
        provider, slash, _ = model_id.partition("/")
        if not slash or provider != CLI_PROVIDER:
            return False
    if rules.cli_opts_in and provider == CLI_PROVIDER and LARGE_MARK not in model_id:
        return False
    return _in_family(rules, provider, model_id)


def _in_family(rules: MillionWindowRules, provider: str, model: str) -> bool:
    family = js.norm(model).rpartition("/")[2]
    return js.norm(provider) in rules.providers and family.startswith(rules.families)


def _params(config: object, provider: str, model: str) -> Mapping[str, Any]:
    """The parameters configured for one model under ``agents.defaults.models``."""
    wanted = js.norm(f"{provider}/{model}")
    models = value_at(config, "agents", "defaults", "models")
    for key, entry in models.items() if isinstance(models, Mapping) else ():
        if js.norm(key) == wanted:
            params = value_at(entry, "params")
            return params if isinstance(params, Mapping) else {}
    return {}
