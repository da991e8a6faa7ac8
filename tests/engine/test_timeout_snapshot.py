"""What a run that timed out in a compaction leaves behind."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.timeout_snapshot import (
    OPENCLAW_2026_4_20,
    OPENCLAW_2026_5_28,
    SnapshotRules,
    TimeoutSnapshot,
    timeout_snapshot,
)

USER = {"role": "user", "content": "1"}
ANSWER = {"role": "assistant", "content": []}


def leave(
    before: list[Any] | None,
    current: list[Any],
    timed_out: bool = True,
    rules: SnapshotRules = OPENCLAW_2026_5_28,
) -> TimeoutSnapshot:
    return timeout_snapshot(
        rules,
        timed_out_in_compaction=timed_out,
        current=current,
        current_session_id="cur",
        before=before,
        before_session_id="pre",
    )


def test_without_a_timeout_in_the_compaction_the_current_messages_stay_whole() -> None:
    found = leave([USER], [USER, ANSWER], timed_out=False)
    assert (found.messages, found.session_id, found.source) == ([USER, ANSWER], "cur", "current")


def test_the_messages_from_before_are_cut_back_to_one_to_go_on_from() -> None:
    found = leave([USER, ANSWER, USER, ANSWER, ANSWER], [USER])
    assert list(found.messages) == [USER, ANSWER, USER]
    assert (found.session_id, found.source) == ("pre", "pre-compaction")


@pytest.mark.parametrize("before", [None, [], [ANSWER]])
def test_where_nothing_is_left_of_them_the_current_ones_are_taken(before: Any) -> None:
    found = leave(before, [USER, ANSWER])
    assert (list(found.messages), found.session_id, found.source) == ([USER], "cur", "current")
    assert list(leave(before, [ANSWER]).messages) == []


@pytest.mark.parametrize(
    "role", ["user", "toolResult", "branchSummary", "compactionSummary", "custom", "bashExecution"]
)
def test_a_run_can_go_on_from_these(role: str) -> None:
    assert leave([{"role": role}, ANSWER], []).messages == [{"role": role}]


def test_a_command_kept_out_of_the_context_is_not_one_of_them() -> None:
    assert leave([{"role": "bashExecution", "excludeFromContext": True}], []).source == "current"


def test_earlier_rules_did_not_cut_back() -> None:
    found = leave([USER, ANSWER], [USER], rules=OPENCLAW_2026_4_20)
    assert (found.messages, found.source) == ([USER, ANSWER], "pre-compaction")
    found = leave(None, [ANSWER], rules=OPENCLAW_2026_4_20)
    assert (found.messages, found.source) == ([ANSWER], "current")
