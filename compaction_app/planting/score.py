"""How well planted facts are found, and found again: precision and recall by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from compaction_app.engine.retention.anchors import IDENTIFIERS, KINDS, Anchor, AnchorKind
from compaction_app.engine.retention.extract import Extractor
from compaction_app.engine.retention.places import place_of
from compaction_app.planting.forms import summaries_of
from compaction_app.planting.plant import Message, Part, Plant
from compaction_app.planting.planting import Planted, plant_in, plants

GOAL: Final = 0.95


@dataclass(slots=True)
class Score:
    """Right, wrong and missed; ``examples`` are the first that went wrong."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        found = self.right + self.wrong
        return self.right / found if found else 1.0

    @property
    def recall(self) -> float:
        planted = self.right + self.missed
        return self.right / planted if planted else 1.0

    @property
    def is_met(self) -> bool:
        return min(self.precision, self.recall) >= GOAL

    def note(self, what: str) -> None:
        if len(self.examples) < 40:
            self.examples.append(what)


@dataclass(frozen=True, slots=True)
class Calibration:
    """For each kind how it is found in messages (``extraction``) and in summaries (``matching``)."""

    extraction: Mapping[AnchorKind, Score]
    matching: Mapping[AnchorKind, Score]

    @property
    def is_met(self) -> bool:
        return all(s.is_met for scores in (self.extraction, self.matching) for s in scores.values())

    def to_json(self) -> dict[str, Any]:
        return {
            kind: {
                "extraction": _json(self.extraction[kind]),
                "matching": _json(self.matching[kind]),
            }
            for kind in KINDS
        }


def calibrate(
    transcripts: Sequence[Sequence[Message]], part: Part, seed: int, rounds: int
) -> Calibration:
    """Plant facts in each transcript and count what is found.

    Right is an anchor of the kind at the planted place. Wrong is one in a decoy of its kind, one of a
    kind of identifier that was not planted where an identifier was, and one in the transcript's own
    messages that was not there before.
    """
    extraction = {kind: Score() for kind in KINDS}
    matching = {kind: Score() for kind in KINDS}
    for number, messages in enumerate(transcripts):
        random = Random(f"{part} {seed} {number}")
        chosen = plants(part, seed + 1000 * number, rounds)
        planted = plant_in(messages, chosen, random)
        found = _anchors(planted.messages)
        for plant, place in planted.places:
            anchors = found[place : place + len(plant.messages)]
            _judge(plant, place, anchors, extraction)
            if plant.text is not None:
                _match(plant, place, anchors, random, matching)
        _judge_own(messages, planted, found, extraction)
    return Calibration(extraction, matching)


def _anchors(messages: Sequence[Message]) -> list[list[Anchor]]:
    """The anchors by the message they stand in."""
    extractor = Extractor()
    found: list[list[Anchor]] = [[] for _ in messages]
    for number, message in enumerate(messages):
        for anchor in extractor.add(number, message):
            found[anchor.entry].append(anchor)
    return found


def _judge(
    plant: Plant, place: int, found: Sequence[Sequence[Anchor]], scores: Mapping[AnchorKind, Score]
) -> None:
    score = scores[plant.kind]
    said = f"{plant.language}: {plant.messages[plant.at].get('content')!r}"[:300]
    here = [anchor for some in found for anchor in some]
    right = [anchor for anchor in here if plant.text is not None and _is_at(anchor, plant, place)]
    if plant.text is not None:
        if right:
            score.right += 1
        else:
            score.missed += 1
            score.note(f"missed {plant.text!r} in {said}")
    for anchor in here:
        is_rival = plant.text is not None and plant.kind in IDENTIFIERS and anchor.kind != "ask"
        if anchor not in right and (anchor.kind == plant.kind or is_rival):
            scores[anchor.kind].wrong += 1
            scores[anchor.kind].note(f"wrong {anchor.kind} {anchor.text!r} in {said}")


def _is_at(anchor: Anchor, plant: Plant, place: int) -> bool:
    """Whether an anchor is the planted fact: same kind and place; an identifier to the character."""
    if anchor.kind != plant.kind or (anchor.entry, anchor.block) != (place + plant.at, plant.block):
        return False
    if plant.kind in IDENTIFIERS:
        return (anchor.start, anchor.end) == (plant.start, plant.end)
    return anchor.start < plant.end and plant.start < anchor.end


def _match(
    plant: Plant,
    place: int,
    found: Sequence[Sequence[Anchor]],
    random: Random,
    scores: Mapping[AnchorKind, Score],
) -> None:
    anchor = next((a for some in found for a in some if _is_at(a, plant, place)), None)
    if anchor is None:
        return
    score = scores[plant.kind]
    for summary, stands in summaries_of(plant, random):
        form = place_of([summary]).form_of(anchor)
        if form and stands:
            score.right += 1
        elif form:
            score.wrong += 1
            score.note(f"{form} {anchor.text!r} in {summary!r}")
        elif stands:
            score.missed += 1
            score.note(f"not seen: {anchor.text!r} in {summary!r}")


def _judge_own(
    messages: Sequence[Message],
    planted: Planted,
    found: Sequence[Sequence[Anchor]],
    scores: Mapping[AnchorKind, Score],
) -> None:
    """What is found in the transcript's own messages must be what was found without any plants."""
    before = _anchors(messages)
    for number, some in zip(sorted(planted.own), before, strict=True):
        known = {(a.kind, a.block, a.start, a.end) for a in some}
        for anchor in found[number]:
            if (anchor.kind, anchor.block, anchor.start, anchor.end) not in known:
                scores[anchor.kind].wrong += 1
                scores[anchor.kind].note(f"wrong {anchor.kind} {anchor.text!r} in the transcript")


def _json(score: Score) -> dict[str, Any]:
    return {
        "precision": round(score.precision, 4), "recall": round(score.recall, 4),
        "right": score.right, "wrong": score.wrong, "missed": score.missed,
    }  # fmt: skip
