"""In which order do the stages of a turn run, and how often each: once a turn, an attempt, a call?

The order is data: it differs by version and by path. Only the reply pipeline of the gateway (``chat``)
checks a session before its turn and counts compactions; ``agent`` and ``local`` runs go straight to the
attempt; a ``cli`` backend keeps its own context (runs 1; spec compaction 8, pruning 1, profiles 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from compaction_app.engine.turn.runtime_event import EVENTS_2026_5_28, EVENTS_2026_9, EventRules

TurnStage = Literal["preflight", "flush"]
AttemptStage = Literal["pre_prompt_check", "inner_trigger_before_prompt", "stored_history_images"]
CallStage = Literal[
    "cache_ttl_pruning",
    "remembered_results",
    "soft_guard",
    "history_images",
    "prompt_truncation",
]
AnsweredStage = Literal["inner_trigger"]
EndedStage = Literal["cache_touch"]
ClosingStage = Literal["usage", "compaction_count"]


GO_ON: Final = (
    "Continue the current task from the existing transcript, preserving completed work. If an action was "
    "interrupted, inspect its state before deciding whether to retry it. Do not restart the task or "
    "repeat completed actions."
)


@dataclass(frozen=True, slots=True)
class TurnOrder:
    """The stages by the moment they run at, each tuple in its order.

    ``turn``: once, before the run. ``attempt``: at the beginning of each attempt. ``call``: before
    every model call, each working on what the one before left. ``answered``: when the model has
    answered without asking for tools. ``ended``: at the end of each attempt. ``closing``: once, after
    a run that ended well. ``replied``: after the reply of such a run, judged on the stored total
    alone. ``flush_first``: a due flush goes before every compaction, so that its own
    run leaves the session as it is; no version does so, agents that are kept here may ask for it.
    """

    turn: tuple[TurnStage, ...] = ()
    attempt: tuple[AttemptStage, ...] = ()
    call: tuple[CallStage, ...] = ()
    answered: tuple[AnsweredStage, ...] = ()
    ended: tuple[EndedStage, ...] = ()
    closing: tuple[ClosingStage, ...] = ()
    replied: tuple[TurnStage, ...] = ()
    flush_first: bool = False

    def with_flush_first(self) -> TurnOrder:
        """The order with the flush in front, where a turn of it has one."""
        if "flush" not in (*self.turn, *self.replied):
            return self
        others = tuple(stage for stage in self.turn if stage != "flush")
        later = tuple(stage for stage in self.replied if stage != "flush")
        return replace(self, turn=("flush", *others), replied=later, flush_first=True)


@dataclass(frozen=True, slots=True)
class TurnRules:
    """How a version runs a turn.

    ``orders``: the order of each path. ``split_turn_hangs``: the runtime's own compaction of a split
    turn never ends (runs 3.6). ``blocked_flush_ends_turn``: the overflow text of a memory flush is the
    reply of its turn. ``flush_before_preflight``: a due preflight asks the flush first, and is then
    judged again. ``flush_stored``: the messages of a flush stay in the session; where they do not, a
    flush before its turn runs on a copy that holds the prompt already. ``stamps_history``: the prompts
    of the history are sent with their time in front. ``counts_tools``: the check before the prompt
    counts the schemas of the tools. ``flush_lacks``: characters of the system prompt that a flush goes
    without, where they are more than the lines of the tools it lacks. ``weighs_keep``: a
    ``keepRecentTokens`` that nobody set counts tokens as the provider does, and a ``/compact`` then
    keeps the last message alone. ``weighs_live``: a compaction within a run or after its reply counts
    what it leaves with system prompt and tools, and keeps what fits. ``command_follows``: a
    ``/compact`` and its answer are stored behind what it did. ``long_ids``: entries have ids of 36
    characters. ``events``: how a later prompt tells the model of a ``/compact``. ``stores_failures``:
    an answer that failed stays in the session. ``goes_on_with``: the prompt sent in place of the stored
    one after a recovery. ``usage_is_final``: a run that compacted leaves what its last call was billed,
    and is not judged after its reply. ``plain_call_ids``: APIs for which the history's ids of tool
    calls are reduced to letters and digits.
    """

    orders: Mapping[str, TurnOrder] = field(default_factory=dict)
    split_turn_hangs: bool = False
    blocked_flush_ends_turn: bool = False
    flush_before_preflight: bool = False
    flush_stored: bool = True
    stamps_history: bool = False
    counts_tools: bool = False
    flush_lacks: int = 0
    weighs_keep: bool = False
    weighs_live: bool = False
    command_follows: bool = False
    long_ids: bool = False
    events: EventRules = EVENTS_2026_5_28
    stores_failures: bool = True
    goes_on_with: str | None = None
    usage_is_final: bool = False
    plain_call_ids: tuple[str, ...] = ()


_EMBEDDED_2026_5_28: Final = TurnOrder(
    attempt=("pre_prompt_check", "inner_trigger_before_prompt"),
    call=("cache_ttl_pruning", "soft_guard", "history_images", "prompt_truncation"),
    answered=("inner_trigger",),
    ended=("cache_touch",),
    closing=("usage",),
)
_EMBEDDED_2026_4_20: Final = replace(
    _EMBEDDED_2026_5_28,
    attempt=("stored_history_images", "pre_prompt_check", "inner_trigger_before_prompt"),
    call=("cache_ttl_pruning", "soft_guard"),
)
_EMBEDDED_2026_3: Final = replace(
    _EMBEDDED_2026_4_20, attempt=("stored_history_images", "inner_trigger_before_prompt")
)
_CLI: Final = TurnOrder(closing=("usage",))


def _orders(embedded: TurnOrder, turn: tuple[TurnStage, ...]) -> Mapping[str, TurnOrder]:
    chat = replace(embedded, turn=turn, closing=("usage", "compaction_count"))
    return {"chat": chat, "agent": embedded, "local": embedded, "cli": _CLI}


OPENCLAW_2026_3: Final = TurnRules(_orders(_EMBEDDED_2026_3, ("flush",)))
OPENCLAW_2026_4_20: Final = TurnRules(_orders(_EMBEDDED_2026_4_20, ("preflight", "flush")))
OPENCLAW_2026_5_28: Final = TurnRules(
    _orders(_EMBEDDED_2026_5_28, ("preflight", "flush")),
    split_turn_hangs=True,
    blocked_flush_ends_turn=True,
)
_EMBEDDED_2026_9: Final = replace(
    _EMBEDDED_2026_5_28,
    call=("remembered_results", "soft_guard", "history_images"),
)
_ORDERS_2026_9: Final = dict(_orders(_EMBEDDED_2026_9, ("preflight",)))
OPENCLAW_2026_9: Final = TurnRules(
    {
        **_ORDERS_2026_9,
        "chat": replace(_ORDERS_2026_9["chat"], replied=("flush", "preflight")),
    },
    flush_before_preflight=True,
    flush_stored=False,
    stamps_history=True,
    counts_tools=True,
    flush_lacks=2_625,
    weighs_keep=True,
    weighs_live=True,
    command_follows=True,
    long_ids=True,
    events=EVENTS_2026_9,
    stores_failures=False,
    goes_on_with=GO_ON,
    usage_is_final=True,
    plain_call_ids=("anthropic-messages",),
)
