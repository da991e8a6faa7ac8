"""A branch appended again with its tool results cut."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.pruning.session_rewrite import (
    EMPTY_SESSION,
    SESSION_REWRITE_2026_3,
    SESSION_REWRITE_2026_4_20,
    SESSION_REWRITE_2026_5_28,
    RewrittenSession,
    SessionRewriteRules,
    active_branch,
    rewrite_session,
)
from tests.engine.pruning.messages import answer, result, unchanged, user

Entry = dict[str, Any]


def entries(*parts: Entry) -> list[Entry]:
    rows: list[Entry] = []
    for index, part in enumerate(parts):
        parent = rows[-1]["id"] if rows else None
        rows.append({"id": f"e{index}", "parentId": parent, **part})
    return rows


def said(message: Entry) -> Entry:
    return {"type": "message", "message": message}


def rewrite(rows: list[Entry], rules: SessionRewriteRules, **options: Any) -> RewrittenSession:
    ids = (f"n{i}" for i in range(99))
    return rewrite_session(rows, 200_000, rules, new_ids=ids, timestamp="t", **options)


LARGE = said(result("a" * 700_000))


def test_everything_from_the_first_cut_result_on_is_appended_under_new_ids() -> None:
    rows = entries(said(user()), said(answer()), LARGE, said(answer()), said(user("more")))
    before = unchanged(rows)
    done = rewrite(rows, SESSION_REWRITE_2026_5_28)
    assert rows == before
    assert [(e["id"], e["parentId"]) for e in done.appended] == [
        *(("n0", "e1"), ("n1", "n0"), ("n2", "n1")),
    ]
    assert done.branch == ("e0", "e1", "n0", "n1", "n2") and done.written
    (made,) = done.changes
    assert made.position == "e2" and made.after_chars == 64_000


def test_references_follow_the_entries_they_name() -> None:
    rows = entries(
        said(answer()),
        LARGE,
        said(user("kept")),
        {"type": "compaction", "summary": "s", "firstKeptEntryId": "e2", "tokensBefore": 9},
        {"type": "label", "targetId": "e0", "label": "start"},
        {"type": "branch_summary", "fromId": "e4", "summary": "b"},
        {"type": "session_info", "name": " named "},
        {"type": "model_change", "provider": "p", "modelId": "m", "noise": 1},
    )
    *_, compaction, label, branch, info, model = rewrite(rows, SESSION_REWRITE_2026_5_28).appended
    assert compaction["firstKeptEntryId"] == "n1"
    assert label["targetId"] == "e0"
    assert branch["fromId"] == branch["parentId"] == label["id"]
    assert info["name"] == "named" and "noise" not in model


def test_2026_3_keeps_old_references_and_leaves_labels_out() -> None:
    rows = entries(
        said(answer()),
        LARGE,
        {"type": "compaction", "summary": "s", "firstKeptEntryId": "e1", "tokensBefore": 9},
        {"type": "label", "targetId": "e0", "label": "start"},
        {"type": "branch_summary", "fromId": "e4", "summary": "b"},
        {"type": "session_info"},
        said(user()),
    )
    appended = rewrite(rows, SESSION_REWRITE_2026_3).appended
    assert [entry["type"] for entry in appended] == ["message", "compaction", "message"]
    assert appended[1]["firstKeptEntryId"] == "e1"


def test_only_the_active_branch_counts() -> None:
    rows = entries(said(answer()), LARGE, {**said(user()), "parentId": "e0"})
    assert [entry["id"] for entry in active_branch(rows)] == ["e0", "e2"]
    done = rewrite(rows, SESSION_REWRITE_2026_5_28)
    assert not done.truncated and done.reason == "no oversized or aggregate tool results"


def test_without_an_assistant_message_only_a_closed_session_is_written() -> None:
    rows = entries(LARGE, said(user()))
    assert rewrite(rows, SESSION_REWRITE_2026_5_28).written
    assert not rewrite(rows, SESSION_REWRITE_2026_5_28, where="open_session").written
    assert not rewrite(rows, SESSION_REWRITE_2026_4_20).written


def test_a_label_of_an_unknown_entry_stops_the_rewrite() -> None:
    rows = entries(said(answer()), LARGE, {"type": "label", "targetId": "gone", "label": "x"})
    done = rewrite(rows, SESSION_REWRITE_2026_5_28)
    assert done.reason == "Entry gone not found" and done.appended == ()


def test_an_empty_session_says_so() -> None:
    assert rewrite([], SESSION_REWRITE_2026_5_28).reason == EMPTY_SESSION


def test_a_cycle_of_parents_ends() -> None:
    rows = [{"id": "a", "parentId": "b"}, {"id": "b", "parentId": "a"}]
    assert len(active_branch(rows)) == 2
