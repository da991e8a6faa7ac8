"""Whether a sentence asks."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ASKING = re.compile(
    r"[?？]['\")”’\]]*\s*\Z|[吗么呢][。.!！]?\s*\Z|能不能|是不是|要不要|可不可以|有没有|为什么|怎么"
)
_BEGINS_TO_ASK = re.compile(
    r"\A\W*(?:why|how|what|which|who|when|where|do (?:you|we|i|they)|does|did|is|are|was|were|could (?:you|we|i)|"
    r"can (?:you|we|i)|would|have you|has|must i|should (?:i|we|you|it))\b",
    re.I,
)


def is_question(text: str) -> bool:
    """By its mark, or by how it begins where it has no full stop."""
    if _ASKING.search(text):
        return True
    return _BEGINS_TO_ASK.match(text) is not None and not text.rstrip().endswith((".", "!", "。"))


def has_any(text: str, words: Iterable[str]) -> bool:
    """Whether any of the words stands in the text; a plain loop, because most sentences end here."""
    for word in words:  # noqa: SIM110 (a generator takes three times as long)
        if word in text:
            return True
    return False


def plain_quotes(text: str) -> str:
    """The text with typed apostrophes, so that "don’t" is "don't"."""
    return text.replace("’", "'")
