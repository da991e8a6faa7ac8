"""By what two identifiers count as the same: case, number format, full-width forms, clinging parts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from compaction_app.engine.retention.anchors import AnchorKind
from compaction_app.engine.retention.identifiers import plain_form

_UNITS: Final = {
    alias: unit
    for unit, aliases in {
        "ms": "ms 毫秒", "us": "us µs 微秒", "s": "s sec secs second seconds 秒 秒钟",
        "min": "min mins minute minutes 分钟", "h": "h hr hrs hour hours 小时 个小时", "day": "day days 天",
        "week": "week weeks 周 星期 个星期", "month": "month months 个月", "year": "year years",
        "%": "% ％ percent", "$": "$ usd dollar dollars 美元", "€": "€ eur euro euros 欧元",
        "¥": "¥ ￥ cny 元", "£": "£ gbp", "b": "byte bytes 字节", "mb": "mb 兆", "req/s": "req/s request/s requests/s rps qps",
        "char": "char chars character characters 字符", "px": "px 像素", "kg": "kg 公斤 千克", "km": "km 公里",
        "k": "k", "m": "m million", "bn": "bn billion",
    }.items()
    for alias in aliases.split()
}  # fmt: skip
_QUANTITY = re.compile(
    r"(?P<sign>[$€£¥￥]?)\s?(?P<number>[0-9][0-9,]*(?:\.[0-9]+)?)\s?-?(?P<unit>.*)"
)
_NUMBER_OF_TICKET = re.compile(r"[#!]?([0-9]+)\Z")
_SEPARATORS = re.compile(r"[\\/]+")


@lru_cache(maxsize=50_000)
def key_of_identifier(kind: AnchorKind, text: str) -> str:
    """The form in which identifiers of a kind are compared."""
    plain = plain_form(text).strip()
    match kind:
        case "path":
            return "/".join(parts_of_path(plain))
        case "url":
            return plain.casefold().partition("://")[2].rstrip("/")
        case "version":
            return plain.casefold().removeprefix("v")
        case "hash":
            return plain.casefold().rpartition(":")[2]
        case "ticket":
            number = _NUMBER_OF_TICKET.search(plain)
            return plain.casefold() if "-" in plain or number is None else f"#{int(number[1])}"
        case "quantity":
            return _quantity(plain)
    return plain.casefold()


def parts_of_path(path: str) -> list[str]:
    """The names a path consists of, without what only says where it is looked up from."""
    return [
        part.casefold()
        for part in _SEPARATORS.split(path)
        if part not in ("", ".", "..", "~") and not part.endswith(":")
    ]


def _quantity(text: str) -> str:
    match = _QUANTITY.match(text)
    if match is None:
        return text.casefold()
    number = match["number"].replace(",", "")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    unit = match["unit"].strip().casefold()
    unit = _UNITS.get(unit, unit.removesuffix("s"))
    sign = _UNITS.get(match["sign"], match["sign"])
    return f"{number.lstrip('0') or '0'} {sign}{unit}"
