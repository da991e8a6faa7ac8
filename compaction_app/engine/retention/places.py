"""Where an anchor can survive, and whether it stands there: as it was, in another form, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import Final, Literal

from compaction_app.engine.compaction.stop_words import is_stop_word
from compaction_app.engine.retention.anchors import IDENTIFIERS, Anchor, AnchorKind
from compaction_app.engine.retention.identifiers import identifiers, plain_form
from compaction_app.engine.retention.keys import key_of_identifier, parts_of_path
from compaction_app.engine.wording.sentences import key_of, lines, sentences

Form = Literal["exact", "normalised", ""]

TELLING_SHARE: Final = 0.9
"""This share of a sentence's telling words has to stand in one sentence of the place."""

LEAST_KEY: Final = 8
"""Fewer letters and digits are no sentence that could be recognised in a longer text."""

LEAST_HASH: Final = 7
"""A hash is known by so many of its first digits."""

_WORD = re.compile(
    r"[A-Za-z0-9_]+(?:[./:@#+-]+[A-Za-z0-9_]+)*|[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+"
)
_NEGATION = re.compile(
    r"\b(?:not|never|no|nothing|nobody|without|avoid|forbidden|prohibited|cannot|refrain|leave|hands off|stay away)\b|n't\b"
    r"|不|别|勿|禁|严禁|没有|未经",
    re.IGNORECASE,
)
_ENDINGS = ("ing", "ed", "es", "s")
_SPACES = re.compile(r"\s+")


@dataclass
class Place:
    """What stands in one place: the summary, the kept tail, the memory files or the workspace files.

    Identifiers are known by what the same rules find in it; those that only its words around make one
    (``16.2`` behind "Postgres") also where the very text stands.
    """

    texts: set[tuple[AnchorKind, str]] = field(default_factory=set)
    keys: set[tuple[AnchorKind, str]] = field(default_factory=set)
    _raw: list[str] = field(default_factory=list)
    _paths: dict[str, set[tuple[str, ...]]] = field(default_factory=dict)
    _hashes: dict[str, set[str]] = field(default_factory=dict)
    _sentences: list[tuple[frozenset[str], bool]] = field(default_factory=list)
    _with_word: dict[str, list[int]] = field(default_factory=dict)
    _letters: list[str] = field(default_factory=list)
    _flat: list[str] = field(default_factory=list)

    def add_anchors(self, anchors: Iterable[Anchor]) -> None:
        """What was found in messages that stand in this place."""
        for anchor in anchors:
            if anchor.kind in IDENTIFIERS:
                self._add_identifier(anchor.kind, anchor.text, anchor.key)
            else:
                self.texts.add((anchor.kind, anchor.text))
                self.keys.add((anchor.kind, anchor.key))
                if anchor.kind == "file_action":
                    self._add_identifier("path", anchor.text, anchor.key.partition(" ")[2])

    def add_text(self, text: str) -> None:
        """A text that stands in this place as a whole."""
        for start, end, kind in identifiers(text):
            self._add_identifier(kind, text[start:end], key_of_identifier(kind, text[start:end]))
        self._raw.append(text)
        self.add_words(text)

    def add_words(self, text: str) -> None:
        """The sentences of a text, without its identifiers."""
        self._letters.append(key_of(text))
        self._flat.append(_SPACES.sub(" ", text))
        for said in (*(s.text for s in sentences(text)), *(s.text for s in lines(text))):
            words = telling_words(said)
            if words:
                for word in words:
                    self._with_word.setdefault(word, []).append(len(self._sentences))
                self._sentences.append((words, _is_negative(said)))

    def form_of(self, anchor: Anchor) -> Form:
        """Whether an anchor stands here."""
        if (anchor.kind, anchor.text) in self.texts:
            return "exact"
        if (anchor.kind, anchor.key) in self.keys:
            return "normalised"
        if anchor.kind == "file_action":
            return self._form_of_name("path", anchor.text, anchor.key.partition(" ")[2])
        if anchor.kind in IDENTIFIERS:
            return self._form_of_name(anchor.kind, anchor.text, anchor.key)
        return self._form_of_sentence(anchor)

    def _add_identifier(self, kind: AnchorKind, text: str, key: str) -> None:
        self.texts.add((kind, text))
        self.keys.add((kind, key))
        if kind == "path" and key:
            parts = tuple(key.split("/"))
            self._paths.setdefault(parts[-1], set()).add(parts)
        elif kind == "hash":
            self._hashes.setdefault(key[:LEAST_HASH], set()).add(key)

    def _form_of_name(self, kind: AnchorKind, text: str, key: str) -> Form:
        if (kind, text) in self.texts or any(_stands_in(text, raw) for raw in self._raw):
            return "exact"
        if (kind, key) in self.keys:
            return "normalised"
        is_same = kind == "path" and self._has_path(parts_of_path(plain_form(text)))
        is_same = is_same or (kind == "hash" and self._has_hash(key))
        return "normalised" if is_same else ""

    def _has_path(self, parts: list[str]) -> bool:
        """Whether a path is named here that is the end of this one, or this one the end of it."""
        for other in self._paths.get(parts[-1] if parts else "", ()):
            shared = min(len(other), len(parts))
            if tuple(parts[-shared:]) == other[-shared:]:
                return True
        return False

    def _has_hash(self, key: str) -> bool:
        known = self._hashes.get(key[:LEAST_HASH], ())
        return any(key.startswith(other) or other.startswith(key) for other in known)

    def _form_of_sentence(self, anchor: Anchor) -> Form:
        if len(anchor.key) >= LEAST_KEY:
            flat = _SPACES.sub(" ", anchor.text).rstrip(" .。!！…")
            if flat and any(flat in text for text in self._flat):
                return "exact"
            if any(anchor.key in letters for letters in self._letters):
                return "normalised"
        words = telling_words(anchor.text)
        if len(words) < 2:
            return ""
        needed, names = ceil(TELLING_SHARE * len(words)), _names(words)
        for count, there in self._sentences_with(words, anchor):
            if count >= needed and names <= there:
                return "normalised"
        return ""

    def resembles(self, anchor: Anchor) -> bool:
        """Whether a sentence here speaks of the same in other words: it shares a name, or half the words."""
        words = telling_words(anchor.text)
        names = _names(words)
        return any(
            names & there or (count >= 2 and 2 * count >= len(words))
            for count, there in self._sentences_with(words, anchor)
        )

    def _sentences_with(
        self, words: frozenset[str], anchor: Anchor
    ) -> Iterator[tuple[int, frozenset[str]]]:
        """How many of the words stand in each sentence, and the words of that sentence.

        A demand turned into its contrary is none of them.
        """
        counts: dict[int, int] = {}
        for word in words:
            for number in self._with_word.get(word, ()):
                counts[number] = counts.get(number, 0) + 1
        negative = _is_negative(anchor.text)
        for number, count in counts.items():
            there, there_negative = self._sentences[number]
            if anchor.kind != "constraint" or there_negative == negative:
                yield count, there


