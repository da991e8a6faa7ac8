"""What JavaScript means by a string, a number, a blank and JSON.

The rules we reproduce were written for a JavaScript runtime. Python differs in string length,
slicing, trimming, regular expressions, truthiness, number texts and the order of object keys. Every
such difference is settled here and nowhere else (spec budgets 0, pruning 0.1).

Strings are Python ``str``. Lengths and positions are counted in UTF-16 code units; a slice may split
a surrogate pair, and the lone half is kept as a lone surrogate code point.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from json.encoder import encode_basestring
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final, TypeGuard

import orjson

SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""The characters that ``trim`` and ``\\s`` take for white space."""

SPACE_CLASS: Final = "[" + "".join(f"\\u{ord(c):04x}" for c in SPACE) + "]"
"""``\\s`` for use in a Python pattern."""

NON_SPACE_CLASS: Final = "[^" + SPACE_CLASS[1:]
"""``\\S`` for use in a Python pattern."""

ANY_CLASS: Final = "[^\\n\\r\\u2028\\u2029]"
"""``.`` for use in a Python pattern."""

MAX_SAFE_INTEGER: Final = 2**53 - 1
_PLAIN_DEPTH = 16

_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_INDEX_KEY = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z", re.ASCII)
_MAX_INDEX_KEY = 2**32 - 2
_WHOLE_TEXT = re.compile(r"[+-]?[0-9]{1,15}\Z", re.ASCII)
_NUMBER_TEXT = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|Infinity)\Z",
    re.ASCII,
)


# --- strings ---------------------------------------------------------------------------------------
def _is_narrow(text: str) -> bool:
    """Whether every character is one code unit, so that Python and UTF-16 positions agree."""
    return text.isascii() or _ASTRAL.search(text) is None


def utf16_len(text: str) -> int:
    """The length of ``text`` in UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_slice(text: str, start: int, end: int | None = None) -> str:
    """``text.slice(start, end)``: negative positions count from the end; pairs may be split."""
    # A character is at least one unit, so a short slice need not look at the whole text.
    if end is not None and start >= 0 and end >= 0:
        text = text[:end]
    elif end is None and start < 0:
        text = text[start:]
    if _is_narrow(text):
        return text[start:end]
    units = text.encode("utf-16-le", "surrogatepass")
    first, last, _ = slice(start, end).indices(len(units) // 2)
    return units[2 * first : 2 * last].decode("utf-16-le", "surrogatepass")


def utf16_last_index(text: str, needle: str, at: float = math.inf) -> int:
    """``text.lastIndexOf(needle, at)`` for a needle without surrogates; -1 when absent.

    ``at`` is the last position at which a match may start; a negative one counts as 0.
    """
    limit = max(at, 0)
    if _is_narrow(text):
        end = len(text) if limit >= len(text) else math.floor(limit) + len(needle)
        return text.rfind(needle, 0, end)
    head = text if limit == math.inf else utf16_slice(text, 0, math.floor(limit) + len(needle))
    found = head.rfind(needle)
    return -1 if found < 0 else utf16_len(head[:found])


def utf16_index(text: str, needle: str, start: int = 0) -> int:
    """``text.indexOf(needle, start)`` for a needle without surrogates; -1 when absent."""
    start = max(start, 0)
    if _is_narrow(text):
        return text.find(needle, min(start, len(text)))
    tail = utf16_slice(text, start)
    found = tail.find(needle)
    return -1 if found < 0 else min(start, utf16_len(text)) + utf16_len(tail[:found])


def concat(parts: Iterable[str]) -> str:
    """Join strings as JavaScript does: two halves of a pair that meet become one character again."""
    text = "".join(parts)
    if _PAIR.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def trim(text: str) -> str:
    return text.strip(SPACE)


def trim_start(text: str) -> str:
    return text.lstrip(SPACE)


def trim_end(text: str) -> str:
    return text.rstrip(SPACE)


def is_blank(text: str) -> bool:
    return not text.strip(SPACE)


def ascii_lower(text: str) -> str:
    """A to Z in lower case and nothing else, as patterns that ignore case compare letters."""
    return text.lower() if text.isascii() else text.translate(_LOWER)


def norm(value: object) -> str:
    """Trimmed and lower-cased when it is a string, "" for anything else (spec budgets 0)."""
    return trim(value).lower() if isinstance(value, str) else ""


def utf8_len(text: str) -> int:
    """Bytes of ``text`` in UTF-8; a lone surrogate counts 3, as its replacement U+FFFD does."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def utf16_sort_key(text: str) -> bytes:
    """Sorts strings as JavaScript's default comparison does, by code units."""
    return text.encode("utf-16-be", "surrogatepass")


