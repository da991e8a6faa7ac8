"""Which recent turns are kept beside the summary instead of being summarised (spec compaction 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compaction_app.engine.compaction.message_text import Message
from compaction_app.engine.pruning.pairing import PairingRules, repair_pairing
from compaction_app.engine.pruning.tool_calls import result_id, tool_calls
from sessions_app.tokens import javascript as js

DEFAULT_RECENT_TURNS = 3
MAX_RECENT_TURNS = 12


@dataclass(frozen=True, slots=True)
class PreservedTurns:
    """The messages to summarise, repaired, and the indices of those kept word for word."""

    summarizable: Sequence[Message]
    preserved: tuple[int, ...]


def recent_turns(value: object, default: int = DEFAULT_RECENT_TURNS) -> int:
    """The setting ``recentTurnsPreserve`` as a whole number from 0 to 12."""
    if not js.is_finite(value):
        return default
    return int(min(max(0, js.floor(value)), MAX_RECENT_TURNS))


def split_preserved_turns(
    messages: Sequence[Message], turns: object, pairing: PairingRules, now_ms: float
) -> PreservedTurns:
    """Keep the last user turns with their answers and tool results; what remains is put in order.

    Calls left behind without their result get an error result, dated ``now_ms``.
    """
    kept = _conversation_kept(messages, recent_turns(turns, default=0))
    if not kept:
        return PreservedTurns(messages, ())
    calls = {call.id for i in kept for call in tool_calls(messages[i]) if _role(messages, i) == "assistant"}  # fmt: skip
    kept |= {
        i
        for i in range(min(kept), len(messages))
        if _role(messages, i) == "toolResult" and result_id(messages[i], pairing.calls) in calls
    }
    rest = [message for i, message in enumerate(messages) if i not in kept]
    return PreservedTurns(repair_pairing(rest, pairing, now_ms).messages, tuple(sorted(kept)))


def _conversation_kept(messages: Sequence[Message], turns: int) -> set[int]:
    """The user and assistant messages to keep."""
    conversation = [i for i in range(len(messages)) if _role(messages, i) in ("user", "assistant")]
    users = [i for i in conversation if _role(messages, i) == "user"]
    if turns <= 0 or not conversation:
        return set()
    if len(users) >= turns:
        return {i for i in conversation if i >= users[-turns]}
    kept = set(users)
    for i in reversed(conversation):
        kept.add(i)
        if len(kept) >= 2 * turns:
            break
    return kept


def _role(messages: Sequence[Message], index: int) -> object:
    return messages[index].get("role")
