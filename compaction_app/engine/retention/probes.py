"""Questions made from anchors: asked of a model that sees only what a compaction left, and judged by the anchor.

The anchor is taken out of what stood around it, and out of what stands around the others, so that no
question tells another one's answer. The same compaction always gives the same questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, pstdev
from typing import Any, Final

from compaction_app.engine.retention.anchors import (
    IDENTIFIERS,
    KINDS,
    TITLES,
    Anchor,
    AnchorKind,
)
from compaction_app.engine.retention.extract import texts_of_message
from compaction_app.engine.retention.fates import Fate
from compaction_app.engine.retention.places import place_of, telling_words

MOST_QUESTIONS: Final = 20
AROUND: Final = 90
"""Characters that are quoted on each side of an anchor."""
LEAST_AROUND: Final = 3
"""So many words have to stand around an anchor; less is no question."""
ASKED: Final = "[?]"
"""What is asked for."""
BLANK: Final = "____"
"""What other questions ask for; more than one of them leaves it open which name is meant."""
MOST_BLANKS: Final = 1
MAX_ANSWER: Final = 400
_ASKED: Final = frozenset({"constraint", "decision", "promise"}) | IDENTIFIERS
_LINE: Final = re.compile(r"\s*\**\(?([0-9]{1,3})[.):]\**\s*(.*)")
_WORDS: Final = re.compile(r"\w+")
_SPACES: Final = re.compile(r"\s+")

TextOf = Callable[[int], Mapping[str, Any]]
"""The message of an entry."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the anchor that is the answer."""

    fate: Fate
    text: str


@dataclass(frozen=True, slots=True)
class Recall:
    """How much was recalled: the share in each replicate, from 0 to 1."""

    questions: int
    shares: tuple[float, ...]

    @property
    def mean(self) -> float:
        return mean(self.shares)

    @property
    def spread(self) -> float:
        """Standard deviation over the replicates."""
        return pstdev(self.shares)


def questions_of(
    fates: Sequence[Fate], message_of: TextOf, most: int = MOST_QUESTIONS
) -> list[Question]:
    """Up to ``most`` questions, kind after kind in turn, each kind's from all parts of what was removed."""
    asked = [f for f in fates if f.anchor.kind in _ASKED and f.anchor.voice != "tool"]
    said = [f.anchor for f in asked if f.anchor.kind not in IDENTIFIERS]
    asked = [f for f in asked if f.anchor in said or not any(_holds(s, f.anchor) for s in said)]
    hidden = sorted({f.anchor.text for f in asked}, key=len, reverse=True)
    by_kind = [_spread([f for f in asked if f.anchor.kind == kind]) for kind in KINDS]
    found: list[Question] = []
    for fate in _in_turn(by_kind):
        if len(found) == most:
            break
        text = _question(fate, message_of(fate.anchor.entry), hidden)
        if text:
            found.append(Question(fate, text))
    return found


def prompt_of(summary: str, tail: str, questions: Sequence[Question]) -> str:
    """What the model is asked: the summary, the messages that stayed, and the questions by number."""
    listed = "\n".join(f"{number}. {q.text}" for number, q in enumerate(questions, 1))
    return (
        f"<summary>\n{summary}\n</summary>\n\n<conversation>\n{tail}\n</conversation>\n\n"
        "Above is everything that is known of a conversation: a summary of its beginning, and its end "
        "word for word. Answer the questions from it alone, one line for each, as "
        "`number. answer`. Give names and numbers exactly as they stand there. Where it does not say, "
        f"answer `number. unknown`; do not guess.\n\n{listed}"
    )


def recalled(questions: Sequence[Question], answer: str) -> list[bool]:
    """For each question whether its line of the answer holds the anchor, as it was or in another form."""
    lines = dict(_lines(answer))
    return [
        bool(place_of([lines[number]]).form_of(q.fate.anchor)) if number in lines else False
        for number, q in enumerate(questions, 1)
    ]


