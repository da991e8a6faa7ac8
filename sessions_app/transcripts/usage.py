"""What one model call used: token counts as providers report them, in one form (spec budgets 7.3).

Providers name the same figure in a dozen ways, and some count cached tokens inside the prompt. Here
they become one record whose missing figures are None: "not reported" is not 0. A prompt is input plus
cache reads plus cache writes; output is never part of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Final, TypeGuard

from sessions_app.tokens import javascript as js

Number = int | float

CLI_API: Final = "cli"
"""The API that answers of a command line backend name."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call; None where the provider said nothing."""

    input: Number | None = None
    output: Number | None = None
    cache_read: Number | None = None
    cache_write: Number | None = None
    reasoning: Number | None = None
    total: Number | None = None

    def is_empty(self) -> bool:
        """Whether no figure was reported at all."""
        return not any(figure is not None for figure in _reported(self))


_reported = attrgetter(*(field.name for field in fields(Usage)))
"""All figures of a usage, in order."""


def clamped_count(value: object) -> Number | None:
    """A finite number as a whole count from 0 to 2^53 - 1."""
    if not js.is_finite(value):
        return None
    return min(math.trunc(value), js.MAX_SAFE_INTEGER) if value > 0 else 0


def finite_count(value: object) -> Number | None:
    """A finite number as it is."""
    return value if js.is_finite(value) else None


def finite_input(value: object) -> Number | None:
    """A finite number, a negative one as 0: providers that subtract the cache can go below."""
    return max(value, 0) if js.is_finite(value) else None


Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UsageRules:
    """Where a version looks for each figure, first present wins, and how it reads a number."""

    input: tuple[Path, ...]
    output: tuple[Path, ...]
    cache_read: tuple[Path, ...]
    cache_write: tuple[Path, ...]
    reasoning: tuple[Path, ...]
    total: tuple[Path, ...]
    count: Callable[[object], Number | None]
    count_input: Callable[[object], Number | None]


CACHED_INSIDE_INPUT: Final[tuple[Path, ...]] = (
    ("cached_tokens",),
    ("input_tokens_details", "cached_tokens"),
    ("prompt_tokens_details", "cached_tokens"),
)
"""Fields of providers that count cached tokens inside the prompt."""


def _keys(text: str) -> tuple[Path, ...]:
    return tuple(tuple(name.split(".")) for name in text.split())


USAGE_2026_4_20: Final = UsageRules(
    input=_keys("input inputTokens input_tokens promptTokens prompt_tokens"),
    output=_keys("output outputTokens output_tokens completionTokens completion_tokens"),
    cache_read=_keys("cacheRead cache_read cache_read_input_tokens") + CACHED_INSIDE_INPUT,
    cache_write=_keys("cacheWrite cache_write cache_creation_input_tokens"),
    reasoning=(),
    total=_keys("total totalTokens total_tokens"),
    count=finite_count,
    count_input=finite_input,
)

USAGE_2026_5_28: Final = UsageRules(
    input=USAGE_2026_4_20.input + _keys("prompt_n timings.prompt_n"),
    output=USAGE_2026_4_20.output + _keys("predicted_n timings.predicted_n"),
    cache_read=USAGE_2026_4_20.cache_read,
    cache_write=USAGE_2026_4_20.cache_write,
    reasoning=_keys(
        "reasoningTokens reasoning_tokens completion_tokens_details.reasoning_tokens "
        "output_tokens_details.reasoning_tokens"
    ),
    total=USAGE_2026_4_20.total,
    count=clamped_count,
    count_input=clamped_count,
)


def read_usage(record: object, rules: UsageRules = USAGE_2026_5_28) -> Usage | None:
    """An already normalised record (`input`, `cacheRead`, ...) with its numbers as they are."""
    if not isinstance(record, js.OBJECT):
        return None
    return Usage(
        input=_number(record.get("input")),
        output=_number(record.get("output")),
        cache_read=_number(record.get("cacheRead")),
        cache_write=_number(record.get("cacheWrite")),
        reasoning=_number(record.get("reasoningTokens")) if rules.reasoning else None,
        total=_number(record.get("total")),
    )


def normalize_usage(raw: object, rules: UsageRules = USAGE_2026_5_28) -> Usage | None:
    """A provider's usage block as one record, or None when it reports nothing.

    The first field that is neither missing nor null is taken, whatever it holds; if it is not a finite
    number the figure is unknown.
    """
    if not isinstance(raw, js.OBJECT):
        return None
    cache_read = rules.count(_first(raw, rules.cache_read))
    prompt: object = _first(raw, rules.input)
    if cache_read is not None and js.is_finite(prompt) and _counts_cache_inside(raw):
        prompt -= cache_read
    usage = Usage(
        input=rules.count_input(prompt),
        output=rules.count(_first(raw, rules.output)),
        cache_read=cache_read,
        cache_write=rules.count(_first(raw, rules.cache_write)),
        reasoning=rules.count(_first(raw, rules.reasoning)),
        total=rules.count(_first(raw, rules.total)),
    )
    return None if usage.is_empty() else usage


