"""How large is a context while its run is alive: with the system prompt and the tools, as a call sends it.

Since 2026.9 a compaction within a run, or right after its reply, knows more than the stored messages. It
counts what it leaves as the check before a prompt would, with an empty prompt, and keeps no more than fits
into the prompt's budget beside the largest summary. The first was read off three recorded compactions to the
token, the second off one (runs 4, growth-32k turn 29: 13 turns).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from compaction_app.engine.compaction.summary_cap import MAX_SUMMARY_CHARS
from compaction_app.engine.routing import Prompt, estimate_of
from sessions_app.tokens.message_tokens import message_tokens
from sessions_app.tokens.pressure import (
    SAFETY_MARGIN,
    message_pressure,
    tool_schema_chars_pressure,
)
from sessions_app.transcripts.session_context import messages_of_path

if TYPE_CHECKING:
    from compaction_app.engine.turn.work import TurnWork

Messages = Sequence[Mapping[str, Any]]


def stand_in(chars: int) -> str:
    """A text of that size: it stands for a text that is known by its size alone."""
    return "x" * chars


def live_estimate(work: TurnWork) -> Callable[[Messages], int] | None:
    """Estimated tokens of a call with these messages and an empty prompt; none without such a check."""
    rules, system = work.rules.routing, work.setup.system
    if rules is None:
        return None
    tools = tool_schema_chars_pressure(system.tool_chars) if system.tool_chars else 0
    prompt = Prompt((), system=stand_in(system.chars), tool_schema_tokens=tools)
    return lambda messages: int(estimate_of(rules, messages, prompt)[0])


def fitting_tail(work: TurnWork) -> int | None:
    """Tokens, as cuts count them, of the longest end of the branch that fits; none where all does."""
    estimate = live_estimate(work)
    if estimate is None:
        return None
    summary = {"role": "compactionSummary", "summary": stand_in(MAX_SUMMARY_CHARS)}
    room = work.setup.lines.check_budget.prompt - estimate((summary,))
    kept, weighed = 0, 0.0
    for message in reversed(messages_of_path(work.state.branch)):
        weighed += SAFETY_MARGIN * message_pressure(message, work.rules.pressure)
        if weighed > room:
            return max(kept, 1)
        kept += message_tokens(message, work.rules.message_tokens)
    return None
