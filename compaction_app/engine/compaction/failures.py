"""Whether a failed model call was an abort, a timeout or anything else (spec compaction 1.5).

Aborts and timeouts are not tried again; the versions differ in what they take for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

FailureKind = Literal["abort", "timeout", "error"]

ABORT_NAME = "AbortError"
ABORT_MESSAGE = "This operation was aborted"
TIMEOUT_NAME = "TimeoutError"
WRITE_LOCK_NAME = "SessionWriteLockTimeoutError"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as the driver met it: its name, its message, and what caused it."""

    name: str
    message: str
    cause: Failure | None = None

    def chain(self) -> Iterator[Failure]:
        """The failure and its causes, outermost first."""
        link: Failure | None = self
        while link is not None:
            yield link
            link = link.cause


@dataclass(frozen=True, slots=True)
class FailureRules:
    """``abort_message``: an abort is also known by its message. ``knows_timeouts``: they are told apart."""

    abort_message: bool
    knows_timeouts: bool


FAILURES_2026_3 = FailureRules(abort_message=False, knows_timeouts=False)
FAILURES_2026_4_20 = FailureRules(abort_message=True, knows_timeouts=True)

_TIMEOUT = re.compile(
    r"timeout|timed out|service unavailable|deadline exceeded|connection error|network error"
    r"|network request failed|fetch failed|socket hang up"
    r"|网络错误|网络异常|服务暂时不可用|服务繁忙|请求超时|连接超时|连接错误"
    r"|\b(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|ENETUNREACH|EHOSTUNREACH|EHOSTDOWN|ENETRESET"
    r"|ETIMEDOUT|ESOCKETTIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN)\b"
    r"|without sending (?:any )?chunks?"
    r"|\b(?:stop|finish)?[ _]?reason:\s*(?:abort|error|malformed_response|network_error)\b"
    r"|operation was aborted|stream (?:was )?(?:closed|aborted)"
    r"|^\s*(?:terminated|stream_read_error|request failed)\s*\Z"
    r"|request failed after repeated internal retries|\bUND_ERR_[A-Z_]+\b",
    re.IGNORECASE | re.ASCII,
)
_GOOGLE_INTERNAL = re.compile(r'"code"\s*:\s*500\b.*"status"\s*:\s*"INTERNAL"', re.DOTALL)
_ABORTED_REQUEST = re.compile(r"request (?:was )?aborted", re.IGNORECASE)


def failure_kind(failure: Failure, rules: FailureRules) -> FailureKind:
    """What kind of failure it is; an abort is an abort even where its message names a timeout."""
    if failure.name == ABORT_NAME or (rules.abort_message and failure.message == ABORT_MESSAGE):
        return "abort"
    return "timeout" if rules.knows_timeouts and is_timeout(failure) else "error"


def is_timeout(failure: Failure) -> bool:
    """A timeout or a broken connection, also when wrapped by another error.

    A session write lock that timed out never counts.
    """
    links = list(failure.chain())
    if any(link.name == WRITE_LOCK_NAME for link in links):
        return False
    if failure.name == TIMEOUT_NAME or any(_hints_at_timeout(link.message) for link in links):
        return True
    return failure.name == ABORT_NAME and _ABORTED_REQUEST.search(failure.message) is not None


def _hints_at_timeout(message: str) -> bool:
    return _TIMEOUT.search(message) is not None or _GOOGLE_INTERNAL.search(message) is not None
