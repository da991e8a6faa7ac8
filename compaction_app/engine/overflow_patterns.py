"""The texts by which an overflow is recognised, per version (spec budgets 6.2, 6.3).

There are two lists, which disagree on purpose: the inner runtime's, and the outer one that drives
recovery.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from compaction_app.engine.provider_errors import ErrorPattern, pattern
from sessions_app.tokens import javascript as js

_ANY: Final = js.ANY_CLASS
_SPACE: Final = js.SPACE_CLASS

_NEVER: Final = pattern("(?!)")


@dataclass(frozen=True, slots=True)
class InnerOverflowRules:
    """The inner runtime's texts; ``cut_answers``: an empty answer cut at a full window counts, too."""

    overflow: ErrorPattern
    excluded: ErrorPattern
    cut_answers: bool


@dataclass(frozen=True, slots=True)
class OuterOverflowRules:
    """The outer texts.

    ``all_of``: groups of phrases; a text that holds every phrase of a group, in lower case, is an
    overflow. ``provider``: patterns tried only on texts that speak of a prompt and of a limit.
    ``observed``: patterns that tell how many tokens the provider counted; the numbers are added up.
    """

    all_of: tuple[tuple[str, ...], ...]
    provider: ErrorPattern
    observed: tuple[ErrorPattern, ...]


_INNER_2026_3: Final = (
    "prompt is too long",
    "request_too_large",
    "input is too long for requested model",
    "exceeds the context window",
    f"input token count{_ANY}*exceeds the maximum",
    r"maximum prompt length is \d+",
    "reduce the length of the messages",
    r"maximum context length is \d+ tokens",
    r"input \(\d+ tokens\) is longer than the model(?:'s)? context length \(\d+ tokens\)",
    r"exceeds the limit of \d+",
    "exceeds the available context size",
    "greater than the context length",
    "context window exceeds limit",
    "exceeded model token limit",
    r"too large for model with \d+ maximum context length",
    "model_context_window_exceeded",
    "prompt too long; exceeded (?:max )?context length",
    "context[ _]length[ _]exceeded",
    "too many tokens",
    "token limit exceeded",
    rf"\A4(?:00|13){_SPACE}*(?:status code)?{_SPACE}*\(no body\)",
)
_INNER_2026_5_28: Final = (
    *_INNER_2026_3,
    r"exceeds (?:the )?(?:model's |models )?maximum context length of [\d,]+ tokens?",
)
_EXCLUDED: Final = pattern(
    r"\A(?:throttling error|service unavailable):", "rate limit", "too many requests"
)

INNER_2026_3: Final = InnerOverflowRules(pattern(*_INNER_2026_3), _NEVER, cut_answers=False)
INNER_2026_4_20: Final = InnerOverflowRules(pattern(*_INNER_2026_3), _EXCLUDED, cut_answers=False)
INNER_2026_5_28: Final = InnerOverflowRules(pattern(*_INNER_2026_5_28), _EXCLUDED, cut_answers=True)

_ALL_OF_2026_3: Final[tuple[tuple[str, ...], ...]] = (
    ("request_too_large",),
    ("request exceeds the maximum size",),
    ("context length exceeded",),
    ("maximum context length",),
    ("prompt is too long",),
    ("exceeds model context window",),
    ("model token limit",),
    ("request size exceeds", "context window"),
    ("request size exceeds", "context length"),
    ("context overflow:",),
    ("exceed context limit",),
    ("exceeds the model's maximum context",),
    ("max_tokens", "exceed", "context"),
    ("input length", "exceed", "context"),
    ("413", "too large"),
    ("context_window_exceeded",),
    ("上下文过长",),
    ("上下文超出",),
    ("上下文长度超",),
    ("超出最大上下文",),
    ("请压缩上下文",),
)
_ALL_OF_2026_4_20: Final = (
    *_ALL_OF_2026_3,
    ("invalid_argument", "maximum number of tokens"),
    ("prompt too long",),
    ("input exceeds", "maximum number of tokens"),
)
_ALL_OF_2026_5_28: Final = (
    *_ALL_OF_2026_4_20,
    ("context window", "ran out of room"),
    ("context window", "ran out of space"),
    ("context length", "ran out of room"),
    ("context length", "ran out of space"),
)

