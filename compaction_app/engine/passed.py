"""What a recording went through: no what-if under the same settings may refuse what then was answered.

What no message accounts for is taken for the system prompt where no report tells its size, although it
holds the tools' schemas, too, which the pre-prompt check does not count. Of a session that was billed much
for a short conversation the check would stop every turn, though the recording shows that it let them pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from compaction_app.engine.calibration import Calibration
from compaction_app.engine.lines import Lines
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.stripped import stripped_rows
from sessions_app.tokens.pressure import MESSAGE_OVERHEAD, SAFETY_MARGIN
from sessions_app.transcripts.columns import COMPACTION, UNKNOWN
from sessions_app.transcripts.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Passed:
    """``system``: the largest system prompt with which every answered turn passes the check, in estimated
    tokens (none: any). ``needs_calls``: of a few bills nothing is taken for a system prompt. ``prompt``: the largest prompt that a provider answered while the window was
    ``window``, 0 where none is known.
    """

    system: int | None = None
    needs_calls: bool = False
    window: int | None = None
    prompt: int = 0

    def system_tokens(self, calibration: Calibration) -> int:
        """What stands for the system prompt, estimated tokens."""
        if self.needs_calls and not calibration.enough:
            return 0
        found = round(calibration.overhead)
        return found if self.system is None else min(found, self.system)

    def prompt_under(self, window: int) -> int:
        """What the provider is known to answer, as far as it is asked under the same window."""
        return self.prompt if window == self.window else 0


NOTHING_PASSED: Final = Passed()


def passed_by(grown: Timeline, lines: Lines, rules: RuleSet, *, same_rules: bool) -> Passed:
    """What a recording passed under its own lines.

    Args:
        same_rules: whether the recording was made under these rules. Another agent has other checks, so
            what it passed tells nothing; and a few of its bills tell too little.
    """
    own = ~stripped_rows(grown.columns)[grown.place]
    known = grown.billed_prompt[own & (grown.billed_prompt != UNKNOWN)]
    prompt = int(known.max(initial=0))
    system = _largest_system(grown, lines, rules) if same_rules else None
    return Passed(system, not same_rules, lines.window, prompt)


def _largest_system(grown: Timeline, lines: Lines, rules: RuleSet) -> int | None:
    line, routing = lines.named("pre_prompt"), rules.routing
    if routing is None or not routing.weighs_shape or not line.active or not grown.calls:
        return None
    rows = grown.columns
    kept = ~stripped_rows(rows)
    first = np.flatnonzero(np.diff(grown.turn, prepend=0) > 0)  # the first call of each turn
    first = first[kept[grown.place[first]]]
    ends = grown.place[first]
    number = np.searchsorted(grown.compactions.place, ends)
    starts = np.append(0, grown.compactions.kept)[number]
    weight = np.where(rows.kind == COMPACTION, 0, rows.pressure) * kept
    sums = np.concatenate(([0], np.cumsum(weight)))
    summary = np.append(0, grown.compactions.summary_tokens + MESSAGE_OVERHEAD)[number]
    room = line.tokens / SAFETY_MARGIN - (sums[ends] - sums[starts]) - summary - MESSAGE_OVERHEAD
    return max(0, math.floor(float(room.min()))) if len(room) else None
