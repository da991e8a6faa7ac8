"""Plants facts in real transcripts: one in a message, at a place that is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from compaction_app.engine.retention.anchors import AnchorKind
from compaction_app.planting.actions import action_plants, named
from compaction_app.planting.identifiers import CHINESE_QUANTITIES, FULL_WIDTH, MAKERS
from compaction_app.planting.plant import Message, Part, Plant, answered, spoken
from compaction_app.planting.wordings import Wordings, wordings_of

NEUTRAL: Final[Mapping[str, tuple[str, ...]]] = {
    "en": ("Thanks, that helps.", "Good morning.", "That looks fine to me.", "I see.", ""),
    "zh": ("好的，谢谢。", "早上好。", "看起来没问题。", ""),
}


def plants(part: Part, seed: int, rounds: int) -> list[Plant]:
    """Facts and decoys of every kind in a random order that the seed decides."""
    random, wordings = Random(f"{part} {seed}"), wordings_of(part)
    found: list[Plant] = []
    for _ in range(rounds):
        found += _statement_plants(wordings, random)
        found += _identifier_plants(wordings, random)
        found += action_plants(wordings, random)
    random.shuffle(found)
    return found


def _statement_plants(wordings: Wordings, random: Random) -> Iterator[Plant]:
    for kind, (facts, decoys) in wordings.statements.items():
        for language, said in facts.items():
            for wording in said:
                yield _spoken(kind, language, named(wording, random), random)
            for wording in decoys[language]:
                plant = _spoken(kind, language, named(wording, random), random)
                yield Plant(kind, language, plant.messages, None)


def _spoken(kind: AnchorKind, language: str, fact: str, random: Random) -> Plant:
    role = "user" if kind == "constraint" else random.choice(("user", "assistant"))
    before, behind = (random.choice(NEUTRAL[language]) for _ in range(2))
    joint = "\n" if fact.startswith(("- ", "| ")) else " "
    head = f"{before}{joint}" if before else ""
    text = f"{head}{fact}{joint}{behind}" if behind else f"{head}{fact}"
    return Plant(
        kind, language, (spoken(role, text),), fact, 0, 0, len(head), len(head) + len(fact)
    )


def _identifier_plants(wordings: Wordings, random: Random) -> Iterator[Plant]:
    for kind, make in MAKERS.items():
        for language, frames in wordings.frames.items():
            for frame in frames:
                yield _named(
                    kind, language, frame, _value(kind, language, make(random), random), random
                )
        for decoy in wordings.decoys[kind]:
            for language in ("en", "zh"):
                frame = random.choice(wordings.frames[language])
                text = frame.replace("{x}", decoy)
                yield Plant(
                    kind, language, (spoken(random.choice(("user", "assistant")), text),), None
                )


def _value(kind: AnchorKind, language: str, made: str, random: Random) -> str:
    if language == "zh" and kind in FULL_WIDTH and random.random() < 0.3:
        return random.choice(FULL_WIDTH[kind])
    if language == "zh" and kind == "quantity":
        return random.choice(CHINESE_QUANTITIES).replace("{n}", str(random.randint(2, 900)))
    return made


def _named(kind: AnchorKind, language: str, frame: str, value: str, random: Random) -> Plant:
    frame = frame.replace("{{", "{").replace("}}", "}") if language == "code" else frame
    start = frame.index("{x}")
    text = frame.replace("{x}", value)
    if language == "code":
        message = answered("exec", text, f"planted-{random.random()}")
    else:
        message = spoken(random.choice(("user", "assistant")), text)
    return Plant(kind, language, (message,), value, 0, 0, start, start + len(value))


@dataclass(frozen=True, slots=True)
class Planted:
    """A transcript with plants in it: ``places`` are the numbers of each plant's messages."""

    messages: tuple[Message, ...]
    places: tuple[tuple[Plant, int], ...]
    own: frozenset[int]


def plant_in(messages: Sequence[Message], chosen: Sequence[Plant], random: Random) -> Planted:
    """The messages with all plants among them; ``own`` are the numbers of those that were there."""
    cuts = sorted(random.choice(_joints(messages)) for _ in chosen)
    mixed: list[Message] = []
    places: list[tuple[Plant, int]] = []
    own: set[int] = set()
    waiting = list(zip(cuts, chosen, strict=True))
    for number in range(len(messages) + 1):
        while waiting and waiting[0][0] == number:
            plant = waiting.pop(0)[1]
            places.append((plant, len(mixed)))
            mixed += plant.messages
        if number < len(messages):
            own.add(len(mixed))
            mixed.append(messages[number])
    return Planted(tuple(mixed), tuple(places), frozenset(own))


def _joints(messages: Sequence[Message]) -> list[int]:
    """Where a message can be put in: not between calls and their results."""
    return [
        number
        for number in range(len(messages) + 1)
        if number == len(messages) or messages[number].get("role") != "toolResult"
    ]