def recall_of(
    questions: Sequence[Question], replicates: Sequence[Sequence[bool]]
) -> dict[str, Recall]:
    """The recall of all, of what a search finds and does not find, and of each kind; only what was asked."""
    groups: dict[str, list[int]] = {"all": list(range(len(questions)))}
    for number, question in enumerate(questions):
        where = "still in the context by search" if not question.fate.is_lost else "lost by search"
        groups.setdefault(where, []).append(number)
        groups.setdefault(TITLES[question.fate.anchor.kind], []).append(number)
    return {
        name: Recall(
            len(numbers),
            tuple(mean(float(done[n]) for n in numbers) for done in replicates),
        )
        for name, numbers in groups.items()
        if numbers
    }


def _holds(sentence: Anchor, name: Anchor) -> bool:
    """Whether a name stands inside a sentence that is asked for itself: around it stands the answer."""
    return (sentence.entry, sentence.block) == (name.entry, name.block) and (
        sentence.start <= name.start < sentence.end
    )


def _question(fate: Fate, message: Mapping[str, Any], hidden: Iterable[str]) -> str:
    """The question, "" where too little stands around the anchor to ask for it."""
    anchor = fate.anchor
    text = dict(texts_of_message(message)).get(anchor.block, "")
    if anchor.kind not in IDENTIFIERS:
        return _of_sentence(anchor.kind, anchor.text, hidden)
    if text[anchor.start : anchor.end] != anchor.text:
        return ""
    # Hidden first and cut afterwards: the end of a sentence that is cut in two would still tell it.
    before = _without(text[: anchor.start], hidden)[-AROUND:]
    behind = _without(text[anchor.end :], hidden)[:AROUND]
    around = _SPACES.sub(" ", f"{before}{ASKED}{behind}").strip()
    if len(_WORDS.findall(around.replace("_", " "))) < LEAST_AROUND:
        return ""
    if around.count(BLANK) > MOST_BLANKS:
        return ""
    one = {"path": "path", "url": "address", "host_port": "host", "quantity": "quantity"}
    return f"Which {one.get(anchor.kind, anchor.kind)} stood at {ASKED} in “{around}”?"


def _of_sentence(kind: AnchorKind, said: str, hidden: Iterable[str]) -> str:
    """Asked for by its first telling words: what is missing has to come from the context."""
    words = [w for w in _WORDS.findall(said) if telling_words(w)]
    named = "\n".join(name for name in hidden if name != said and name in said)
    free = [word for word in words if word not in named]
    if len(words) < LEAST_AROUND or not free:
        return ""
    about = max(free, key=len)
    what = {
        "constraint": "What exactly did the user demand or forbid concerning",
        "decision": "What exactly was decided concerning",
        "promise": "What exactly was left to do, or promised, concerning",
    }[kind]
    return f"{what} “{about}”? Quote it."


def _without(text: str, hidden: Iterable[str]) -> str:
    for name in hidden:
        if name in text:
            text = text.replace(name, BLANK)
    return text


def _spread(fates: Sequence[Fate]) -> list[Fate]:
    """First, last, middle, then what is between: so that a few come from everywhere."""
    left = sorted(fates, key=lambda f: (f.anchor.entry, f.anchor.start))
    order: list[Fate] = []
    spans = [(0, len(left))]
    while spans:
        start, end = spans.pop(0)
        if start < end:
            middle = (start + end) // 2
            order.append(left[middle])
            spans += [(start, middle), (middle + 1, end)]
    return order


def _in_turn(groups: Sequence[Sequence[Fate]]) -> Iterator[Fate]:
    for place in range(max(map(len, groups), default=0)):
        for group in groups:
            if place < len(group):
                yield group[place]


def _lines(answer: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of an answer; one that has no number goes on with the one before."""
    number, said = 0, ""
    for line in answer.splitlines():
        match = _LINE.match(line)
        if match is None:
            said = f"{said} {line.strip()}"
            continue
        if number:
            yield number, said[:MAX_ANSWER]
        number, said = int(match[1]), match[2]
    if number:
        yield number, said[:MAX_ANSWER]
