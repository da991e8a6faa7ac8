"""What stands at a path of the configuration? Any part of it may be missing or of another type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sessions_app.tokens import javascript as js


def value_at(config: object, *path: str) -> Any:
    """The value at ``path``, or ``None`` where an object on the way is missing."""
    for key in path:
        if not isinstance(config, Mapping):
            return None
        config = config.get(key)
    return config


def provider_entries(config: object) -> Iterator[tuple[str, Any]]:
    """``models.providers`` in the order in which JavaScript lists its keys."""
    providers = value_at(config, "models", "providers")
    if isinstance(providers, Mapping):
        for key in js.ordered_keys(providers):
            yield key, providers[key]


def models_of(provider: object) -> Sequence[Mapping[str, Any]]:
    """The models that a provider's entry lists; entries that are no objects are passed over."""
    models = value_at(provider, "models")
    if not isinstance(models, list):
        return ()
    return [model for model in models if isinstance(model, Mapping)]


def first_number(owner: object, fields: Sequence[str]) -> int | float | None:
    """The first of ``fields`` that is a number, even 0 or NaN: those hide the fields after them."""
    for field in fields:
        value = value_at(owner, field)
        if js.is_number(value):
            return value
    return None


def first_pos_int(owner: object, fields: Sequence[str]) -> int | None:
    """The first of ``fields`` that gives a whole number above 0."""
    for field in fields:
        whole = js.pos_int(value_at(owner, field))
        if whole is not None:
            return whole
    return None
