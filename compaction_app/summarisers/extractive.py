"""The summary that needs no model and no network: it quotes, and invents nothing.

What was demanded, decided, promised and asked is found by cue words of many languages, by headings
and by its place in the conversation; identifiers, files and failed tools by their form. The newest
comes first, an earlier summary is taken apart and distilled anew. The same call always gives the same
text, in time that grows with the length of its messages and no faster.
"""

from __future__ import annotations

from compaction_app.engine.compaction.instructions import (
    asks_for_structure,
    asks_for_turn_prefix,
)
from compaction_app.engine.compaction.requests import ModelCall
from compaction_app.summarisers.extraction.gathering import gather
from compaction_app.summarisers.extraction.layouts import (
    PLAIN,
    STRUCTURED,
    TURN_PREFIX,
    Layout,
)
from compaction_app.summarisers.extraction.writing import write


class Extractive:
    """The default summariser."""

    name = "extractive"

    def summarise(self, call: ModelCall) -> str:
        return extractive_summary(call)


def extractive_summary(call: ModelCall) -> str:
    """A summary of the call's messages under the headings the call asks for, within its tokens."""
    return write(gather(call), layout_for(call), call.max_output(None))


def layout_for(call: ModelCall) -> Layout:
    """The five sections of the safeguard, those of the default prompt, or those of a split turn."""
    if call.turn_prefix or asks_for_turn_prefix(call.instructions):
        return TURN_PREFIX
    return STRUCTURED if asks_for_structure(call.instructions) else PLAIN
