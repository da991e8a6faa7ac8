"""What is judged, and the few measures of it that several findings share.

A subject is a configuration with or without a session. What is measured is measured once, in one pass
over the columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np

from compaction_app.engine.calibration import (
    LEAST_CALLS,
    LEAST_GROWTH_TOKENS,
    Calibration,
    weigh,
)
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.lines import Lines
from compaction_app.engine.policy import SETTINGS, Policy
from compaction_app.engine.policy_config import policy_from_config
from compaction_app.engine.retention.losses import Loss
from compaction_app.engine.stripped import stripped_rows
from sessions_app.tokens import javascript as js
from sessions_app.tokens.pressure import MESSAGE_OVERHEAD
from sessions_app.transcripts.columns import COMPACTION, MARKS, UNKNOWN, USER, Ints
from sessions_app.transcripts.session_index import fresh_total_tokens
from sessions_app.transcripts.signs import Signs
from sessions_app.transcripts.timeline import Timeline

CHARS_PER_TOKEN: Final = 4
_PERSON_MARKS: Final = np.array([mark in ("", "compact_command", "copy") for mark in MARKS])


@dataclass(frozen=True, slots=True)
class Conversion:
    """From the pre-prompt check's estimate to billed tokens: ``billed = density * estimate + overhead``.

    ``measured`` is false without at least five billed calls: then one estimated token counts as one.
    """

    density: float = 1.0
    overhead: float = 0.0
    measured: bool = False

    def billed(self, estimate: float, system: float) -> float:
        """Billed tokens of a prompt whose estimate, system prompt included, is ``estimate``."""
        return self.density * max(estimate - system, 0) + max(self.overhead, 0.0)


@dataclass(frozen=True)
class Subject:
    """A policy in its circumstances, and the session it is judged on where there is one.

    ``grown`` is none when no transcript was looked at, ``entry`` none without an index entry.
    ``has_config`` says whether the settings are known: without a configuration and an index entry
    they are the defaults, which nobody chose, and are not judged. ``losses`` are the recorded compactions
    with what each lost.
    """

    policy: Policy
    around: Circumstances
    lines: Lines
    grown: Timeline | None = None
    signs: Signs = field(default_factory=Signs)
    entry: Mapping[str, Any] | None = None
    has_config: bool = True
    losses: tuple[Loss, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether anything says how this session is configured."""
        return self.has_config or self.entry is not None

    @cached_property
    def explicit(self) -> frozenset[str]:
        """The settings that are set on purpose: in the file, or in a what-if."""
        read = policy_from_config(
            self.around.config,
            self.around.provider,
            self.around.model,
            self.around.rules.materialize.snapshot_mode,
        )
        default = Policy()
        return frozenset(
            setting.key
            for setting in SETTINGS
            if (value := getattr(self.policy, setting.name)) != getattr(default, setting.name)
            or (setting.key in read.explicit and value == getattr(read.policy, setting.name))
        )

    @cached_property
    def report(self) -> Mapping[str, Any]:
        """The runtime's own report on the system prompt, empty without one."""
        found = (self.entry or {}).get("systemPromptReport")
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def calibration(self) -> Calibration:
        if self.grown is None:
            return Calibration(1, 1, 1, 0, 0, enough=False)
        return weigh(self.grown).calibration

    @cached_property
    def billed(self) -> Ints:
        """The calls that the provider reported usage of; those of flush turns have another prompt."""
        if self.grown is None:
            return np.empty(0, np.int64)
        is_own = ~stripped_rows(self.grown.columns)[self.grown.place]
        return np.flatnonzero((self.grown.billed_prompt != UNKNOWN) & is_own)

    def billed_between(self, first: int, end: int) -> list[int]:
        """The billed calls from ``first`` up to ``end``."""
        start, stop = np.searchsorted(self.billed, (first, end))
        return [int(call) for call in self.billed[start:stop]]

    @cached_property
    def is_person(self) -> Ints:
        """For each row of the branch 1 where a person sent it."""
        assert self.grown is not None
        rows = self.grown.columns
        return np.asarray((rows.kind == USER) & _PERSON_MARKS[rows.mark], np.int64)

    @cached_property
    def pressure(self) -> Ints:
        """For each call the pre-prompt estimate of its history, before the safety margin."""
        assert self.grown is not None
        grown, rows = self.grown, self.grown.columns
        sums = np.concatenate(([0], np.cumsum(np.where(rows.kind == COMPACTION, 0, rows.pressure))))
        last = np.searchsorted(grown.compactions.place, grown.place) - 1
        if not len(grown.compactions.place):
            return np.asarray(sums[grown.place], np.int64)
        start = np.where(last >= 0, grown.compactions.kept[last], 0)
        base = np.where(last >= 0, rows.pressure[grown.compactions.place[last]], 0)
        return np.asarray(base + sums[grown.place] - sums[start], np.int64)

    @cached_property
    def conversion(self) -> Conversion:
        """Measured on this session's billed calls, like with like: growth against growth."""
        if self.grown is None or len(self.billed) < LEAST_CALLS:
            return Conversion()
        prompts = self.grown.billed_prompt[self.billed].astype(np.float64)
        pressure = self.pressure[self.billed].astype(np.float64)
        cycle = np.searchsorted(self.grown.compactions.before_call, self.billed, side="right")
        growth, estimate = np.diff(prompts), np.diff(pressure)
        telling = (np.diff(cycle) == 0) & (growth >= 0) & (estimate >= LEAST_GROWTH_TOKENS)
        if telling.sum() < LEAST_CALLS - 1:
            return Conversion()
        density = float(np.median(growth[telling] / estimate[telling]))
        overhead = float(np.median(prompts - density * pressure))
        return Conversion(density, max(overhead, 0.0), measured=True)

    @cached_property
    def system_pressure(self) -> float:
        """What the pre-prompt check counts for the system prompt; the overhead stands in for it."""
        chars = _number(_at(self.report, "systemPrompt", "chars"))
        if chars:
            return MESSAGE_OVERHEAD + chars / CHARS_PER_TOKEN
        return self.conversion.overhead

    @cached_property
    def rest_total(self) -> int | None:
        """The billed prompt at rest: the stored total where it is fresh, else the last call's."""
        stored = fresh_total_tokens(self.entry) if self.entry else None
        if stored is not None and self.summed_total is None:
            return int(stored)
        if self.grown is not None and len(self.billed):
            return int(self.grown.billed_prompt[self.billed[-1]])
        return None

    @cached_property
    def summed_total(self) -> int | None:
        """The stored total where it is no context but the sum of several calls, else none."""
        total = (self.entry or {}).get("totalTokens")
        if not js.is_finite(total) or total <= 0:
            return None
        if self.lines.window and total > self.lines.window and self.is_known:
            return None if self._was_last_call(float(total)) else int(total)
        return int(total) if self._is_sum(float(total)) else None

    def _was_last_call(self, total: float) -> bool:
        """Whether one call alone was that large, within a fiftieth: then the window is wrong."""
        if self.grown is None or not len(self.billed):
            return False
        return abs(int(self.grown.billed_prompt[self.billed[-1]]) - total) <= total / 50

    def _is_sum(self, total: float) -> bool:
        """Whether the total is the prompts of the last turn added up, within a fiftieth."""
        if self.grown is None or len(self.billed) < 2:
            return False
        turns = self.grown.turn[self.billed]
        last = self.billed[turns == turns[-1]]
        prompts = self.grown.billed_prompt[last]
        outputs = self.grown.output[last]
        sums = (prompts.sum(), prompts.sum() + outputs.sum())
        near = any(abs(total - added) <= added / 50 for added in sums)
        return len(last) >= 2 and near and total > 1.2 * int(prompts.max())

    def is_at_rest_above(self, line_name: Any) -> bool:
        """Whether the total at rest is at or above an active line of billed tokens."""
        line = self.lines.named(line_name)
        total = self.rest_total
        return line.active and line.tokens > 0 and total is not None and total >= line.tokens


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _number(value: Any) -> float:
    return value if js.is_finite(value) and value > 0 else 0
