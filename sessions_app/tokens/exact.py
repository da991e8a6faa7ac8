"""Exact token counts with tiktoken, for the vocabularies ``o200k_base`` and ``cl100k_base``.

Counted are the texts of a message: text and thinking blocks, tool names and arguments. What a
provider adds around them (roles, separators, images) is not known and not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

import tiktoken

ENCODINGS: Final = ("o200k_base", "cl100k_base")
SLICE_CHARS: Final = 16_384
"""Longer texts are counted in slices, so that memory and time stay in proportion.

A slice ends between two words, which both vocabularies part there too; where there are none, a cut
can add one token."""


@cache
def _encoding(name: str) -> tiktoken.Encoding:
    """Loaded when first used: each vocabulary costs about 60 MB."""
    return tiktoken.get_encoding(name)


def encoding_for(model: str) -> str:
    """The vocabulary of a model id; the newest one where the model is not known to tiktoken."""
    known = model.rsplit("/", 1)[-1].lower()
    if known.startswith(("gpt-4-", "gpt-3.5")) or known == "gpt-4":
        return "cl100k_base"
    return "o200k_base"


def count(text: str, encoding: str = "o200k_base") -> int:
    """Tokens of ``text``; marks such as ``<|endoftext|>`` count as the plain text they are.

    Raises:
        ValueError: for an unknown encoding.
    """
    if encoding not in ENCODINGS:
        raise ValueError(f"unknown encoding {encoding!r}; one of {', '.join(ENCODINGS)}")
    encode = _encoding(encoding).encode_ordinary
    return sum(len(encode(part)) for part in _slices(text))


def _slices(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > SLICE_CHARS:
        end = _word_end(text, start + SLICE_CHARS // 2, start + SLICE_CHARS)
        yield text[start:end]
        start = end
    yield text[start:]


def _word_end(text: str, low: int, high: int) -> int:
    """The last place above ``low`` where a space parts two letters, else ``high``."""
    at = text.rfind(" ", low, high)
    while at > low and not (text[at - 1].isalpha() and text[at + 1].isalpha()):
        at = text.rfind(" ", low, at)
    return at if at > low else high
