"""What a compaction asks of whoever drives it: model calls, waits, a summary provider, a file.

The rules are generators. They yield a request and are sent its answer, so that a job, a replay and a
test drive the same code, and nothing here reaches for a network, a clock or chance.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from compaction_app.engine.compaction.failures import Failure
from sessions_app.tokens import javascript as js

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of the summarising model. Answer: its text, none for no text, or a :class:`Failure`.

    ``reserve_tokens`` is what the window keeps free for the answer, before the share of the output
    is taken from it (see :func:`max_output_tokens`).
    """

    messages: Sequence[Mapping[str, Any]]
    reserve_tokens: int
    previous_summary: str | None
    instructions: str | None


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


Request = ModelCall | Wait | ProviderCall | Credentials | WorkspaceFile
NotRegistered = Literal["not_registered"]
NOT_REGISTERED: NotRegistered = "not_registered"
ModelAnswer = str | None | Failure
Steps = Generator[Request, Any, Result]
"""A rule that yields requests, is sent their answers and returns a result."""

OUTPUT_SHARE = 0.8
"""The part of the reserve that a summary may fill (spec compaction 1.5)."""


def max_output_tokens(reserve_tokens: float, model_max: object, share: float = OUTPUT_SHARE) -> int:
    """The limit on the answer's length: a share of the reserve, at most what the model can write."""
    wanted = js.floor(share * reserve_tokens)
    if js.is_number(model_max) and model_max > 0:
        wanted = js.minimum(wanted, model_max)
    return int(wanted)
