"""What a memory flush's own turn adds to a what-if: it stays in the transcript, and in what is sent.

The prompt is that of the plan. What the model did with it is taken from the recording's own flush turns,
in their order; where there are no more, it answered that there is nothing to store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.flush_plan import flush_plan
from compaction_app.engine.flush_turn import flush_turn
from compaction_app.engine.lines import Lines
from compaction_app.engine.turn.history import is_silent
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import message_tokens
from sessions_app.tokens.pressure import message_pressure
from sessions_app.transcripts.columns import MARKS, USER
from sessions_app.transcripts.timeline import Timeline

LINE_BYTES: Final = 180
"""About what a message's line takes besides its text: ids, time, role."""

NO_REPLY: Final = {"role": "assistant", "content": [{"type": "text", "text": "NO_REPLY"}]}


@dataclass(frozen=True, slots=True)
class FlushSize:
    """A flush turn: estimated tokens, the pre-prompt check's, bytes in the transcript (nearly)."""

    tokens: int
    pressure: int
    bytes: int

    def __add__(self, other: FlushSize) -> FlushSize:
        return FlushSize(
            self.tokens + other.tokens, self.pressure + other.pressure, self.bytes + other.bytes
        )


@dataclass(frozen=True)
class FlushTurns:
    grown: Timeline
    lines: Lines
    around: Circumstances

    def size(self, number: int) -> FlushSize:
        """The ``number``-th simulated flush turn, from 0."""
        known = self._recorded
        return self._prompt + (known[number] if number < len(known) else self._silent)

    @cached_property
    def _prompt(self) -> FlushSize:
        rules, window = self.around.rules.flush_plan, self.lines.flush_window.tokens
        plan = flush_plan(self.around.config, 0, rules, window)
        text = flush_turn(plan, rules).user_text if plan else ""
        return self._message({"role": "user", "content": [{"type": "text", "text": text}]}, text)

    @cached_property
    def _silent(self) -> FlushSize:
        """An answer that says nothing: it stands in the file, but most versions do not send it again."""
        size = self._message(NO_REPLY, "NO_REPLY")
        if is_silent(NO_REPLY, self.around.rules.silent_reply):
            return FlushSize(0, 0, size.bytes)
        return size

    def _message(self, message: Mapping[str, object], text: str) -> FlushSize:
        tokens = message_tokens(message, self.around.rules.message_tokens)
        return FlushSize(tokens, message_pressure(message), js.utf8_len(text) + LINE_BYTES)

    @cached_property
    def _recorded(self) -> list[FlushSize]:
        """What the model did in each recorded flush turn."""
        rows = self.grown.columns
        places = np.flatnonzero(rows.mark == MARKS.index("flush"))
        prompts = np.flatnonzero(rows.kind[places] == USER)
        return [
            FlushSize(
                int(rows.tokens[own].sum()),
                int(rows.pressure[own].sum()),
                int(np.maximum(rows.bytes[own], 0).sum()),
            )
            for own in (part[1:] for part in np.split(places, prompts)[1:])
        ]
