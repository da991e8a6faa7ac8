"""Under which settings, provider and model did a session run? What its files say, put together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.config.per_agent import agent_entry, with_agent_settings
from compaction_app.engine.config_value import value_at
from compaction_app.engine.policy import Policy, PolicyError, with_changes
from compaction_app.engine.policy_config import policy_from_config
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, RULE_SETS, RuleSet
from sessions_app.tokens import javascript as js
from sessions_app.tokens.pressure import CHARS_PER_TOKEN


@dataclass(frozen=True, slots=True)
class SessionPolicy:
    """The policy, the circumstances, and the values of the file that the policy does not take."""

    policy: Policy
    around: Circumstances
    problems: tuple[str, ...]


def session_policy(
    config: Mapping[str, Any],
    entry: Mapping[str, Any],
    provider: str = "",
    model: str = "",
    rules: RuleSet = DEFAULT_RULE_SET,
    agent: str = "",
) -> SessionPolicy:
    """From a configuration and an index entry; both may be empty.

    ``provider`` and ``model`` are the transcript's; the entry's and the configured ones stand in. A
    window that no configuration gives is the one that the index says a run had. ``agent`` is the id of
    the agent, whose own settings come before the defaults of all.
    """
    config = with_agent_settings(config, agent, rules.per_agent)
    configured = configured_model(config, agent)
    provider = provider or _text(entry.get("modelProvider")) or configured[0]
    model = model or _text(entry.get("model")) or configured[1]
    read = policy_from_config(config, provider, model, rules.materialize.snapshot_mode)
    policy, window = read.policy, entry.get("contextTokens")
    if policy.context_window is None and js.is_finite(window):
        with suppress(PolicyError):  # a value that no window can have says nothing
            policy = with_changes(policy, {"contextWindow": window})
    around = Circumstances(provider=provider, model=model, config=config)
    return SessionPolicy(policy, replace(around, rules=rules), read.problems)


def under_rules(policy: Policy, around: Circumstances, rules: RuleSet) -> Policy:
    """The policy as another version would run it: its gateway's own mode where nobody chose one."""
    unset = around.rules.materialize.snapshot_mode
    set_by_file = value_at(around.config, "agents", "defaults", "compaction", "mode")
    if set_by_file or policy.compaction_mode != unset:
        return policy
    return replace(policy, compaction_mode=rules.materialize.snapshot_mode)


STORED_FORM: Final = 4
"""The version in the header of transcripts that come out of an agent's SQLite store."""


def rule_set_of(
    config: Mapping[str, Any], store_version: str = "", header_version: int | None = None
) -> RuleSet:
    """The rules of the version that wrote a session, or of the nearest older one that is known.

    The store says its version; else the file says which version wrote it last; a transcript's header
    tells stores from files, and overrules a file that is older than stores are. Without any the default.
    """
    if known := _nearest(store_version):
        return known
    written_by = _nearest(value_at(config, "meta", "lastTouchedVersion")) or DEFAULT_RULE_SET
    if (header_version or 0) < STORED_FORM or written_by.turn.long_ids:
        return written_by
    return next(rules for rules in reversed(_by_version()) if rules.turn.long_ids)


def _nearest(version: object) -> RuleSet | None:
    given = _version(version)
    if not given:
        return None
    known = _by_version()
    older = [rules for rules in known if _version(rules.runtime_version) <= given]
    return older[-1] if older else known[0]


def _by_version() -> list[RuleSet]:
    """The known rule sets, oldest first."""
    return sorted(RULE_SETS.values(), key=lambda rules: _version(rules.runtime_version))


def _version(text: object) -> tuple[int, ...]:
    parts = text.split("-")[0].split(".") if isinstance(text, str) else []
    return tuple(int(part) for part in parts) if all(p.isdecimal() for p in parts) else ()


def system_tokens(entry: Mapping[str, Any]) -> int | None:
    """The estimate of the system prompt by the report that the runtime keeps in its store."""
    return prompt_tokens(value_at(entry, "systemPromptReport", "systemPrompt", "chars"))


def prompt_tokens(chars: object) -> int | None:
    """The estimate of a system prompt of so many characters; none where there is none."""
    return math.ceil(chars / CHARS_PER_TOKEN) if js.is_finite(chars) and chars > 0 else None


def agent_of_key(key: str) -> str:
    """The agent that a session's key names (``agent:<id>:...``), "" for other keys."""
    parts = key.split(":")
    return parts[1] if len(parts) >= 3 and parts[0] == "agent" else ""


def configured_model(config: Mapping[str, Any], agent: str = "") -> tuple[str, str]:
    """Provider and model of the agent, or of ``agents.defaults.model``.

    The first listed model where neither is set.
    """
    named = _model_name(agent_entry(config, agent).get("model")) or _model_name(
        value_at(config, "agents", "defaults", "model")
    )
    if "/" in named:
        provider, _, model = named.partition("/")
        return js.trim(provider), js.trim(model)
    providers = value_at(config, "models", "providers")
    for provider, entry in providers.items() if isinstance(providers, Mapping) else ():
        models = value_at(entry, "models")
        for listed in models if isinstance(models, list) else ():
            identity = value_at(listed, "id")
            if isinstance(identity, str) and (not named or identity == named):
                return provider, identity
    return "", named


def _model_name(chosen: object) -> str:
    return chosen if isinstance(chosen, str) else _text(value_at(chosen, "primary"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
