"""Which entries of a recording its own policy caused, so that another policy must not inherit them."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sessions_app.transcripts.columns import COMPACTION, MARKS, Columns

STRIPPED_MARKS: Final = ("flush", "injected", "compact_command")
"""Flush turns, replies the gateway wrote itself, typed ``/compact``; compactions come on top."""

_STRIPPED = np.array([mark in STRIPPED_MARKS for mark in MARKS])


def stripped_rows(rows: Columns) -> NDArray[np.bool_]:
    """For each row whether it is taken out before a what-if."""
    return np.asarray(_STRIPPED[rows.mark] | (rows.kind == COMPACTION), np.bool_)
