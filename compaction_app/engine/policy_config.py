"""A policy read from ``openclaw.json`` and written back to it.

The place of each setting comes from the policy record. Windows stand in the model's entry under its
provider; everything else below ``agents.defaults`` (spec budgets 8.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.policy import (
    BY_KEY,
    MODEL_KEYS,
    SETTINGS,
    Policy,
    PolicyError,
    with_changes,
)
from compaction_app.engine.setting import Setting
from sessions_app.tokens import javascript as js

MODEL_WINDOWS: Final = ("contextWindow", "contextTokens", "maxTokens")
PROVIDER_WINDOW: Final = "providerContextWindow"
MODE: Final = "compaction.mode"
DEFAULT_MODE: Final[str] = BY_KEY[MODE].default
UNNAMED_PROVIDER: Final = "provider"
UNNAMED_MODEL: Final = "model"


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """The policy of a file: what it sets explicitly, and what it sets to something not accepted."""

    policy: Policy
    explicit: tuple[str, ...]
    problems: tuple[str, ...]


def policy_from_config(
    config: Mapping[str, Any], provider: str, model: str, unset_mode: str = DEFAULT_MODE
) -> ReadPolicy:
    """The settings that a configuration gives to a model. A bad value is left at its default.

    ``unset_mode`` is the compaction mode of the version's gateway where the file names none.
    """
    found = dict(_found(config, provider, model))
    usual = with_changes(Policy(), {MODE: unset_mode})
    problems: tuple[str, ...] = ()
    try:
        policy = with_changes(usual, found)
    except PolicyError as error:
        problems = tuple(error.problems.values())
        policy = with_changes(usual, {k: v for k, v in found.items() if k not in error.problems})
    return ReadPolicy(policy, tuple(found), problems)


def config_with_policy(
    policy: Policy,
    provider: str,
    model: str,
    base: Mapping[str, Any] | None = None,
    unread: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """``base`` with every setting of the policy written out, for rules that read a configuration.

    What the policy leaves unset is taken out of it: the file's own value must not come back. So is
    what the version does not read (``unread``, by key).
    """
    config = deepcopy(dict(base or {}))
    for setting in SETTINGS:
        value = getattr(policy, setting.name)
        if _is_unset(value) or setting.key in unread:
            _remove(config, setting, provider, model)
        else:
            _put(config, setting, value, provider, model)
    return config


def config_changes(
    policy: Policy, bases: Iterable[Policy], provider: str, model: str
) -> dict[str, Any]:
    """Only what the policy sets differently from one of ``bases``, as a file to merge into one's own.

    A setting that the policy leaves unset cannot be written: it has to be taken out by hand.
    """
    config: dict[str, Any] = {}
    changed = {key for base in bases for key in policy.changes(base)}
    for setting in SETTINGS:
        value = getattr(policy, setting.name)
        if setting.key in changed and not _is_unset(value):
            _put(config, setting, value, provider, model)
    return config


def with_model_windows(
    config: Mapping[str, Any], provider: str, model: str, windows: Mapping[str, Any]
) -> dict[str, Any]:
    """``config`` with what is known of a model's windows beside it, in tokens.

    ``contextWindow``, ``contextTokens`` and ``maxTokens`` go to the model's entry,
    ``providerContextWindow`` to its provider's; where the configuration says something, it is replaced.
    """
    merged = deepcopy(dict(config))
    if not windows:
        return merged
    entry = _model_entry(merged, provider or UNNAMED_PROVIDER, model or UNNAMED_MODEL)
    entry.update({key: windows[key] for key in MODEL_WINDOWS if windows.get(key)})
    if windows.get(PROVIDER_WINDOW):
        providers = merged["models"]["providers"]
        key = next(k for k in providers if js.norm(k) == js.norm(provider or UNNAMED_PROVIDER))
        providers[key]["contextWindow"] = windows[PROVIDER_WINDOW]
    return merged


def with_settings(
    config: Mapping[str, Any], provider: str, model: str, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """``config`` with some settings written into it by key; one that is unset is taken out."""
    merged = deepcopy(dict(config))
    for key, value in settings.items():
        if _is_unset(value):
            _remove(merged, BY_KEY[key], provider, model)
        else:
            _put(merged, BY_KEY[key], value, provider, model)
    return merged


def _is_unset(value: Any) -> bool:
    return value is None or value == ""


def _found(config: Mapping[str, Any], provider: str, model: str) -> Iterator[tuple[str, Any]]:
    defaults = _object(_object(config.get("agents")).get("defaults"))
    listed = _listed_model(config, provider, model)
    for setting in SETTINGS:
        at: Any = listed if setting.key in MODEL_KEYS else defaults
        for part in setting.key.split("."):
            at = _object(at).get(part)
        if at is not None:
            yield setting.key, at


def _listed_model(config: Mapping[str, Any], provider: str, model: str) -> Mapping[str, Any]:
    """The model's entry; without a provider the first one that lists it."""
    for key, entry in _object(_object(config.get("models")).get("providers")).items():
        if provider and js.norm(key) != js.norm(provider):
            continue
        models = _object(entry).get("models")
        for listed in models if isinstance(models, list) else ():
            if _object(listed).get("id") == (model or UNNAMED_MODEL):
                return _object(listed)
    return {}


def _put(config: dict[str, Any], setting: Setting, value: Any, provider: str, model: str) -> None:
    written = list(value) if isinstance(value, tuple) else value
    *parents, last = setting.key.split(".")
    at = (
        _model_entry(config, provider or UNNAMED_PROVIDER, model or UNNAMED_MODEL)
        if setting.key in MODEL_KEYS
        else _child(_child(config, "agents"), "defaults")
    )
    for parent in parents:
        at = _child(at, parent)
    at[last] = written


def _remove(config: dict[str, Any], setting: Setting, provider: str, model: str) -> None:
    """Take a setting out of a configuration that is our own copy."""
    *parents, last = setting.key.split(".")
    at: Any = (
        _listed_model(config, provider, model)
        if setting.key in MODEL_KEYS
        else _object(_object(config.get("agents")).get("defaults"))
    )
    for parent in parents:
        at = _object(at).get(parent)
    if isinstance(at, dict):
        at.pop(last, None)


def _model_entry(config: dict[str, Any], provider: str, model: str) -> dict[str, Any]:
    providers = _child(_child(config, "models"), "providers")
    key = next((k for k in providers if js.norm(k) == js.norm(provider)), provider)
    entry = _child(providers, key)
    models = entry.get("models")
    if not isinstance(models, list):
        models = entry["models"] = []
    for listed in models:
        if isinstance(listed, dict) and listed.get("id") == model:
            return listed
    added: dict[str, Any] = {"id": model, "name": model}
    models.append(added)
    return added


def _child(parent: dict[str, Any], key: str) -> dict[str, Any]:
    child = parent.get(key)
    if not isinstance(child, dict):
        child = parent[key] = {}
    return child


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def result_limits(policy: Policy) -> dict[str, Any]:
    """The configuration that a run's cap of tool results is read from."""
    limit = {"toolResultMaxChars": policy.tool_result_max_chars}
    limits = {} if policy.tool_result_max_chars is None else limit
    return {"agents": {"defaults": {"contextLimits": limits}}}
