"""What a compaction lost, and where the rest survived."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.retention.anchors import KINDS
from compaction_app.engine.retention.fates import Fate
from compaction_app.engine.retention.retention import UPPER_BOUND, Retention, retention
from tests.engine.retention.talk import agent, call, numbered, result, user

RULE = "Never touch legacy_invoices."


def fate(done: Retention, kind: str) -> Fate:
    return next(f for f in done.fates if f.anchor.kind == kind)


@pytest.mark.parametrize(
    ("summary", "form"),
    [
        ("## Rules\n- Never touch legacy_invoices.", "exact"),
        ("rules: NEVER TOUCH legacy_invoices", "normalised"),
        ("- Do not touch `legacy_invoices`, whatever happens", "normalised"),
        ("- You may touch legacy_invoices", ""),
        ("- Never touch customers", ""),
        ("None.", ""),
    ],
)
def test_a_constraint_survives_by_its_words(summary: str, form: str) -> None:
    found = fate(retention(numbered(user(RULE)), summary), "constraint")
    assert found.form == form
    assert found.is_lost == (form == "")


@pytest.mark.parametrize(
    ("said", "summary", "survives"),
    [
        ("see /home/me/src/app.py", "files: src/app.py", True),
        ("see src/app.py", "files: /home/me/src/app.py", True),
        ("see a/src/app.py", "files: b/src/app.py", False),
        ("commit 9fceb02ab1c2", "commit 9fceb02", True),
        ("wait 1,500 ms", "wait 1500ms", True),
        ("wait 1,500 ms", "wait 1600 ms", False),
        ("use Python 3.11", "Python is 3.11", True),
        ("use Python 3.11", "Python is 3.112", False),
        ("on ops-1.example.com:80", "ON OPS-1.EXAMPLE.COM:80", True),
    ],
)
def test_an_identifier_survives_in_another_form(said: str, summary: str, survives: bool) -> None:
    done = retention(numbered(agent(said)), summary)
    (found,) = [f for f in done.fates if f.anchor.kind != "ask"]
    assert found.is_lost != survives


def test_what_stands_in_the_kept_tail_gives_the_summary_no_credit() -> None:
    done = retention(numbered(user(RULE)), RULE, numbered(user(RULE), start=1))
    assert fate(done, "constraint").place == "tail"
    assert done.counts.summary == 0


def test_a_memory_file_saves_but_does_not_keep_in_context() -> None:
    done = retention(numbered(user(RULE)), "None.", memory=["- Never touch legacy_invoices."])
    found = fate(done, "constraint")
    assert found.place == "memory" and found.is_lost and found.saved
    assert done.flush_coverage == 1.0
    assert retention(numbered(user(RULE)), "None.").flush_coverage is None


def test_a_workspace_file_keeps_in_context() -> None:
    done = retention(numbered(user(RULE)), "", workspace=[f"# Rules\n{RULE}"])
    assert fate(done, "constraint").place == "workspace"
    assert not fate(done, "constraint").is_lost


def test_the_gravest_loss_comes_first() -> None:
    talk = numbered(
        agent("The port is db.example.com:5432."),
        call("write", path="src/a.py"),
        result("ok"),
        call("read", "c2", path="src/b.py"),
        result("text", "c2"),
        user(RULE),
    )
    lost = retention(talk, "").lost
    kinds = [f.anchor.kind for f in lost]
    assert kinds == sorted(kinds, key=KINDS.index)
    assert kinds[0] == "constraint"
    assert [f.anchor.detail for f in lost if f.anchor.kind == "file_action"] == ["created", "read"]


def test_counts_position_and_tokens() -> None:
    talk = numbered(agent("at 9fceb02ab"), agent("nothing"), agent("again 9fceb02ab, then v1.2.3"))
    done = retention(talk, "has v1.2.3")
    hash_fate = fate(done, "hash")
    assert (hash_fate.count, hash_fate.first.entry, hash_fate.anchor.entry) == (2, 0, 2)
    assert hash_fate.position == 1.0
    assert [c.anchors for c in done.by_position] == [0] * 9 + [2]
    assert done.counts.lost == 1
    assert done.tokens_per_lost == done.removed_tokens - done.summary_tokens
    assert done.by_kind["version"].share == 1.0


def test_only_the_last_asks_count() -> None:
    talk = numbered(*(user(f"Question number {n} about topic {n}, please.") for n in range(6)))
    asks = [f for f in retention(talk, "").fates if f.anchor.kind == "ask"]
    assert [f.anchor.entry for f in asks] == [3, 4, 5]


def test_it_can_be_written_as_json() -> None:
    told = retention(numbered(user(RULE), agent("at 9fceb02ab")), "").to_json(most_lost=1)
    assert json.loads(json.dumps(told)) == told
    assert told["note"] == UPPER_BOUND
    assert (len(told["lost"]), told["lostNotListed"]) == (1, 2)
    assert told["lost"][0]["kind"] == "constraint"


def test_nothing_removed_is_nothing_lost() -> None:
    done = retention([], "text")
    assert done.fates == () and done.tokens_per_lost is None and done.counts.share is None


_TALK = st.lists(
    st.sampled_from(
        [user(RULE), user("不要修改 src/a.py。"), agent("I chose Redis."), agent("at v1.2.3"), result("9fceb02a")]
    ),
    max_size=8,
)  # fmt: skip


@given(_TALK, st.sampled_from(["", RULE, "v1.2.3", "9fceb02a"]), _TALK)
def test_every_anchor_is_somewhere_or_lost(
    talk: list[dict[str, object]], summary: str, tail: list[dict[str, object]]
) -> None:
    done = retention(numbered(*talk), summary, numbered(*tail, start=len(talk)))
    counts = done.counts
    assert counts.kept + counts.lost == counts.anchors == len(done.fates)
    assert sum(c.anchors for c in done.by_kind.values()) == counts.anchors
    assert sum(c.anchors for c in done.by_position) == counts.anchors


@given(_TALK, st.sampled_from([RULE, "v1.2.3", "9fceb02a"]))
def test_a_longer_summary_loses_no_more(talk: list[dict[str, object]], more: str) -> None:
    less = {(f.anchor.kind, f.anchor.key) for f in retention(numbered(*talk), "None.").lost}
    now = {(f.anchor.kind, f.anchor.key) for f in retention(numbered(*talk), f"None.\n{more}").lost}
    assert now <= less


def test_everything_survives_in_a_tail_that_says_it_again() -> None:
    talk = [user(RULE), agent("I chose Redis."), agent("at v1.2.3 and src/a.py")]
    assert retention(numbered(*talk), "", numbered(*talk, start=3)).lost == ()
