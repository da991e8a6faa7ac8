"""What an earlier summary still has to say: it is taken apart, so that it can be distilled anew."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from compaction_app.engine.compaction.identifiers import identifiers_in_their_words
from compaction_app.engine.compaction.turns_section import PRESERVED_HEADING
from compaction_app.engine.wording.cues import Kind, kind_of_sentence
from compaction_app.engine.wording.sentences import Sentence, clipped, lines
from compaction_app.summarisers.extraction.findings import Findings

FAILED = "Failed: "
NOTHING = ("None.", "None captured.", "No prior history.")
"""What stands in an empty section; it is not carried on."""

MAX_IDENTIFIERS = 120
MAX_ITEM = 700
"""How much of an earlier summary is carried on: identifiers, and characters of one line."""

_WRAPPED = re.compile(
    r"\s*<previous-compaction-summary>\n[^\n]*\n\n(?P<summary>.*)\n</previous-compaction-summary>\s*\Z",
    re.DOTALL,
)
# The runtime writes these behind every summary again; carried on they would stand there twice.
_APPENDED = re.compile("<(read-files|modified-files|workspace-critical-rules)>\n")
_IDENTIFIERS = re.compile(
    r"^#+ Exact identifiers *$(?P<lines>.*?)(?=^#|^---$|\Z)", re.DOTALL | re.MULTILINE
)
_TURNS = re.compile(rf"{PRESERVED_HEADING}(?P<turns>.*?)(?=\n\n#|\n\n<|\Z)", re.DOTALL)
_ITEM = re.compile(r"^[ \t]*[-*][ \t]+(?P<text>.+?)[ \t]*$", re.MULTILINE)
_SPOKEN: tuple[tuple[str, Kind], ...] = (("User: ", "asks"), ("Assistant: ", "done"))


def summary_in_message(text: str) -> str | None:
    """The earlier summary that a message hands on to be distilled anew; none for any other message."""
    match = _WRAPPED.match(text)
    return match["summary"] if match else None


def carry_on(summary: str, found: Findings) -> None:
    """Add what a summary says; it is older than whatever is added later."""
    text = _TURNS.sub("", _IDENTIFIERS.sub("", _without_appended(summary)))
    said = list(lines(text))
    identifiers = list(_listed_identifiers(summary)) or list(_named_identifiers(said))
    found.identifiers.insert(0, identifiers[:MAX_IDENTIFIERS])
    for line in reversed(said):
        words = clipped(line.text, MAX_ITEM)
        if words and words not in NOTHING:
            kind, quote = _kind(words, line.kind)
            found.of(kind).add(quote)
    for part in _TURNS.finditer(summary):
        for line in lines(part["turns"]):
            _add_spoken(line.text, found)


def _without_appended(summary: str) -> str:
    kept, end = [], 0
    unclosed: set[str] = set()
    for opening in _APPENDED.finditer(summary):
        tag = opening[1]
        if opening.start() < end or tag in unclosed:
            continue
        closing = summary.find(f"</{tag}>", opening.end())
        if closing < 0:
            unclosed.add(tag)
        else:
            kept.append(summary[end : opening.start()])
            end = closing + len(f"</{tag}>")
    return "".join((*kept, summary[end:]))


def _listed_identifiers(summary: str) -> Iterator[str]:
    for part in _IDENTIFIERS.finditer(summary):
        items = (match["text"] for match in _ITEM.finditer(part["lines"]))
        yield from (item for item in items if item not in NOTHING)


def _named_identifiers(said: Sequence[Sentence]) -> Iterator[str]:
    """Those in the sentences of a summary that has no section for them."""
    for line in said:
        yield from identifiers_in_their_words(line.text).values()


def _add_spoken(line: str, found: Findings) -> None:
    """A line of the turns that were kept word for word."""
    for label, kind in _SPOKEN:
        if line.startswith(label):
            found.of(kind).add(clipped(line.removeprefix(label), MAX_ITEM))


def _kind(text: str, told: Kind | None) -> tuple[Kind, str]:
    if text.startswith(FAILED):
        return "failures", text.removeprefix(FAILED)
    return told or kind_of_sentence(text, from_user=False) or "context", text
