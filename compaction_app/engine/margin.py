"""How sure a what-if's figures are where its inputs are not in the transcript.

A transcript holds neither the system prompt nor the tools' schemas, and no simulated summary. What the
bills say of them is off by as much as the density varies between the session's own calls (the farther
quartile). While nothing fires the prompts are the recorded ones, and sure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from compaction_app.engine.calibration import Calibration
from compaction_app.engine.summary_sizes import SummarySizes
from sessions_app.tokens.pressure import SAFETY_MARGIN


@dataclass(frozen=True, slots=True)
class Margin:
    """Plus or minus so many tokens; none where too few calls were billed to say.

    ``prompt``: a prompt behind a simulated compaction, in billed tokens; 0 while nothing is compacted.
    ``check``: the estimate of the pre-prompt check; 0 where the size of the system prompt is known.
    """

    prompt: int | None
    check: int | None


def margin_of(
    calibration: Calibration, summaries: SummarySizes, compactions: int, *, knows_system: bool
) -> Margin:
    """The margin of a what-if with so many compactions."""
    overhead, density = calibration.overhead_spread, calibration.density_spread
    if not compactions:
        prompt: int | None = 0
    elif overhead is None or density is None:
        prompt = None
    else:
        largest = max(summaries.size(number) for number in range(compactions))
        prompt = math.ceil(overhead + density * largest)
    if knows_system:
        return Margin(prompt, 0)
    return Margin(prompt, None if overhead is None else math.ceil(overhead * SAFETY_MARGIN))
