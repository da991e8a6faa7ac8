"""Tokens sent again after a cache break, for the totals of a simulation from files.

They are worked out as for the page and the API: from the entries' numbers, not from contexts.
"""

from __future__ import annotations

from typing import Any, Final

from compaction_app.engine.cache_breaks import recorded_breaks
from compaction_app.engine.calibration import weigh
from compaction_app.engine.compaction.requests import ModelCall
from compaction_app.engine.replay import replay
from compaction_app.engine.simulation.driver import Summarise
from compaction_app.engine.simulation.inputs import SessionFiles, SimulationInputs, joined_entries
from compaction_app.engine.summary_sizes import SUMMARY_CAP_TOKENS, SummaryChoice
from sessions_app.tokens.javascript import utf16_len
from sessions_app.tokens.message_tokens import CHARS_PER_TOKEN, tokens_of_chars
from sessions_app.transcripts.columns import columns_of_entries
from sessions_app.transcripts.measures import measure
from sessions_app.transcripts.session_context import messages_of_path
from sessions_app.transcripts.timeline import timeline

RESENT_NOTE: Final = (
    "tokensResent is worked out from the entries' numbers, and recordedTokensResent from the bills; null "
    "where these tell of no cache."
)
MOST_MESSAGES: Final = 2_000


def resent_totals(
    files: SessionFiles, inputs: SimulationInputs, choice: SummaryChoice, summarise: Summarise
) -> dict[str, Any]:
    """What goes into a report's totals."""
    entries = joined_entries(files.transcripts)
    grown = timeline(columns_of_entries((entry, measure(entry)) for entry in entries))

    def extractive() -> int:
        path = [entry.record for entry in entries if entry.type != "compaction"][:MOST_MESSAGES]
        answer = summarise(ModelCall(messages_of_path(path), SUMMARY_CAP_TOKENS * 2))
        return tokens_of_chars(utf16_len(answer)) if isinstance(answer, str) else 0

    setup = inputs.setup
    system = setup.system.chars // CHARS_PER_TOKEN
    done = replay(grown, setup.policy, setup.around, system, choice=choice, extractive=extractive)
    recorded = recorded_breaks(grown, weigh(grown))
    return {
        "tokensResent": done.breaks.resent,
        "recordedTokensResent": recorded.resent if recorded else None,
    }