_PROVIDER: Final = pattern(
    "input token count exceeds the maximum number of input tokens",
    "input is too long for this model",
    "input exceeds the maximum number of tokens",
    f"ollama error:{_SPACE}*context length exceeded(?:,{_SPACE}*too many tokens)?",
    rf"total tokens?\b{_ANY}*exceeds? (?:the )?(?:model(?:'s)? )?(?:max|maximum|limit)\b",
    *(
        rf"{subject} \([\d,]+{_SPACE}*tokens?\) exceeds (?:the )?available context size"
        for subject in ("request", "prompt")
    ),
    "input (?:is )?too long for (?:the )?model",
)

_PROMPT_OVER_MAXIMUM: Final = pattern(
    rf"prompt is too long:{_SPACE}*([\d,]+){_SPACE}+tokens{_SPACE}*>{_SPACE}*[\d,]+{_SPACE}+maximum"
)
_REQUESTED: Final = pattern(rf"requested{_SPACE}+([\d,]+){_SPACE}+tokens")
_RESULTED: Final = pattern(rf"resulted in{_SPACE}+([\d,]+){_SPACE}+tokens")
_INPUT_PLUS_ANSWER: Final = pattern(
    rf"input length(?: and max_tokens)? exceed context(?: limit| window)?{_SPACE}*"
    rf"\(i\.e\.?{_SPACE}*([\d,]+){_SPACE}*\+{_SPACE}*([\d,]+){_SPACE}*>{_SPACE}*[\d,]+\)"
)
_PROMPT_AND_MAXIMUM: Final = pattern(
    rf"prompt is too long:{_SPACE}*([\d,]+),{_SPACE}*model maximum context length:{_SPACE}*[\d,]+"
)
_LIMIT_AND_REQUESTED: Final = pattern(
    rf"token limit:{_SPACE}*[\d,]+{_SPACE}*\(requested:{_SPACE}*([\d,]+)\)"
)

_OBSERVED_2026_3: Final = (_PROMPT_OVER_MAXIMUM, _REQUESTED, _RESULTED)
_OBSERVED_2026_5_28: Final = (
    _INPUT_PLUS_ANSWER,
    _PROMPT_OVER_MAXIMUM,
    _PROMPT_AND_MAXIMUM,
    _REQUESTED,
    _LIMIT_AND_REQUESTED,
    _RESULTED,
)

OUTER_2026_3: Final = OuterOverflowRules(_ALL_OF_2026_3, _NEVER, _OBSERVED_2026_3)
OUTER_2026_4_20: Final = OuterOverflowRules(_ALL_OF_2026_4_20, _PROVIDER, _OBSERVED_2026_3)
OUTER_2026_5_28: Final = OuterOverflowRules(_ALL_OF_2026_5_28, _PROVIDER, _OBSERVED_2026_5_28)
OUTER_2026_9: Final = OuterOverflowRules(
    (*_ALL_OF_2026_5_28, ("longer than the model's context length",)),
    _PROVIDER,
    _OBSERVED_2026_5_28,
)


SPEAKS_OF_PROMPT: Final = pattern(r"\b(?:context|window|prompt|tokens?|input|request|model)\b")
SPEAKS_OF_LIMIT: Final = pattern(
    rf"\b(?:too{_SPACE}+(?:large|long|many)|exceed(?:s|ed|ing)?|overflow|limit|maximum|max)\b"
)
WINDOW_TOO_SMALL: Final = pattern(f"context window{_ANY}*(?:too small|minimum is)")
RATE_HINT: Final = pattern(
    "rate limit",
    "too many requests",
    "requests per (?:minute|hour|day)",
    "quota",
    "throttl",
    r"429\b",
    "tokens per day",
)
_TOO_MUCH: Final = "too (?:large|long)|exceed|over|limit|max"
OVERFLOW_HINT: Final = pattern(
    f"context{_ANY}*overflow",
    f"context window{_ANY}*(?:{_TOO_MUCH}|requested|sent|tokens)",
    f"prompt{_ANY}*(?:{_TOO_MUCH})",
    f"(?:request|input){_ANY}*(?:context|window|length|token){_ANY}*(?:{_TOO_MUCH})",
)
