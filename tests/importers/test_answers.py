"""Calls without results, and a session's beginning that stands twice."""

from __future__ import annotations

import pytest

from sessions_app.importers import read_transcript
from sessions_app.importers.records import GIANT_FILE_BYTES, GIANT_LINE_CHARS, giant_file
from tests.builders import Chain, jsonl, line

MARK = "openclaw:bootstrap-context:full"


def kinds(chain: Chain, tail: bytes = b"", *, at_rest: bool = True) -> list[tuple[int, str]]:
    read = read_transcript([chain.data() + tail], at_rest=at_rest)
    return [(problem.line, problem.kind) for problem in read.problems]


def called(stop: str = "toolUse") -> Chain:
    chain = Chain()
    chain.user()
    chain.assistant("Looking", calls=("a", "b"), stopReason=stop)
    chain.result("a")
    return chain


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_call_that_the_session_went_on_without_is_an_orphan(role: str) -> None:
    chain = called()
    chain.user() if role == "user" else chain.assistant()
    assert kinds(chain, at_rest=False) == [(3, "FILE_ORPHAN_CALL")]


def test_an_open_call_at_the_end_is_damage_only_where_nobody_writes_any_more() -> None:
    assert kinds(called()) == [(3, "FILE_ORPHAN_CALL")]
    assert kinds(called(), at_rest=False) == []


def test_a_torn_last_line_is_that_and_nothing_else() -> None:
    assert kinds(called(), b'{"type":"message","id":"e9') == [(5, "FILE_TRUNCATED_TAIL")]


@pytest.mark.parametrize("stop", ["aborted", "error"])
def test_a_call_of_an_answer_that_failed_was_never_made(stop: str) -> None:
    chain = called(stop)
    chain.user()
    assert kinds(chain) == []


def test_a_compaction_that_ended_the_run_leaves_no_orphan() -> None:
    chain = called()
    chain.compaction("e1")
    chain.user()
    assert kinds(chain) == []


def test_a_rewrite_that_appends_entries_again_leaves_no_orphan() -> None:
    chain = called()
    for number in (1, 2):
        again = chain.records[number] | {"id": f"again{number}"}
        again["parentId"] = None if number == 1 else "again1"
        chain.records.append(again)
    chain.leaf = "again2"
    chain.result("b")
    chain.user()
    assert kinds(chain) == []


def test_an_answered_call_is_none() -> None:
    chain = called()
    chain.result("b")
    chain.user()
    assert kinds(chain) == []


def test_workspace_files_given_twice_without_a_compaction_between() -> None:
    chain = Chain()
    kept = chain.user()
    chain.add("custom", customType=MARK, data={})
    chain.compaction(kept)
    chain.add("custom", customType=MARK, data={})
    assert kinds(chain) == []
    chain.add("custom", customType=MARK, data={})
    assert kinds(chain) == [(6, "FILE_DUPLICATE_BOOTSTRAP")]


def test_a_session_that_begins_twice_is_told_from_one_that_follows_another() -> None:
    chain = Chain()
    chain.user()
    again = chain.data() + line(chain.records[0]) + b"\n"
    assert [p.kind for p in read_transcript([again]).problems] == ["FILE_DUPLICATE_BOOTSTRAP"]
    other = chain.data() + jsonl(chain.records[0] | {"id": "another"})
    assert [p.kind for p in read_transcript([other]).problems] == ["FILE_SECOND_HEADER"]


@pytest.mark.parametrize("letter", ["x", "汉"])
def test_a_line_is_giant_by_its_characters(letter: str) -> None:
    def found(chars: int) -> list[tuple[int, str]]:
        chain = Chain()
        chain.user("")
        room = chars - len(line(chain.records[-1]).decode())
        chain.records[-1]["message"]["content"][0]["text"] = letter * room
        return kinds(chain)

    assert found(GIANT_LINE_CHARS) == [(2, "FILE_GIANT_LINE")]
    assert found(GIANT_LINE_CHARS - 1) == []


def test_a_file_is_giant_from_32_megabytes() -> None:
    giant = giant_file(GIANT_FILE_BYTES)
    assert giant is not None and giant.message == "The file holds 32 MB."
    assert giant_file(GIANT_FILE_BYTES - 1) is None
