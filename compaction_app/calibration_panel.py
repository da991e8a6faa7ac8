"""What a session's bills say about its estimates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compaction_app.engine.calibration import LEAST_CALLS, Calibration
from compaction_app.engine.stripped import stripped_rows
from sessions_app.tokens.pressure import (
    BLOCK_OVERHEAD,
    CHARS_PER_TOKEN,
    CJK_WEIGHT,
    MESSAGE_OVERHEAD,
    RESULT_CHARS_PER_TOKEN,
)
from sessions_app.transcripts.columns import ASSISTANT, TOOL_RESULT, UNKNOWN, USER, Columns
from sessions_app.transcripts.timeline import Timeline


@dataclass(frozen=True, slots=True)
class CalibrationPanel:
    """``billed`` and ``estimated`` are sums over the calls that reported usage, in tokens; ``cjk`` is about
    the share of Chinese, Japanese and Korean characters, none without any text."""

    calibration: Calibration
    calls: int
    billed_calls: int
    billed: int
    estimated: int
    cjk: float | None
    least: int = LEAST_CALLS

    @property
    def spread(self) -> float:
        """Between the quartiles of the density."""
        return self.calibration.high - self.calibration.low


def calibration_panel(grown: Timeline, calibration: Calibration) -> CalibrationPanel:
    """Billed against estimated, without what the session's own policy caused."""
    rows = grown.columns
    own = ~stripped_rows(rows)[grown.place]
    known = (grown.billed_prompt != UNKNOWN) & own
    return CalibrationPanel(
        calibration=calibration,
        calls=int(own.sum()),
        billed_calls=int(known.sum()),
        billed=int(grown.billed_prompt[known].sum()),
        estimated=int(grown.estimated[known].sum()),
        cjk=_cjk_share(rows),
    )


def _cjk_share(rows: Columns) -> float | None:
    """From what the pre-prompt check counts more than characters / 4: it weighs these characters four
    times. Messages with images, tool calls or thinking are left out, they weigh more for other reasons.
    """
    plain = (rows.images == 0) & (rows.call_tokens == 0) & (rows.thinking_tokens == 0)
    cjk = chars = 0.0
    for kind, per_token in ((USER, CHARS_PER_TOKEN), (ASSISTANT, CHARS_PER_TOKEN), (TOOL_RESULT, RESULT_CHARS_PER_TOKEN)):  # fmt: skip
        here = plain & (rows.kind == kind)
        units = rows.tokens[here] * CHARS_PER_TOKEN
        weight = (rows.pressure[here] - MESSAGE_OVERHEAD - BLOCK_OVERHEAD) * per_token
        cjk += float(np.clip(weight - units, 0, None).sum()) / (CJK_WEIGHT - 1)
        chars += float(units.sum())
    return min(cjk / chars, 1.0) if chars else None
