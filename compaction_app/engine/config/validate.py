"""What is wrong with a configuration (spec budgets 8.2).

The runtime refuses a file with a single unknown key, so everything is reported at once, in the
runtime's own words and order: what stands inside an object before the object's unknown keys. What the
runtime does not say is added: which valid key an unknown one is nearest to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.config.byte_size import parse_byte_size
from compaction_app.engine.config.nearest_key import KeyFinder
from compaction_app.engine.config.nodes import (
    Bytes,
    Choice,
    Flag,
    ListOf,
    Node,
    Number,
    RecordOf,
    Strict,
    Text,
)
from compaction_app.engine.config.schema import ConfigRules
from sessions_app.tokens import javascript as js

_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """A key nobody knows; ``nearest`` is the full path of the valid key it was probably meant to be."""

    key: str
    nearest: str | None


@dataclass(frozen=True, slots=True)
class Issue:
    """One problem: where (dotted, "" for the whole file), and what in the runtime's words.

    ``stops_further_checks``: the object around it is not checked as a whole any more.
    """

    path: str
    message: str
    unknown_keys: tuple[UnknownKey, ...] = ()
    stops_further_checks: bool = True


def validate_config(config: object, rules: ConfigRules) -> list[Issue]:
    """All problems of a configuration, in the order in which the runtime reports them; never raises."""
    return list(_Check(rules, KeyFinder(rules.schema)).node(rules.schema, config, ()))


Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Check:
    rules: ConfigRules
    finder: KeyFinder

    def node(self, node: Node, value: object, path: Path) -> Iterator[Issue]:
        match node:
            case Strict():
                yield from self._strict(node, value, path)
            case RecordOf():
                yield from self._record(node, value, path)
            case ListOf():
                yield from self._list(node, value, path)
            case Number():
                yield from self._number(node, value, path)
            case Text():
                yield from self._text(node, value, path)
            case Flag():
                if not isinstance(value, bool):
                    yield _wrong(path, "boolean", value, " (allowed: true, false)")
            case Choice():
                yield from self._choice(node, value, path)
            case Bytes():
                yield from self._bytes(value, path)

    def _strict(self, node: Strict, value: object, path: Path) -> Iterator[Issue]:
        if not isinstance(value, Mapping):
            yield _wrong(path, "object", value)
            return
        issues: list[Issue] = []
        for key, child in node.fields.items():
            if key in value or key in node.required:
                issues += self.node(child, value.get(key, _MISSING), (*path, key))
        unknown = [key for key in js.ordered_keys(value) if key not in node.fields]
        if unknown:
            issues.append(self._unknown(node, unknown, path))
        yield from issues
        stopping = (
            issue
            for issue in issues
            if issue.stops_further_checks
            and not (node.checks_despite_unknown and issue.unknown_keys)
        )
        if node.further and next(stopping, None) is None:
            for finding in node.further(path[-1], value):
                yield _issue((*path, finding.key), finding.message)

    def _unknown(self, node: Strict, keys: list[str], path: Path) -> Issue:
        names = ", ".join(f'"{key}"' for key in keys)
        plural = "s" if len(keys) > 1 else ""
        nearest = tuple(UnknownKey(key, self.finder.nearest(node, path, key)) for key in keys)
        return Issue(".".join(path), f"Unrecognized key{plural}: {names}", nearest)

    def _record(self, node: RecordOf, value: object, path: Path) -> Iterator[Issue]:
        if not isinstance(value, Mapping):
            yield _wrong(path, "record", value)
            return
        for key in js.ordered_keys(value):
            yield from self.node(node.value, value[key], (*path, key))

    def _list(self, node: ListOf, value: object, path: Path) -> Iterator[Issue]:
        if not isinstance(value, list):
            yield _wrong(path, "array", value)
            return
        for index, item in enumerate(value):
            yield from self.node(node.item, item, (*path, str(index)))

    def _number(self, node: Number, value: object, path: Path) -> Iterator[Issue]:
        if not js.is_finite(value):
            yield _wrong(path, "number", value)
        elif node.whole and value != math.floor(value):
            yield _wrong(path, "int", value)
        elif node.whole and abs(value) > js.MAX_SAFE_INTEGER:
            size, sign = ("big", "<=") if value > 0 else ("small", ">=-")
            message = f"Too {size}: expected int to be {sign}{js.MAX_SAFE_INTEGER}"
            yield _issue(path, message)
        else:
            yield from self._bounds(node, value, path)

    def _bounds(self, node: Number, value: float, path: Path) -> Iterator[Issue]:
        low, high = node.minimum, node.maximum
        if low is not None and (value <= low if node.above_minimum else value < low):
            bound = js.number_text(low)
            sign = ">" if node.above_minimum else ">="
            hint = f"must be greater than {bound}" if node.above_minimum else f"minimum: {bound}"
            yield self._out_of_bounds(path, f"Too small: expected number to be {sign}{bound}", hint)
        if high is not None and value > high:
            bound = js.number_text(high)
            message = f"Too big: expected number to be <={bound}"
            yield self._out_of_bounds(path, message, f"maximum: {bound}")

    def _out_of_bounds(self, path: Path, message: str, hint: str) -> Issue:
        hint = f" ({hint})" if self.rules.repeats_bounds else ""
        return _issue(path, message + hint, stops=False)

    def _text(self, node: Text, value: object, path: Path) -> Iterator[Issue]:
        if not isinstance(value, str):
            yield _wrong(path, "string", value)
        elif js.utf16_len(value) < node.shortest:
            message = f"Too small: expected string to have >={node.shortest} characters"
            yield _issue(path, message, stops=False)

    def _choice(self, node: Choice, value: object, path: Path) -> Iterator[Issue]:
        if isinstance(value, str) and value in node.values:
            return
        quoted = [f'"{choice}"' for choice in node.values]
        if node.is_option:
            yield _issue(path, "Invalid option: expected one of " + "|".join(quoted))
        else:
            yield _issue(path, f"Invalid input (allowed: {', '.join(quoted)})")

    def _bytes(self, value: object, path: Path) -> Iterator[Issue]:
        """A number that fits but for its sign, and a text, are told what is wrong; the rest is not."""
        if isinstance(value, str):
            if parse_byte_size(value) is None:
                yield _issue(path, "Expected byte size string like 2mb", stops=False)
        elif not js.is_finite(value) or value != math.floor(value):
            yield _issue(path, "Invalid input")
        else:
            yield from self._bounds(Number(minimum=0), value, path)


def _issue(path: Path, message: str, *, stops: bool = True) -> Issue:
    return Issue(".".join(path), message, stops_further_checks=stops)


def _wrong(path: Path, expected: str, value: object, hint: str = "") -> Issue:
    received = _type_name(value)
    return _issue(path, f"Invalid input: expected {expected}, received {received}{hint}")


_TYPE_NAMES: Final[tuple[tuple[Callable[[object], bool], str], ...]] = (
    (lambda value: value is _MISSING, "undefined"),
    (lambda value: value is None, "null"),
    (lambda value: isinstance(value, bool), "boolean"),
    (lambda value: isinstance(value, str), "string"),
    (lambda value: isinstance(value, list | tuple), "array"),
    (lambda value: isinstance(value, float) and math.isnan(value), "NaN"),
    (js.is_number, "number"),
)


def _type_name(value: Any) -> str:
    """How JavaScript's schema library calls the type of a value."""
    return next((name for fits, name in _TYPE_NAMES if fits(value)), "object")
