"""Which words of a text carry its meaning, also where a script writes no spaces (spec compaction 3.3)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from compaction_app.engine.compaction.stop_words import KO, KOREAN_PARTICLES, is_stop_word
from sessions_app.tokens import javascript as js

_KANA = re.compile("[\u3040-\u30ff]")
_IDEOGRAPH = re.compile("[\u4e00-\u9fff]")
_HANGUL = re.compile("[\uac00-\ud7af\u3131-\u3163]")
_HANGUL_SYLLABLE = re.compile("[\uac00-\ud7af]")
_JAPANESE_PIECE = re.compile("[a-z0-9_]+|[\u30a0-\u30ffー]+|[\u4e00-\u9fff]+|[\u3040-\u309f]{2,}")
_ASCII_WORD = re.compile("[a-z0-9_]+", re.IGNORECASE | re.ASCII)
_SHORT_ASCII = re.compile("[a-zA-Z]{1,2}")
_DIGITS = re.compile("[0-9]+")


def keywords(text: str) -> list[str]:
    """The distinct meaningful words of a text, in order: no stop words, numbers or signs."""
    return list(dict.fromkeys(token for token in _pieces(text) if _is_keyword(token)))


def words(text: str) -> list[str]:
    """Everything between characters that are neither letters nor numbers, repetitions included."""
    return _split(text, lambda c: unicodedata.category(c)[0] not in "LN")


def _pieces(text: str) -> Iterator[str]:
    for segment in _split(js.trim(text.lower()), _is_separator):
        if _KANA.search(segment):
            yield from _japanese(segment)
        elif _IDEOGRAPH.search(segment):
            ideographs = _IDEOGRAPH.findall(segment)
            yield from ideographs
            yield from _bigrams(ideographs)
        elif _HANGUL.search(segment):
            yield from _korean(segment)
        else:
            yield segment


def _split(text: str, separates: Callable[[str], bool]) -> list[str]:
    return "".join(" " if separates(c) else c for c in text).split()


def _is_separator(character: str) -> bool:
    return character in js.SPACE or unicodedata.category(character)[0] == "P"


def _bigrams(characters: Sequence[str]) -> Iterator[str]:
    return (first + second for first, second in pairwise(characters))


def _japanese(segment: str) -> Iterator[str]:
    for piece in _JAPANESE_PIECE.findall(segment):
        yield piece
        if _IDEOGRAPH.match(piece):
            yield from _bigrams(piece)


def _korean(segment: str) -> Iterator[str]:
    stem = _korean_stem(segment)
    if segment not in KO and stem not in KO:
        yield segment
    if stem is not None and _is_useful_stem(stem):
        yield stem


def _korean_stem(word: str) -> str | None:
    """The word without one trailing particle; none when it ends with no particle."""
    for particle in KOREAN_PARTICLES:
        if len(word) > len(particle) and word.endswith(particle):
            return word.removesuffix(particle)
    return None


def _is_useful_stem(stem: str) -> bool:
    if _HANGUL_SYLLABLE.search(stem):
        return js.utf16_len(stem) >= 2
    return _ASCII_WORD.fullmatch(stem) is not None


def _is_keyword(token: str) -> bool:
    if is_stop_word(token) or _SHORT_ASCII.fullmatch(token) or _DIGITS.fullmatch(token):
        return False
    return any(unicodedata.category(c)[0] not in "PS" for c in token)
