"""How large the summaries of a what-if are taken to be: as the recorded ones, else the cap.

A summary may take 0.8 of the reserve or of what the model may answer, and never more than 4,000
tokens here: the runs' own summaries stayed far below that.
"""

from __future__ import annotations

from typing import Final

from compaction_app.engine.lines import Lines
from compaction_app.engine.policy import Policy
from compaction_app.engine.replay_events import SummarySizes
from sessions_app.transcripts.timeline import Timeline

SUMMARY_CAP_TOKENS: Final = 4_000
SHARE_OF_ANSWER: Final = 0.8
DEFAULT_MAX_TOKENS: Final = 8_192
RESERVE_THAT_BOUNDS: Final = SUMMARY_CAP_TOKENS / SHARE_OF_ANSWER
"""A reserve (or a longest answer) of this size or more does not bound a summary."""


def summary_sizes(grown: Timeline, lines: Lines, policy: Policy) -> SummarySizes:
    """The sizes for a recording under a policy, estimated tokens."""
    recorded = [int(size) for size in grown.compactions.summary_tokens if size > 0]
    if recorded:
        return SummarySizes(tuple(recorded), "recorded")
    answer = min(int(lines.settings.reserve_tokens), policy.max_tokens or DEFAULT_MAX_TOKENS)
    cap = min(int(answer * SHARE_OF_ANSWER), SUMMARY_CAP_TOKENS)
    return SummarySizes((max(cap, 1),), "cap")