# --- numbers ---------------------------------------------------------------------------------------
def is_number(value: object) -> TypeGuard[int | float]:
    """A JavaScript number: NaN and the infinities are, booleans are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_finite(value: object) -> TypeGuard[int | float]:
    """A number that a double holds; larger integers are infinite there."""
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:
        return False


def floor(value: float) -> int | float:
    """``Math.floor``: NaN and the infinities come back as they are."""
    return math.floor(value) if math.isfinite(value) else value


def ceil(value: float) -> int | float:
    """``Math.ceil``: NaN and the infinities come back as they are."""
    return math.ceil(value) if math.isfinite(value) else value


def trunc(value: float) -> int | float:
    """``Math.trunc``: NaN and the infinities come back as they are."""
    return math.trunc(value) if math.isfinite(value) else value


def round_half_up(value: float) -> int | float:
    """``Math.round``: halves go up, also below zero."""
    if not math.isfinite(value):
        return value
    whole = math.floor(value)
    return whole + 1 if value - whole >= 0.5 else whole


def maximum(*values: float) -> int | float:
    """``Math.max``: NaN wins over everything."""
    for value in values:  # called for every message: a generator would take twice as long
        if value != value:
            return math.nan
    return max(values)


def minimum(*values: float) -> int | float:
    """``Math.min``: NaN wins over everything."""
    return math.nan if any(v != v for v in values) else min(values)


def pos_int(value: object) -> int | None:
    """``floor(value)`` when that is a finite number above 0, else none (spec budgets 0)."""
    if is_finite(value) and (whole := math.floor(value)) > 0:
        return whole
    return None


def is_truthy(value: object) -> bool:
    """JavaScript truth: empty lists and objects are true, NaN and "" are false."""
    if value is None or isinstance(value, bool):
        return bool(value)
    if is_number(value):
        return value == value and value != 0
    return value != "" if isinstance(value, str) else True


def number_text(value: float) -> str:
    """``String(value)`` for a number."""
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    if isinstance(value, int) and abs(value) <= MAX_SAFE_INTEGER:
        return str(value)
    return _double_text(float(value))


def _double_text(value: float) -> str:
    """The shortest digits that read back as ``value``, laid out by ECMAScript's rules."""
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + ("" if fraction == "0" else fraction)).lstrip("0")
    # `point` is how many digits stand before the decimal point: ECMAScript's n.
    leading = len(whole) + (0 if fraction == "0" else len(fraction)) - len(digits)
    point = len(whole) - leading + int(exponent or 0)
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = point - 1
    tail = f"e{'+' if power >= 0 else '-'}{abs(power)}"
    return sign + (digits if count == 1 else f"{digits[0]}.{digits[1:]}") + tail


def divide(dividend: float, divisor: float) -> float:
    """``dividend / divisor``: dividing by zero gives an infinity or NaN, never an error."""
    if divisor != 0:
        return dividend / divisor
    return math.nan if dividend == 0 or dividend != dividend else math.copysign(math.inf, dividend)


def position(value: float) -> int:
    """A number as ``slice`` reads it: towards zero, NaN is 0, an infinity is past every end."""
    if value != value:
        return 0
    return math.trunc(max(-MAX_SAFE_INTEGER, min(value, MAX_SAFE_INTEGER)))


def to_number(value: object) -> int | float:
    """``Number(value)`` for JSON values; a list or an object is NaN."""
    if value is None or isinstance(value, bool):
        return int(bool(value))
    if is_number(value):
        return value
    if not isinstance(value, str):
        return math.nan
    text = trim(value)
    if _NUMBER_TEXT.match(text) is None:
        return math.nan if text else 0
    return float(text) if _WHOLE_TEXT.match(text) is None else int(text)


OBJECT: Final = (dict, Mapping)
"""What JSON calls an object, for ``isinstance``: the usual class first, for the abstract one is slow to ask."""


# --- JSON ------------------------------------------------------------------------------------------
class NoJson(ValueError):
    """The value cannot be written as JSON (a cycle, or an object Python does not map)."""


def ordered_keys(mapping: Mapping[str, Any]) -> list[str]:
    """Keys as a JavaScript object lists them: array indices first and ascending, then as inserted."""
    indices = [k for k in mapping if _INDEX_KEY.match(k) and int(k) <= _MAX_INDEX_KEY]
    if not indices:
        return list(mapping)
    taken = set(indices)
    return sorted(indices, key=int) + [k for k in mapping if k not in taken]


def json_text(value: Any) -> str:
    """``JSON.stringify(value)``: compact, non-ASCII literal, lone surrogates escaped.

    Raises:
        NoJson: for values that JSON cannot hold.
    """
    if _is_plain(value):
        with suppress(TypeError):  # a lone surrogate
            return orjson.dumps(value).decode()
    parts: list[str] = []
    try:
        _write(value, parts.append)
    except RecursionError as error:
        raise NoJson("nested too deeply, or a cycle") from error
    return "".join(parts)


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether every JSON writer puts the value down alike: no fractions, no large numbers, no keys that
    JavaScript lists before others, not too deep."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return True
    if kind is int:
        return bool(-MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER)
    if depth > _PLAIN_DEPTH:
        return False
    if kind is dict:
        return all(
            type(key) is str and not key[:1].isdecimal() and _is_plain(held, depth + 1)
            for key, held in value.items()
        )
    return kind is list and all(_is_plain(held, depth + 1) for held in value)


def _write(value: Any, out: Callable[[str], None]) -> None:
    if isinstance(value, str):
        out(_quoted(value))
    elif value is None or value is True or value is False:
        out("null" if value is None else "true" if value else "false")
    elif isinstance(value, int | float):
        out(number_text(value) if math.isfinite(value) else "null")
    elif isinstance(value, Mapping):
        lead = "{"
        for key in ordered_keys(value):
            out(f"{lead}{_quoted(key)}:")
            _write(value[key], out)
            lead = ","
        out("{}" if lead == "{" else "}")
    elif isinstance(value, list | tuple):
        lead = "["
        for item in value:
            out(lead)
            _write(item, out)
            lead = ","
        out("[]" if lead == "[" else "]")
    else:
        raise NoJson(f"no JSON form for {type(value).__name__}")


def _quoted(text: str) -> str:
    if text.isascii() or _SURROGATES.search(text) is None:
        return encode_basestring(text)
    escaped = encode_basestring(concat((text,)))
    return _SURROGATES.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped)