def prompt_tokens(usage: Usage | None) -> Number | None:
    """What the call sent: input, cache reads and cache writes; None unless above 0."""
    if usage is None:
        return None
    total = (usage.input or 0) + (usage.cache_read or 0) + (usage.cache_write or 0)
    return total if total > 0 else None


def session_total_tokens(usage: Usage | None, override: object = None) -> Number | None:
    """The context size to store for a session: a known prompt size, else the usage's prompt.

    Not limited to the window: a session larger than its window is a fact worth storing.
    """
    return override if _is_positive(override) else finite_count(prompt_tokens(usage))


def context_prompt_tokens(
    usage: Usage | None, last_call: Usage | None = None, override: object = None
) -> Number | None:
    """The size of the current context: a known prompt size, else the last call's, else the usage's."""
    if _is_positive(override):
        return override
    return prompt_tokens(last_call) or prompt_tokens(usage)


def has_nonzero_usage(usage: Usage | None) -> bool:
    """Whether any figure is a finite number above 0."""
    return usage is not None and any(map(_is_positive, _reported(usage)))


@dataclass(frozen=True, slots=True)
class UsageSum:
    """Usage over several calls: their sum, and the last call that used anything."""

    total: Usage | None = None
    last: Usage | None = None


def accumulate_usage(calls: Iterable[Usage | None]) -> UsageSum:
    """Sum the calls that used anything; figures that stay 0 are left out of both views."""
    sums = dict.fromkeys(
        ("input", "output", "cache_read", "cache_write", "reasoning", "total"), 0.0
    )
    last: Usage | None = None
    for call in calls:
        if call is None or not has_nonzero_usage(call):
            continue
        last = _with_total(call)
        for name in sums:
            sums[name] += getattr(last, name) or 0
    return UsageSum(total=_view(sums), last=_view(_figures(last)) if last else None)


def _with_total(call: Usage) -> Usage:
    parts = (call.input, call.output, call.cache_read, call.cache_write)
    total = call.total if call.total is not None else sum(part or 0 for part in parts)
    return Usage(*parts, reasoning=call.reasoning, total=total)


def _figures(usage: Usage) -> dict[str, Number]:
    return {field.name: getattr(usage, field.name) or 0 for field in fields(usage)}


def _view(figures: Mapping[str, Number]) -> Usage | None:
    shown = {name: _whole(value) for name, value in figures.items() if value}
    return Usage(**shown) if shown else None


def _whole(value: Number) -> Number:
    return int(value) if value == int(value) else value


def _first(raw: Mapping[str, Any], paths: tuple[Path, ...]) -> object:
    for path in paths:
        value = _at(raw, path)
        if value is not None:
            return value
    return None


def _at(raw: Mapping[str, Any], path: Path) -> Any:
    value: Any = raw
    for key in path:
        if value is None or not isinstance(value, js.OBJECT):
            return None
        value = value.get(key)
    return value


def _counts_cache_inside(raw: Mapping[str, Any]) -> bool:
    """A field that is there counts, even when it is null."""
    for *parents, key in CACHED_INSIDE_INPUT:
        holder = _at(raw, tuple(parents))
        if isinstance(holder, js.OBJECT) and key in holder:
            return True
    return False


def _is_positive(value: object) -> TypeGuard[int | float]:
    return js.is_finite(value) and value > 0


def _number(value: object) -> Number | None:
    return value if js.is_number(value) else None


@dataclass(frozen=True, slots=True)
class ReportedContext:
    """A context size that the provider itself reported, and the index of the answer that carries it."""

    tokens: Number
    index: int


def reported_context(messages: Sequence[Mapping[str, Any]]) -> ReportedContext | None:
    """The last context size a provider reported, in ``usage.contextUsage`` (spec profiles 5.8).

    An answer of a command line backend without one ends the search, and so does one that says
    "unavailable" without any usage.
    """
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        usage = message.get("usage") if message.get("role") == "assistant" else None
        if not isinstance(usage, js.OBJECT):
            continue
        reported = usage.get("contextUsage")
        state = reported.get("state") if isinstance(reported, js.OBJECT) else None
        tokens = reported.get("totalTokens") if isinstance(reported, js.OBJECT) else None
        if state == "available" and js.is_finite(tokens) and tokens > 0:
            return ReportedContext(tokens, index)
        if state is None and message.get("api") == CLI_API:
            return None
        if state == "unavailable" and not has_nonzero_usage(normalize_usage(usage)):
            return None
    return None
