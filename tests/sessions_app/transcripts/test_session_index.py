"""The counters of a `sessions.json` entry."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.transcripts.index_updates import (
    CompactionUpdate,
    RunReport,
    increment_compaction_count,
    persist_usage,
)
from sessions_app.transcripts.session_index import (
    INDEX_2026_4_20,
    fresh_total_tokens,
    record_flush,
    total_tokens,
    was_flushed_in_cycle,
)
from sessions_app.transcripts.usage import Usage

USAGE = Usage(input=100, output=20, cache_read=30, cache_write=5)


@pytest.mark.parametrize("total", [None, -1, float("nan"), float("inf"), "5", True])
def test_a_total_is_a_finite_number_from_zero(total: object) -> None:
    assert total_tokens({"totalTokens": total}) is None
    assert total_tokens({"totalTokens": 0}) == 0
    assert total_tokens(None) is None


def test_a_missing_flag_counts_as_fresh_and_a_false_one_does_not() -> None:
    assert fresh_total_tokens({"totalTokens": 5}) == 5
    assert fresh_total_tokens({"totalTokens": 5, "totalTokensFresh": False}) is None


def test_a_flush_is_done_once_per_compaction_cycle() -> None:
    entry = record_flush({}, now_ms=9, compactions_before=0)
    assert was_flushed_in_cycle(entry)
    after = increment_compaction_count(entry, CompactionUpdate(), now_ms=10)
    assert not was_flushed_in_cycle(after)
    assert after["memoryFlushCompactionCount"] == 0
    assert not was_flushed_in_cycle({"memoryFlushCompactionCount": "0"})


def test_a_new_session_id_starts_a_family() -> None:
    entry = {"sessionId": "a", "sessionFile": "/s/a.jsonl"}
    update = CompactionUpdate(session_key="main", new_session_id="b")
    after = increment_compaction_count(entry, update, now_ms=1)
    assert after["sessionId"] == "b" and after["sessionFile"] == "/s/b.jsonl"
    assert after["usageFamilyKey"] == "main" and after["usageFamilySessionIds"] == ["a", "b"]
    third = increment_compaction_count(
        after, CompactionUpdate(new_session_id="c", new_session_file="/t/x"), now_ms=2
    )
    assert third["usageFamilySessionIds"] == ["a", "b", "c"] and third["sessionFile"] == "/t/x"
    assert entry == {"sessionId": "a", "sessionFile": "/s/a.jsonl"}


def test_the_size_a_compaction_reports_replaces_the_total_and_the_usage() -> None:
    entry = {"totalTokens": 50, "inputTokens": 5, "cacheRead": 1}
    after = increment_compaction_count(entry, CompactionUpdate(tokens_after=10.9), now_ms=1)
    assert after == {
        "totalTokens": 10,
        "totalTokensFresh": True,
        "compactionCount": 1,
        "updatedAt": 1,
    }


def test_a_compaction_without_a_size_makes_the_total_stale_only_in_the_later_version() -> None:
    entry = {"totalTokens": 50, "totalTokensFresh": True}
    later = increment_compaction_count(entry, CompactionUpdate(), now_ms=1)
    earlier = increment_compaction_count(entry, CompactionUpdate(), 1, INDEX_2026_4_20)
    assert (later["totalTokensFresh"], earlier["totalTokensFresh"]) == (False, True)


def test_a_run_without_a_snapshot_keeps_the_total_but_not_its_freshness() -> None:
    entry = {"totalTokens": 9, "totalTokensFresh": True}
    report = RunReport(usage=USAGE)
    assert persist_usage(entry, report, 1)["totalTokensFresh"] is False
    kept = persist_usage(entry, RunReport(usage=USAGE, preserve_fresh_total=True), 1)
    assert (kept["totalTokens"], kept["totalTokensFresh"]) == (9, True)
    earlier = persist_usage(entry, report, 1, INDEX_2026_4_20)
    assert "totalTokens" not in earlier and earlier["totalTokensFresh"] is False


def test_heartbeats_keep_the_model() -> None:
    report = RunReport(usage=USAGE, model="m", provider="p", is_heartbeat=True, context_tokens=5)
    after = persist_usage({"model": "old"}, report, 1)
    assert after["model"] == "old" and "modelProvider" not in after and after["inputTokens"] == 100


def test_a_run_beside_the_users_model_changes_nothing_but_the_time() -> None:
    report = RunReport(usage=USAGE, model="m", preserve_model_state=True)
    assert persist_usage({"model": "old"}, report, 4) == {"model": "old", "updatedAt": 4}


def test_nothing_known_changes_nothing() -> None:
    assert persist_usage({"totalTokens": 9}, RunReport(), 4) == {"totalTokens": 9}


def test_the_size_after_a_compaction_stands_in_for_a_missing_snapshot_only() -> None:
    report = RunReport(usage=USAGE, compaction_tokens_after=12.7)
    after = persist_usage({"inputTokens": 1}, report, 1)
    assert (after["totalTokens"], after["totalTokensFresh"]) == (12, True)
    assert "inputTokens" not in after
    with_call = RunReport(usage=USAGE, last_call=Usage(input=7), compaction_tokens_after=12)
    assert persist_usage({}, with_call, 1)["totalTokens"] == 7


@given(
    st.dictionaries(
        st.sampled_from(["totalTokens", "totalTokensFresh", "compactionCount", "sessionId"]),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(max_size=3),
    ),
    st.none() | st.integers(-5, 5),
)
def test_counts_never_go_down(entry: dict[str, Any], amount: int | None) -> None:
    after = increment_compaction_count(entry, CompactionUpdate(amount=amount), now_ms=1)
    before = entry.get("compactionCount")
    if isinstance(before, int | float) and not isinstance(before, bool):
        assert after["compactionCount"] >= before
