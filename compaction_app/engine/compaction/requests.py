"""What a compaction asks of whoever drives it: model calls, waits, a summary provider, a file.

The rules are generators. They yield a request and are sent its answer, so that a job, a replay and a
test drive the same code, and nothing here reaches for a network, a clock or chance.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from compaction_app.engine.compaction.failures import Failure
from sessions_app.tokens import javascript as js

Result = TypeVar("Result")

OUTPUT_SHARE = 0.8
TURN_PREFIX_SHARE = 0.5
"""The parts of the reserve that a summary, and that of a split turn, may fill."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of the summarising model. Answer: its text, none for no text, or a :class:`Failure`.

    ``reserve_tokens`` is what the window keeps free for the answer; of it the call may fill a share
    (see :meth:`max_output`). ``turn_prefix`` asks for the beginning of a split turn, in a prompt of
    its own. ``portion`` says which portion of the messages it is, counted from 1, and of how many.
    """

    messages: Sequence[Mapping[str, Any]]
    reserve_tokens: float
    previous_summary: str | None = None
    instructions: str | None = None
    turn_prefix: bool = False
    portion: tuple[int, int] = (1, 1)

    def max_output(self, model_max: object) -> int:
        """The limit on the answer's tokens, at most what the model can write (spec compaction 1.5)."""
        share = TURN_PREFIX_SHARE if self.turn_prefix else OUTPUT_SHARE
        wanted = js.floor(share * self.reserve_tokens)
        if js.is_number(model_max) and model_max > 0:
            wanted = js.minimum(wanted, model_max)
        return int(wanted)


@dataclass(frozen=True, slots=True)
class ParallelCalls:
    """Model calls made at the same time. Answer: their answers, in the same order."""

    calls: tuple[ModelCall, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause before a retry. Answer: how many milliseconds it took, see :meth:`lasting`."""

    base_ms: int
    jitter: float
    min_ms: int
    max_ms: int

    def lasting(self, chance: float) -> int:
        """The milliseconds to wait, for a random number from 0 up to, not including, 1."""
        spread = self.base_ms * (1 + (chance * 2 - 1) * self.jitter)
        return int(min(max(js.round_half_up(spread), self.min_ms), self.max_ms))


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """A summary asked of a registered provider instead of a model.

    Answer: whatever it returned, a :class:`Failure`, or ``NOT_REGISTERED``.
    """

    provider: str
    messages: Sequence[Mapping[str, Any]]
    instructions: str
    previous_summary: str | None
    identifier_policy: str | None
    identifier_instructions: str | None


class NotRegistered:
    """The answer to a :class:`ProviderCall` whose provider nobody has registered."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials of the summarising model. Answer: :class:`CredentialsAnswer`."""


@dataclass(frozen=True, slots=True)
class CredentialsAnswer:
    """``error`` when they could not be resolved; else whether there is a key, and headers."""

    error: str | None = None
    has_key: bool = False
    has_headers: bool = False


@dataclass(frozen=True, slots=True)
class WorkspaceFile:
    """The text of a file of the workspace. Answer: its text, or none when it cannot be read."""

    name: str


Request = ModelCall | ParallelCalls | Wait | ProviderCall | Credentials | WorkspaceFile
NOT_REGISTERED = NotRegistered()
ModelAnswer = str | None | Failure
Steps = Generator[Request, Any, Result]
"""A rule that yields requests, is sent their answers and returns a result."""
