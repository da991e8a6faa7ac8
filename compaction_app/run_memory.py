"""What a live session remembers of the run that is going on, between two requests of its agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from compaction_app.engine.recovery_limits import RecoveryCounters
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.turn.resume import Spent
from sessions_app.transcripts.usage import Usage, normalize_usage
from sessions_app.writing import LiveState

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunMemory:
    """``turn`` counts the prompts so far; ``is_open``: the last one has no answer yet; ``is_flush``: a
    memory flush is being talked about, which is no turn, is told nothing and leaves no totals.

    ``told`` is what its prompt told the model beside the text, ``usages`` what its calls reported.
    ``retries``: the session was cut, and the prompt is to be sent again. ``touched_ms``: when a pruned call
    of the run touched the cache. ``timed_out``: a call ran into its time limit with so many tokens that a
    compaction goes before it is tried again. ``calls_before``: calls of the run whose usages are not kept any
    more. ``preflighted``: the compaction before the turn has been made, once. ``tried`` are works (``flush``,
    ``compact``) that a job has tried and that made nothing: the head they were tried at, what was said.
    """

    turn: int = 0
    is_open: bool = False
    is_flush: bool = False
    told: tuple[str, ...] = ()
    usages: tuple[Json | None, ...] = ()
    overflow_compactions: int = 0
    timeout_compactions: int = 0
    truncations: int = 0
    retries: bool = False
    touched_ms: int | None = None
    timed_out: int | None = None
    calls_before: int = 0
    preflighted: bool = False
    tried: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def counters(self) -> RecoveryCounters:
        return RecoveryCounters(
            self.overflow_compactions, self.timeout_compactions, self.truncations
        )

    def spent(self, rules: RuleSet) -> Spent:
        """As the engine takes a run up again."""
        usages = (normalize_usage(usage, rules.usage) or Usage() for usage in self.usages)
        calls = self.calls_before + len(self.usages)
        return Spent(tuple(usages), self.counters, self.retries, self.touched_ms, calls)

    def failure(self, work: str, head: str | None) -> str | None:
        """What a job said that tried ``work`` at this head and made nothing; none if none has."""
        at, said = self.tried.get(work, (None, ""))
        return said if at is not None and at == (head or "") else None


def memory_of(state: LiveState) -> RunMemory:
    """The memory as the session keeps it."""
    kept = state.run
    tried = kept.get("tried") or {}
    return RunMemory(
        turn=kept.get("turn", 0),
        is_open=kept.get("open", False),
        is_flush=kept.get("flush", False),
        told=tuple(kept.get("told", ())),
        usages=tuple(kept.get("usages", ())),
        overflow_compactions=kept.get("overflowCompactions", 0),
        timeout_compactions=kept.get("timeoutCompactions", 0),
        truncations=kept.get("truncations", 0),
        retries=kept.get("retries", False),
        touched_ms=kept.get("touchedMs"),
        timed_out=kept.get("timedOut"),
        calls_before=kept.get("callsBefore", 0),
        preflighted=kept.get("preflighted", False),
        tried={work: (at, said) for work, (at, said) in tried.items()},
    )


def with_memory(state: LiveState, memory: RunMemory) -> LiveState:
    """The state with another memory; what is empty is not written."""
    kept: dict[str, Any] = {
        "turn": memory.turn,
        "open": memory.is_open,
        "flush": memory.is_flush,
        "told": list(memory.told),
        "usages": list(memory.usages),
        "overflowCompactions": memory.overflow_compactions,
        "timeoutCompactions": memory.timeout_compactions,
        "truncations": memory.truncations,
        "retries": memory.retries,
        "touchedMs": memory.touched_ms,
        "timedOut": memory.timed_out,
        "callsBefore": memory.calls_before,
        "preflighted": memory.preflighted,
        "tried": {work: list(said) for work, said in memory.tried.items()},
    }
    return replace(state, run={key: value for key, value in kept.items() if value})


def with_failure(state: LiveState, work: str, head: str | None, message: str) -> LiveState:
    """After a job that was to do ``work`` (``flush``, ``compact``) and made nothing: at this head it is
    not asked for again, and the turn goes on as after a failure."""
    memory = memory_of(state)
    return with_memory(state, replace(memory, tried={**memory.tried, work: (head or "", message)}))


def with_preflight(state: LiveState) -> LiveState:
    """After a compaction before a turn: it runs once a turn (spec compaction 8), whatever it left."""
    return with_memory(state, replace(memory_of(state), preflighted=True))


def begun(state: LiveState, *, flush: bool) -> LiveState:
    """With a new prompt stored. What was spent before that belongs to it; that of a flush is none."""
    memory = memory_of(state)
    if flush:
        return with_memory(state, replace(memory, is_flush=True))
    kept = replace(
        memory,
        usages=(),
        retries=False,
        tried={},
        is_open=True,
        is_flush=False,
        touched_ms=None,
        timed_out=None,
        calls_before=0,
        preflighted=False,
    )
    if memory.is_open:
        kept = replace(kept, overflow_compactions=0, timeout_compactions=0, truncations=0)
    kept = replace(kept, turn=memory.turn + 1, told=state.queued)
    return replace(with_memory(state, kept), queued=())


def ended(memory: RunMemory) -> RunMemory:
    """After the last answer of a run."""
    return RunMemory(turn=memory.turn)
