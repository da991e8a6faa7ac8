"""The kinds of values a configuration schema is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from compaction_app.engine.setting import Setting


@dataclass(frozen=True, slots=True)
class Number:
    """A number, maybe whole, maybe within bounds; ``above_minimum`` leaves the minimum out."""

    whole: bool = True
    minimum: float | None = None
    maximum: float | None = None
    above_minimum: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A string of at least that many characters."""

    shortest: int = 0


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few texts; ``is_option`` chooses the wording of the runtime's message."""

    values: tuple[str, ...]
    is_option: bool = False


@dataclass(frozen=True, slots=True)
class Bytes:
    """A whole number of bytes, or a text like "2mb"."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """Anything: a key that is known, and whose content is no matter of ours."""


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values of one kind."""

    item: Node


@dataclass(frozen=True, slots=True)
class Finding:
    """What a further check of an object says: at which of its keys, and what."""

    key: str
    message: str


FurtherCheck = Callable[[str, Mapping[str, Any]], list[Finding]]
"""``check(name, object)``: run when everything in the object has the right type."""


@dataclass(frozen=True, slots=True)
class Strict:
    """An object whose keys are all known, checked in this order.

    ``checks_despite_unknown``: the further check also runs where only unknown keys were found.
    """

    fields: Mapping[str, Node]
    required: frozenset[str] = frozenset()
    further: FurtherCheck | None = None
    checks_despite_unknown: bool = False


@dataclass(frozen=True, slots=True)
class RecordOf:
    """An object with any keys and values of one kind."""

    value: Node


POSITIVE = Number(minimum=0, above_minimum=True)
FROM_ZERO = Number(minimum=0)

Node = Number | Text | Flag | Choice | Bytes | Opaque | ListOf | Strict | RecordOf


def node_of(setting: Setting, *, is_option: bool = False) -> Node:
    """The node that checks a policy's setting, with its bounds."""
    if setting.kind == "choice":
        return Choice(setting.choices, is_option)
    simple: dict[str, Node] = {"bool": Flag(), "texts": ListOf(Text()), "bytes": Bytes()}
    if setting.kind in ("int", "number"):
        return Number(
            setting.kind == "int", setting.minimum, setting.maximum, setting.above_minimum
        )
    return simple.get(setting.kind, Text())


def opaque(names: str) -> dict[str, Node]:
    """Keys that are known by name only."""
    return dict.fromkeys(names.split(), Opaque())
