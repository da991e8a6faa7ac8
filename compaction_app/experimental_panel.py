"""The group of the tuning panel whose constants are not the runtime's."""

from __future__ import annotations

from dataclasses import dataclass

from compaction_app.engine.pruning.experimental_settings import (
    CONSTANTS,
    Constant,
    changed_constants,
)
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.forms import Query, base_rules, query_of
from compaction_app.runs import Situation
from compaction_app.tried_cuts import notes_on_constants


@dataclass(frozen=True, slots=True)
class ConstantKnob:
    """A constant in the panel; ``text`` is "" while it is the version's own."""

    constant: Constant
    own: str
    text: str
    note: str
    problem: str

    @property
    def name(self) -> str:
        """Its name in ids."""
        return f"x-{self.constant.name}"

    @property
    def label(self) -> str:
        return self.constant.key.removeprefix("x.")


@dataclass(frozen=True, slots=True)
class Experiment:
    """What the page says while constants are changed."""

    changes: tuple[str, ...]
    back_query: str


def constant_knobs(situation: Situation, query: Query) -> list[ConstantKnob]:
    """One for each constant, with what it is in the rule set in force."""
    rules = RULE_SETS.get(base_rules(query.around), query.around.rules)
    notes = notes_on_constants(situation, query)
    changed = {c.key: value for c, value in changed_constants(query.around.constants)}
    return [
        ConstantKnob(
            constant=c,
            own=f"{c.own(rules):g}",
            text=f"{changed[c.key]:g}" if c.key in changed else "",
            note=notes.get(c.key, ""),
            problem=query.problems.get(c.key, ""),
        )
        for c in CONSTANTS
    ]


def experiment_of(situation: Situation, query: Query) -> Experiment | None:
    """What is changed, and the address without it; none while every constant is the version's."""
    changed = changed_constants(query.around.constants)
    if not changed:
        return None
    rules = RULE_SETS.get(base_rules(query.around), query.around.rules)
    changes = (
        f"{c.key.removeprefix('x.')} {value:g} instead of {c.own(rules):g}" for c, value in changed
    )
    without = {c.key: None for c in CONSTANTS}
    return Experiment(tuple(changes), query_of(query, situation, **without))
