"""Is a reply meant for nobody? (spec budgets 5.10)

A model that has nothing to say answers with a token. The whole text must say so: a token with anything
else beside it is an answer, from which the token is only stripped. Models that think aloud get a
little more room: reasoning before the token, and one sentence announcing the silence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sessions_app.tokens import javascript as js
from sessions_app.transcripts.json_lines import NotJson, parse_json

SILENT_TOKEN: Final = "NO_REPLY"
HEARTBEAT_TOKEN: Final = "HEARTBEAT_OK"

_S = js.SPACE_CLASS
_IGNORE_ASCII_CASE = re.IGNORECASE | re.ASCII
_BEFORE_TOKEN = frozenset(js.SPACE + "*.")
_TAG_NAME = r"(?:(?:antml:)?(?:think(?:ing)?|thought)|antthinking)\b"
_OPENING_TAG = re.compile(rf"<{_S}*{_TAG_NAME}[^>]*>", _IGNORE_ASCII_CASE)
_CLOSING_TAG = re.compile(rf"<{_S}*/{_S}*{_TAG_NAME}[^>]*>{_S}*", _IGNORE_ASCII_CASE)
_REASONING_LINE = re.compile(
    r"(?:thinking|think|thought|analysis|reasoning)[ \t]*:?[ \t]*\r?\n", _IGNORE_ASCII_CASE
)
_PLACE = rf"(?:{_S}+(?:here|for now|on this|in this(?: (?:chat|thread|channel|conversation))?))?"
_SILENT_INTENT = re.compile(
    r"(?:i'll|i will|i'm|i am|i|we'll|we will|we|(?:the )?assistant|(?:the )?bot|openclaw) (?:"
    rf"(?:will )?(?:stay|remain|keep|be) (?:quiet|silent){_PLACE}"
    r"|(?:do not|don't|dont|will not|won't|would not|should not) "
    rf"(?:reply|respond){_PLACE}"
    r"|(?:have|has) nothing (?:to|for) (?:say|add|reply|respond)"
    r")[.!?]?".replace(" ", f"{_S}+"),
    _IGNORE_ASCII_CASE,
)
_PLACEHOLDER = re.compile(
    r"(?:(?:internal|private) )?(?:reasoning|thinking|thoughts?|analysis)(?: notes?)?".replace(
        " ", f"{_S}+"
    ),
    _IGNORE_ASCII_CASE,
)
_ANSWER_CUE = re.compile(
    r"\b(?:answer|here's|here is|tell them|you (?:should|can|could|need|must)|please|try|use|send"
    r"|service is|resolved|retry|yes|sure)\b|\bno,".replace(" ", f"{_S}+"),
    _IGNORE_ASCII_CASE,
)


@dataclass(frozen=True, slots=True)
class SilentRules:
    """What a version takes for silence.

    ``repeats``: the token may be repeated; ``reads_reasoning``: reasoning before it is looked through.
    ``unwraps``: marks of emphasis around it and a sentence's end behind it say nothing;
    ``strips_repeated``: a text of tokens alone is stripped whole; ``mixes_tokens``: several tokens in a
    row are one; ``any_case``: fragments of the others count in any case, too.
    """

    repeats: bool
    reads_reasoning: bool
    unwraps: bool = False
    strips_repeated: bool = False
    mixes_tokens: bool = False
    any_case: bool = False


OPENCLAW_2026_4_20: Final = SilentRules(repeats=False, reads_reasoning=False)
OPENCLAW_2026_5_28: Final = SilentRules(repeats=True, reads_reasoning=True)
OPENCLAW_2026_9: Final = SilentRules(
    repeats=True,
    reads_reasoning=True,
    unwraps=True,
    strips_repeated=True,
    mixes_tokens=True,
    any_case=True,
)
_EMPHASIS: Final = "*_`~"
_ENDS: Final = _EMPHASIS + ".!?…。！？"


@dataclass(frozen=True, slots=True)
class _TokenPatterns:
    once: re.Pattern[str]
    repeated: re.Pattern[str]
    leading: re.Pattern[str]
    glued: re.Pattern[str]


@lru_cache(maxsize=16)
def _patterns(token: str) -> _TokenPatterns:
    t, flags = re.escape(token), _IGNORE_ASCII_CASE
    return _TokenPatterns(
        once=re.compile(rf"{_S}*{t}{_S}*", flags),
        repeated=re.compile(rf"{_S}*{t}(?:{_S}+{t})*{_S}*", flags),
        leading=re.compile(rf"(?:{_S}*{t})+{_S}*", flags),
        glued=re.compile(rf"{_S}*(?:{t}{_S}+)*{t}(?=[^\W_])", re.IGNORECASE),
    )


def is_silent_text(
    text: str | None, rules: SilentRules = OPENCLAW_2026_5_28, token: str = SILENT_TOKEN
) -> bool:
    """Whether the whole text is the token, in any case, with any white space around it."""
    patterns = _patterns(token)
    pattern = patterns.repeated if rules.repeats else patterns.once
    bare = _unwrapped(text or "") if rules.unwraps else text or ""
    return bool(text) and pattern.fullmatch(bare) is not None


def _unwrapped(text: str) -> str:
    return text.lstrip(js.SPACE + _EMPHASIS).rstrip(js.SPACE + _ENDS)


def is_silent_envelope(text: str | None, token: str = SILENT_TOKEN) -> bool:
    """Whether the text is a JSON object whose only key ``action`` says the token, case included."""
    trimmed = js.trim(text or "")
    if not (trimmed.startswith("{") and trimmed.endswith("}") and token in trimmed):
        return False
    try:
        value = parse_json(trimmed)
    except NotJson:
        return False
    if not isinstance(value, Mapping) or list(value) != ["action"]:
        return False
    action = value["action"]
    return isinstance(action, str) and js.trim(action) == token


def is_silent_reasoning(
    text: str | None, rules: SilentRules = OPENCLAW_2026_5_28, token: str = SILENT_TOKEN
) -> bool:
    """Whether the text is reasoning, and after it nothing but silence, maybe announced."""
    trimmed = js.trim(text or "")
    if not trimmed or not rules.reads_reasoning:
        return False
    rest = _after_closed_reasoning(trimmed)
    if rest != trimmed:
        if is_silent_text(rest, rules, token):
            return True
        said = _before_final_token(rest, token)
        return said is not None and (not said or _announces_silence(said))
    opening = _OPENING_TAG.match(trimmed) or _REASONING_LINE.match(trimmed)
    if opening is None:
        return False
    rest = js.trim(trimmed[opening.end() :])
    if is_silent_text(rest, rules, token):
        return True
    said = _before_final_token(rest, token)
    return said is not None and _is_only_thought(said)


def is_silent(
    text: str | None, rules: SilentRules = OPENCLAW_2026_5_28, token: str = SILENT_TOKEN
) -> bool:
    """Whether a reply is not to be delivered at all."""
    return (
        is_silent_text(text, rules, token)
        or is_silent_envelope(text, token)
        or is_silent_reasoning(text, rules, token)
    )


def strip_trailing_token(
    text: str, token: str = SILENT_TOKEN, rules: SilentRules = OPENCLAW_2026_5_28
) -> str:
    """The text without a token at its end; one that is glued to a word stays."""
    if rules.strips_repeated and _patterns(token).repeated.fullmatch(text):
        return ""
    before = _before_last_token(text, token)
    if before is None or before.endswith("."):
        return js.trim(text)
    return js.trim(before if js.trim_end(before) != before else before.rstrip("*"))


def strip_leading_tokens(text: str, token: str = SILENT_TOKEN) -> str:
    """The text without the tokens it begins with, glued ones included."""
    match = _patterns(token).leading.match(text)
    return js.trim(text[match.end() :] if match else text)


def starts_with_glued_token(text: str | None, token: str = SILENT_TOKEN) -> bool:
    """Whether the text begins with a token that runs straight on into a word."""
    return bool(text) and _patterns(token).glued.match(text or "") is not None


def may_become_silent(text: str | None, token: str = SILENT_TOKEN) -> bool:
    """Whether a reply that is still being written could turn out to be the token.

    Ordinary words must not be held back, so only upper case with an underscore counts, and "NO".
    """
    lead = js.trim_start(text or "")
    if len(lead) < 2 or re.fullmatch("[A-Z_]+", lead) is None:
        return False
    if not token.upper().startswith(lead):
        return False
    return "_" in lead or (token.upper() == SILENT_TOKEN and lead == "NO")


def _after_closed_reasoning(text: str) -> str:
    """The text behind the reasoning blocks it begins with; the names of a pair need not agree."""
    position = 0
    while (opening := _OPENING_TAG.match(text, position)) is not None:
        closing = _CLOSING_TAG.search(text, opening.end())
        if closing is None:
            break
        position = closing.end()
    return text[position:]


def _before_last_token(text: str, token: str) -> str | None:
    """What stands before a token at the end that is not glued to a word; None without one."""
    text = js.trim_end(text)
    match = _patterns(token).once.fullmatch(text, max(0, len(text) - len(token)))
    if match is None:
        return None
    before = text[: match.start()]
    return before if not before or before[-1] in _BEFORE_TOKEN else None


def _before_final_token(text: str, token: str) -> str | None:
    before = _before_last_token(text, token)
    return None if before is None else js.trim(js.trim(before).rstrip("*"))


def _announces_silence(text: str) -> bool:
    return _SILENT_INTENT.fullmatch(text) is not None


def _is_only_thought(said: str) -> bool:
    if not said or _announces_silence(said) or _PLACEHOLDER.fullmatch(said):
        return True
    lines = [line for line in map(js.trim, re.split("[\r\n]+", said)) if line]
    earlier = "\n".join(lines[:-1])
    return bool(earlier) and _announces_silence(lines[-1]) and _ANSWER_CUE.search(earlier) is None
