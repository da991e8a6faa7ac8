"""Reading the text of `openclaw.json` (spec budgets 8.1).

Strict JSON is tried first, then JSON5. The JSON5 library accepts a little more and a little less than
the runtime's parser; the differences are settled before the text reaches it.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

import pyjson5

from sessions_app.transcripts.json_lines import whole_number

DEEPEST: Final = 400
"""Nesting levels that are read; no configuration needs a tenth of them."""

IGNORED_KEY: Final = "__proto__"
"""Never becomes data in the runtime."""

_TOKENS = re.compile(
    r"""(?P<comment>//[^\n\r\u2028\u2029]*|/\*.*?(?:\*/|\Z))"""
    r"""|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    r"""|(?P<number>[+-]?\.?[0-9][\w.]*(?:(?<=[eE])[+-]\w+)?)""",
    re.DOTALL | re.ASCII,
)
_ESCAPES = re.compile(
    r"\\(?:(?P<pair>u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u(?P<half>[dD][89a-fA-F][0-9a-fA-F]{2})|(?P<octal>0[0-9])|.)",
    re.DOTALL,
)
_NEAR = re.compile(r"near ([0-9]+)")


class ConfigSyntaxError(ValueError):
    """The text is neither JSON nor JSON5; ``line`` and ``column`` count from 1."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(f"{problem} (line {line}, column {column})")
        self.problem = problem
        self.line = line
        self.column = column


def parse_config(text: str) -> Any:
    """The value that the text describes; of a repeated key the last one counts.

    Raises:
        ConfigSyntaxError: with what is wrong and where.
    """
    try:
        return json.loads(
            text, parse_constant=_refuse, parse_int=whole_number, object_pairs_hook=_plain_object
        )
    except RecursionError as error:
        raise ConfigSyntaxError("nested too deeply", 1, 1) from error
    except ValueError:
        return _parse_json5(text)


def _parse_json5(text: str) -> Any:
    rewritten = _for_library(text)
    try:
        return _without_ignored(pyjson5.decode(rewritten, maxdepth=DEEPEST))
    except pyjson5.Json5NestingTooDeep as error:
        raise ConfigSyntaxError("nested too deeply", 1, 1) from error
    except pyjson5.Json5DecoderException as error:
        raise _syntax_error(text, error) from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise ConfigSyntaxError(f"unreadable: {error}", 1, 1) from error


def _for_library(text: str) -> str:
    """The text with what only the library refuses rewritten.

    Raises:
        ConfigSyntaxError: for what only the library accepts.
    """

    def rewritten(match: re.Match[str]) -> str:
        if match["text"] is not None:
            return _ESCAPES.sub(lambda escape: _escape(text, match.start(), escape), match[0])
        if match["number"] is not None:
            return _number_text(text, match)
        return match[0]

    return _TOKENS.sub(rewritten, text)


def _escape(text: str, start: int, escape: re.Match[str]) -> str:
    if escape["octal"] is not None:
        raise _error_at(text, start + escape.start(), "an octal escape")
    if escape["half"] is not None:
        return chr(int(escape["half"], 16))
    return escape[0]


def _number_text(text: str, match: re.Match[str]) -> str:
    number = match[0]
    if "_" in number:
        raise _error_at(text, match.start(), "a digit separator in a number")
    try:
        too_large = math.isinf(float(number))
    except ValueError:
        return number
    return ("-" if number.startswith("-") else "") + "Infinity" if too_large else number


def _syntax_error(text: str, error: Exception) -> ConfigSyntaxError:
    near = _NEAR.search(str(error))
    position = int(near[1]) - 1 if near else 0
    if isinstance(error, pyjson5.Json5ExtraData):
        position = text.find(str(error.args[-1]), position)
        return _error_at(text, max(0, position), "more text after the value")
    if isinstance(error, pyjson5.Json5EOF):
        problem = "never closed" if position > 0 or text.strip() else "no value"
        return _error_at(text, max(0, position), problem)
    found = text[position : position + 1]
    return _error_at(
        text, position, f"unexpected {found!r}" if found else "the text ends too early"
    )


def _error_at(text: str, position: int, problem: str) -> ConfigSyntaxError:
    before = text[:position]
    line = before.count("\n") + 1
    return ConfigSyntaxError(problem, line, position - before.rfind("\n"))


def _plain_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in pairs if key != IGNORED_KEY}


def _without_ignored(value: Any) -> Any:
    if isinstance(value, dict):
        return _plain_object([(key, _without_ignored(item)) for key, item in value.items()])
    return [_without_ignored(item) for item in value] if isinstance(value, list) else value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
