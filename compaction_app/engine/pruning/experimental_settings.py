"""The experimental constants as a form shows them: names, bounds, the version's own values, effects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from compaction_app.engine.pruning.experimental import ExperimentalConstants
from compaction_app.engine.rule_sets import RuleSet


@dataclass(frozen=True, slots=True)
class Constant:
    """One constant. ``key`` is its name in an address, ``own`` reads the version's value."""

    key: str
    name: str
    help: str
    unit: str
    low: float
    high: float
    step: float
    own: Callable[[RuleSet], float]

    def read(self, text: str) -> float:
        """The value of a text.

        Raises:
            ValueError: with what is taken instead.
        """
        message = f"{self.key}: {text!r} is no number from {self.low:g} to {self.high:g}."
        try:
            value = float(text)
        except ValueError:
            raise ValueError(message) from None
        if not self.low <= value <= self.high:
            raise ValueError(message)
        return int(value) if self.step >= 1 else value


CONSTANTS: Final = (
    Constant(
        "x.tailShare", "tail_share", "Part of a cut text that its important end gets.", "share",
        0, 1, 0.05, lambda rules: rules.pruning.truncation.tail_share,
    ),
    Constant(
        "x.tailMaxChars", "tail_max_chars", "Most characters of that end.", "chars",
        0, 50_000, 100, lambda rules: rules.pruning.truncation.tail_max_chars,
    ),
    Constant(
        "x.hardNewlineShare", "hard_newline_share",
        "How far into the kept head a line must end for a stored cut to move back to it.", "share",
        0, 1, 0.05, lambda rules: rules.pruning.truncation.head_newline_share,
    ),
    Constant(
        "x.softNewlineShare", "soft_newline_share", "The same for a cut in view.", "share",
        0, 1, 0.05, lambda rules: rules.pruning.guard.cut.newline_share,
    ),
    Constant(
        "x.singleShare", "single_share", "Part of the window that one result may fill.", "share",
        0, 1, 0.05, lambda rules: rules.pruning.guard.single_share,
    ),
    Constant(
        "x.headroomShare", "headroom_share", "Part of the window that the context may fill.",
        "share", 0, 1, 0.05, lambda rules: rules.pruning.guard.headroom_share,
    ),
    Constant(
        "x.imageChars", "image_chars", "What cache-TTL pruning takes an image to weigh.", "chars",
        0, 50_000, 500, lambda rules: rules.pruning.cache_ttl.chars.image_chars,
    ),
)  # fmt: skip


def read_constants(
    values: Mapping[str, str], rules: RuleSet
) -> tuple[ExperimentalConstants, Mapping[str, str]]:
    """The constants that an address sets to something else than the version does, and for each
    refused value why."""
    accepted: dict[str, float] = {}
    problems: dict[str, str] = {}
    for constant in CONSTANTS:
        text = values.get(constant.key, "").strip()
        if not text:
            continue
        try:
            value = constant.read(text[:40])
        except ValueError as error:
            problems[constant.key] = str(error)
            continue
        if value != constant.own(rules):
            accepted[constant.name] = value
    return ExperimentalConstants(**accepted), problems  # type: ignore[arg-type]


def changed_constants(constants: ExperimentalConstants) -> list[tuple[Constant, float]]:
    """The constants that are changed, with their values."""
    return [(c, value) for c in CONSTANTS if (value := getattr(constants, c.name)) is not None]