def place_of(texts: Iterable[str]) -> Place:
    """The place that consists of these texts."""
    place = Place()
    for text in texts:
        place.add_text(text)
    return place


def telling_words(text: str) -> frozenset[str]:
    """The words of a sentence that carry its meaning, without their endings."""
    found = _WORD.findall(plain_form(text).casefold())
    return frozenset(_stem(word) for word in found if not is_stop_word(word) and word not in _CUES)


def _names(words: frozenset[str]) -> set[str]:
    """Words that name something: with digits or signs, in a Chinese sentence also those of Latin letters."""
    is_chinese = any("\u4e00" <= word <= "\u9fff" for word in words)
    return {word for word in words if not word.isalpha() or (is_chinese and word.isascii())}


def _stem(word: str) -> str:
    if word.isalpha() and word.isascii() and len(word) > 4:
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                return word[: -len(ending)]
    return word


_CUES: Final = frozenset(
    [
        "never",
        "always",
        "do",
        "not",
        "don't",
        "don",
        "t",
        "must",
        "mustn",
        "only",
        "use",
        "used",
        "using",
        "make",
        "sure",
        "ensure",
        "until",
        "unless",
        "without",
        "say",
        "may",
        "ever",
        "no",
        "any",
        "all",
        "every",
        "so",
        "ok",
        "also",
        "there",
        "here",
        "its",
        "it's",
        "s",
        "ll",
        "ve",
        "re",
        "m",
        "的",
        "了",
        "在",
        "是",
        "要",
        "不",
        "我",
        "你",
        "把",
        "和",
        "与",
        "都",
        "就",
        "也",
        "会",
        "请",
        "再",
        "个",
        "这",
        "那",
        "能",
        "得",
        "可",
        "以",
    ]
)


def _is_negative(text: str) -> bool:
    return _NEGATION.search(text) is not None


def _stands_in(text: str, raw: str) -> bool:
    """Whether the very text stands there, and is no part of a longer name."""
    at = raw.find(text)
    while at >= 0:
        before, behind = raw[at - 1 : at], raw[at + len(text) : at + len(text) + 2]
        if not _clings(before) and not _goes_on(behind):
            return True
        at = raw.find(text, at + 1)
    return False


def _clings(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character in "._/-") and character != ""


def _goes_on(behind: str) -> bool:
    first, second = behind[:1], behind[1:2]
    if first and first.isascii() and (first.isalnum() or first in "_-/"):
        return True
    return first in (".", ":", ",") and second.isascii() and second.isalnum()
