"""What a turn asks of whoever drives it, and what it is answered.

Beside these requests a turn passes on those of a compaction (``compaction.requests``), so that jobs,
the API, replays and tests drive one and the same code.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from compaction_app.engine.compaction.run import CompactionOrder
from compaction_app.engine.pruning.change import Change
from compaction_app.engine.turn.state import SessionState

Result = TypeVar("Result")
RunKind = Literal["turn", "flush"]
Trigger = Literal["budget", "manual", "overflow", "timeout_recovery", "inner_threshold", "inner_overflow"]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Context:
    """Exactly what one model call sends.

    ``stored`` are the messages before anything was cut for this call, as the attempt holds them;
    ``messages`` those that are sent. ``changes`` tell what was cut. The system prompt is known by its
    size in characters.
    """

    stored: tuple[Mapping[str, Any], ...]
    messages: tuple[Mapping[str, Any], ...]
    system_chars: int
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call of the model. Answer: :class:`ModelAnswer`, or none when nobody can answer it.

    ``number`` counts the calls of the turn from 1; ``session`` is the session as it stands.
    """

    run: RunKind
    number: int
    context: Context
    session: SessionState


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The assistant's message and the results of the tools it called.

    Entries that were recorded (with ``id`` and ``timestamp``) keep both; a bare message becomes a new
    entry. ``goes_on``: another call follows although no result came back.
    """

    message: Mapping[str, Any]
    results: tuple[Mapping[str, Any], ...] = ()
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Moment:
    """The time, in milliseconds since 1970: ``call`` right before a model call, ``entry`` otherwise."""

    what: Literal["call", "entry"]


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction that is about to run. Answer: a summary that is already known, :class:`NoSummary`
    where nobody makes one now, or none to make one.

    Without a known summary the compaction's own requests follow.
    """

    path: Sequence[Mapping[str, Any]]
    order: CompactionOrder
    trigger: Trigger


@dataclass(frozen=True, slots=True)
class KnownSummary:
    """A finished summary, with its file lists inside, and the details stored beside it."""

    text: str
    details: Mapping[str, Any] | None = None
    from_hook: bool = False


@dataclass(frozen=True, slots=True)
class NoSummary:
    """A compaction that is not made now: it is left to a job, or one was tried and made nothing.

    ``reason`` is ``left_to_job`` or ``tried_before``; ``message`` what the one that was tried said.
    """

    reason: Literal["left_to_job", "tried_before"]
    message: str


Steps = Generator[Any, Any, Result]
"""A stage: it yields requests, is sent their answers and returns a result."""
