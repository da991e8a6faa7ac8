"""Changes of a configuration as values: what a patched file has to come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

Place = tuple[str | int, ...]
"""The keys and list positions that lead to a value."""


@dataclass(frozen=True, slots=True)
class Put:
    """Set a value; objects on the way are made, and what is in the way is replaced."""

    place: Place
    value: Any


@dataclass(frozen=True, slots=True)
class Remove:
    """Take a key out; nothing happens where it is missing."""

    place: Place


@dataclass(frozen=True, slots=True)
class Rename:
    """Give a key another name, at its place among the others; nothing happens where that is taken."""

    place: Place
    key: str


Edit = Put | Remove | Rename


def applied(config: Any, edits: Iterable[Edit]) -> Any:
    """The configuration after the edits, in order; the input is left as it is."""
    result = deepcopy(config)
    for edit in edits:
        match edit:
            case Put():
                result = _put(result, edit.place, edit.value)
            case Remove():
                holder = value_of(result, edit.place[:-1])
                if isinstance(holder, dict):
                    holder.pop(edit.place[-1], None)
            case Rename():
                _rename(value_of(result, edit.place[:-1]), edit.place[-1], edit.key)
    return result


def value_of(config: Any, place: Place) -> Any:
    """What stands at a place, none where something on the way is missing."""
    for part in place:
        if isinstance(part, int):
            config = config[part] if isinstance(config, list) and part < len(config) else None
        else:
            config = config.get(part) if isinstance(config, Mapping) else None
    return config


def nested(parts: Place, value: Any) -> Any:
    """The value below objects, or lists of one, for each of the parts."""
    for part in reversed(parts):
        value = [value] if isinstance(part, int) else {part: value}
    return value


def fits(part: str | int, holder: Any) -> bool:
    """Whether a part of a place leads into such a value."""
    if isinstance(part, int):
        return isinstance(holder, list) and part <= len(holder)
    return isinstance(holder, dict)


def _put(config: Any, place: Place, value: Any) -> Any:
    if not place:
        return deepcopy(value)
    part, rest = place[0], place[1:]
    if not fits(part, config):
        return nested(place, deepcopy(value))
    if isinstance(part, int) and part == len(config):
        config.append(nested(rest, deepcopy(value)))
    elif isinstance(part, str) and part not in config:
        config[part] = nested(rest, deepcopy(value))
    else:
        config[part] = _put(config[part], rest, value)
    return config


def _rename(holder: Any, old: str | int, new: str) -> None:
    if isinstance(holder, dict) and old in holder and new not in holder:
        pairs = [(new if key == old else key, value) for key, value in holder.items()]
        holder.clear()
        holder.update(pairs)
