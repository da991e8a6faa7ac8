"""In which order do the stages of a turn run, and how often each: once a turn, an attempt, a call?

The order is data: it differs by version and by path. Only the reply pipeline of the gateway (``chat``)
checks a session before its turn and counts compactions; ``agent`` and ``local`` runs go straight to the
attempt; a ``cli`` backend keeps its own context (runs 1; spec compaction 8, pruning 1, profiles 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

TurnStage = Literal["preflight", "flush"]
AttemptStage = Literal["pre_prompt_check", "inner_trigger_before_prompt", "stored_history_images"]
CallStage = Literal["cache_ttl_pruning", "soft_guard", "history_images", "prompt_truncation"]
AnsweredStage = Literal["inner_trigger"]
EndedStage = Literal["cache_touch"]
ClosingStage = Literal["usage", "compaction_count"]


@dataclass(frozen=True, slots=True)
class TurnOrder:
    """The stages by the moment they run at, each tuple in its order.

    ``turn``: once, before the run. ``attempt``: at the beginning of each attempt. ``call``: before
    every model call, each working on what the one before left. ``answered``: when the model has
    answered without asking for tools. ``ended``: at the end of each attempt. ``closing``: once, after
    a run that ended well. ``flush_first``: a due flush goes before every compaction, so that its own
    run leaves the session as it is; no version does so, agents that are kept here may ask for it.
    """

    turn: tuple[TurnStage, ...] = ()
    attempt: tuple[AttemptStage, ...] = ()
    call: tuple[CallStage, ...] = ()
    answered: tuple[AnsweredStage, ...] = ()
    ended: tuple[EndedStage, ...] = ()
    closing: tuple[ClosingStage, ...] = ()
    flush_first: bool = False

    def with_flush_first(self) -> TurnOrder:
        """The order with the flush in front, where a turn of it has one."""
        if "flush" not in self.turn:
            return self
        others = tuple(stage for stage in self.turn if stage != "flush")
        return replace(self, turn=("flush", *others), flush_first=True)


@dataclass(frozen=True, slots=True)
class TurnRules:
    """How a version runs a turn.

    ``orders``: the order of each path. ``split_turn_hangs``: the runtime's own compaction of a split
    turn never ends (runs 3.6). ``blocked_flush_ends_turn``: the overflow text of a memory flush is the
    reply of its turn.
    """

    orders: Mapping[str, TurnOrder] = field(default_factory=dict)
    split_turn_hangs: bool = False
    blocked_flush_ends_turn: bool = False


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
