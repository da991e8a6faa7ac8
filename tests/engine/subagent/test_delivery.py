"""When and how a subagent's end is announced (spec compaction 7)."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28
from compaction_app.engine.subagent.delivery import (
    Announcement,
    FinishedRun,
    announcement,
    delivery_paths,
    removes_child,
    settle_ms,
)


def announced(reply: str | None = "done", **fields: Any) -> Announcement:
    run = FinishedRun(**{"status": "ok", "reply": reply, **fields})
    return announcement(run, OPENCLAW_2026_5_28.id)


def test_a_reply_is_announced_without_the_token_at_its_edges() -> None:
    assert announced(" all fine ").text == "all fine"
    assert announced("NO_REPLYall fine").text == "all fine"
    assert announced("all fine NO_REPLY").text == "all fine"


@pytest.mark.parametrize("silent", ["NO_REPLY", "no_reply NO_REPLY", " ANNOUNCE_SKIP "])
def test_a_silent_reply_is_not_announced_unless_there_is_an_earlier_one(silent: str) -> None:
    found = announced(silent)
    assert (found.decision.outcome, found.decision.reason) == ("skip", "silent_reply")
    earlier = announced(silent, earlier_reply="this I found")
    assert (earlier.text, earlier.decision.reason) == ("this I found", "earlier_reply")
    assert announced(silent, earlier_reply="NO_REPLY").text is None
    assert announced(silent, earlier_reply="this I found", status="error").text is None


def test_the_token_in_other_letters_is_announced() -> None:
    assert announced("announce_skip").text == "announce_skip"


def test_running_descendants_postpone_it_but_not_for_cron() -> None:
    found = announced(pending_descendants=1, findings="1. a")
    assert (found.decision.outcome, found.text) == ("postpone", None)
    assert announced(pending_descendants=1, is_cron=True).text == "done"


def test_the_findings_of_its_children_replace_the_reply() -> None:
    assert announced("NO_REPLY", findings="Child completion results:").text == (
        "Child completion results:"
    )


@pytest.mark.parametrize("reply", [None, "", " \n"])
def test_a_run_without_a_result_says_so(reply: str | None) -> None:
    assert announced(reply).text == "(no output)"


def test_a_completion_that_is_waited_for_comes_directly_first() -> None:
    assert delivery_paths(expects_completion=True) == ("direct", "steer")
    assert delivery_paths(expects_completion=False) == ("steer", "direct")


@pytest.mark.parametrize(("wanted", "ms"), [(0, 1), (1.9, 1), (500, 500), (1e9, 120_000)])
def test_the_wait_for_a_child_is_bounded(wanted: float, ms: int) -> None:
    assert settle_ms(wanted) == ms


def test_a_child_is_deleted_unless_its_announcement_is_postponed() -> None:
    assert removes_child("delete", announced())
    assert removes_child("delete", announced("NO_REPLY"))
    assert not removes_child("delete", announced(pending_descendants=1))
    assert not removes_child("keep", announced())
