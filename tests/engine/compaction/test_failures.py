"""Aborts, timeouts and other errors (spec compaction 1.5)."""

from __future__ import annotations

import pytest

from compaction_app.engine.compaction.failures import (
    FAILURES_2026_3,
    FAILURES_2026_4_20,
    Failure,
    failure_kind,
)


@pytest.mark.parametrize(
    "message",
    [
        "Request timed out.", "fetch failed", "read ECONNRESET", "UND_ERR_CONNECT_TIMEOUT", "请求超时",
        "terminated", "Stream was closed", "finish_reason: error", "request ended without sending any chunks",
        "503 Service Unavailable", "request failed",
    ],
)  # fmt: skip
def test_broken_connections_are_timeouts(message: str) -> None:
    assert failure_kind(Failure("Error", message), FAILURES_2026_4_20) == "timeout"
    assert failure_kind(Failure("Error", message), FAILURES_2026_3) == "error"


@pytest.mark.parametrize(
    "message",
    ["boom", "the process was terminated early", "request failed: 400 bad request", "XECONNRESET"],
)
def test_other_messages_are_plain_errors(message: str) -> None:
    assert failure_kind(Failure("Error", message), FAILURES_2026_4_20) == "error"


def test_a_timeout_is_found_behind_the_error_that_wraps_it() -> None:
    wrapped = Failure("Error", "could not summarise", Failure("Error", "socket hang up"))
    assert failure_kind(wrapped, FAILURES_2026_4_20) == "timeout"


def test_a_session_lock_that_timed_out_is_no_timeout() -> None:
    lock = Failure("SessionWriteLockTimeoutError", "timed out waiting for the session")
    assert failure_kind(lock, FAILURES_2026_4_20) == "error"


def test_an_abort_is_known_by_name_and_since_the_second_version_by_message() -> None:
    by_name, by_message = Failure("AbortError", "x"), Failure("Error", "This operation was aborted")
    assert failure_kind(by_name, FAILURES_2026_3) == "abort"
    assert failure_kind(by_message, FAILURES_2026_3) == "error"
    assert failure_kind(by_message, FAILURES_2026_4_20) == "abort"
