"""Records to entries: identities, the tree, what compactions kept, and why entries are marked."""

from __future__ import annotations

import pytest

from sessions_app.importers import read_transcript
from sessions_app.transcripts.transcript import branch, leaves
from tests.builders import Chain, header, iso, jsonl, short_session
from tests.importers.reading import DATA, ids, kinds, read


def test_a_whole_file_has_no_problems() -> None:
    read_back = read(short_session().data())
    assert read_back.problems == ()
    assert ids(read_back) == [f"e{n}" for n in range(1, 9)]
    assert [e.seq for e in read_back.entries] == list(range(8))
    assert [e.line for e in read_back.entries] == list(range(2, 10))
    assert [e.parent_seq for e in read_back.entries] == [None, *range(7)]
    assert [e.role for e in read_back.entries[:3]] == ["user", "assistant", "toolResult"]


def test_the_header_is_read_and_is_no_entry() -> None:
    found = read(jsonl(header(3, "abc"), {"type": "custom", "id": "a", "parentId": None})).header
    assert found is not None
    assert (found.id, found.version, found.timestamp_ms) == ("abc", 3, 1_767_225_600_000)


def test_without_a_header_everything_is_kept_and_said_once() -> None:
    chain = short_session()
    read_back = read(jsonl(*chain.records[1:]))
    assert kinds(read_back) == ["FILE_NO_HEADER"]
    assert len(read_back.entries) == 8
    assert read_back.header is None


def test_a_header_without_id_is_said() -> None:
    chain = short_session()
    del chain.records[0]["id"]
    read_back = read(chain.data())
    assert kinds(read_back) == ["FILE_NO_HEADER"]
    assert len(read_back.entries) == 8


def test_a_second_header_is_kept_as_a_problem_and_changes_nothing() -> None:
    chain = short_session()
    chain.records.insert(3, header(1, "another"))
    read_back = read(chain.data())
    assert [(p.line, p.kind) for p in read_back.problems] == [(4, "FILE_SECOND_HEADER")]
    assert b"another" in read_back.problems[0].raw
    assert ids(read_back) == [f"e{n}" for n in range(1, 9)]
    assert read_back.header is not None
    assert read_back.header.id == "the-session"


def test_of_two_entries_with_one_id_both_are_kept_and_later_ones_mean_the_second() -> None:
    chain = Chain()
    chain.user("one")
    chain.user("two")
    chain.records[2]["id"] = "e1"
    chain.user("three", below="e1")
    read_back = read(chain.data())
    assert [(p.line, p.kind) for p in read_back.problems] == [(3, "FILE_DUPLICATE_ID")]
    assert [e.parent_seq for e in read_back.entries] == [None, 0, 1]


@pytest.mark.parametrize("parent", ["nowhere", "e3", 7, "", ["e1"], {"e1": 1}])
def test_a_broken_parent_joins_the_entry_before(parent: object) -> None:
    chain = Chain()
    chain.user("one")
    chain.user("two")
    chain.user("three")
    chain.records[3]["parentId"] = parent
    read_back = read(chain.data())
    assert [(p.line, p.kind) for p in read_back.problems] == [(4, "FILE_BROKEN_PARENT")]
    assert read_back.entries[2].parent_seq == 1


def test_the_header_may_stand_as_the_parent_of_the_root() -> None:
    chain = Chain()
    chain.user(below="the-session")
    read_back = read(chain.data())
    assert read_back.problems == ()
    assert read_back.entries[0].parent_seq is None


@pytest.mark.parametrize("call", ["nobody", "", None, ["call-0"], 5])
def test_a_result_without_its_call_is_an_orphan(call: object) -> None:
    chain = Chain()
    chain.user()
    chain.result("x")
    chain.records[-1]["message"]["toolCallId"] = call
    read_back = read(chain.data())
    assert [(p.line, p.kind) for p in read_back.problems] == [(3, "FILE_ORPHAN_RESULT")]
    assert len(read_back.entries) == 2


@pytest.mark.parametrize("kind", ["toolCall", "toolUse", "functionCall"])
def test_a_call_of_any_spelling_has_its_result(kind: str) -> None:
    chain = Chain()
    chain.assistant(calls=("c",))
    chain.records[1]["message"]["content"][1]["type"] = kind
    chain.result("c")
    assert kinds(read(chain.data())) == []


def test_entries_without_id_are_named_by_their_place() -> None:
    chain = short_session()
    del chain.records[2]["id"]
    read_back = read(chain.data())
    assert (3, "FILE_MISSING_ID") in [(p.line, p.kind) for p in read_back.problems]
    assert read_back.entries[1].id == "00000001"


def test_bad_lines_between_good_ones_cost_only_themselves() -> None:
    records = short_session().data().splitlines(keepends=True)
    records[3:3] = [b"garbage\n", b"12\n", b"\n", b'{"type":"message"\n']
    read_back = read(*records)
    assert [(p.line, p.kind) for p in read_back.problems] == [
        (4, "FILE_BAD_LINE"),
        (5, "FILE_BAD_LINE"),
        (7, "FILE_BAD_LINE"),
    ]
    assert [e.line for e in read_back.entries] == [2, 3, 8, 9, 10, 11, 12, 13]


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 20, "9" * 400, "1e300"])
def test_numbers_out_of_all_bounds_do_no_harm(number: str) -> None:
    records = [
        f'{{"type":"compaction","id":"a","parentId":null,"firstKeptEntryIndex":{number},'
        f'"timestamp":{number},"tokensBefore":{number},"summary":"s"}}\n',
        f'{{"type":"message","id":"b","parentId":"a","timestamp":"x","message":{{"role":"user",'
        f'"timestamp":{number},"content":{number}}}}}\n',
    ]
    read_back = read(header(), *(record.encode() for record in records))
    assert len(read_back.entries) == 2
    assert read_back.entries[0].kept_seq is None


@pytest.mark.parametrize("depth", [300, 900, 1010])
def test_deeply_nested_arguments_do_no_harm(depth: int) -> None:
    chain = Chain()
    chain.assistant(calls=("c",))
    data = chain.data().replace(b'"arguments":{}', b'"arguments":' + b"[" * depth + b"]" * depth)
    read_back = read(data)
    assert len(read_back.entries) + len(read_back.problems) == 1


# Older versions


def test_version_one_gets_ids_and_parents_by_place() -> None:
    first = {"type": "session", "id": "s", "timestamp": iso(0)}
    entries = [
        {"type": "message", "timestamp": iso(n), "message": {"role": "user", "content": str(n)}}
        for n in range(1, 4)
    ]
    read_back = read(jsonl(first, *entries))
    assert read_back.header is not None
    assert read_back.header.version == 1
    assert read_back.problems == ()
    assert ids(read_back) == ["00000000", "00000001", "00000002"]
    assert [e.parent_seq for e in read_back.entries] == [None, 0, 1]


@pytest.mark.parametrize(
    ("index", "kept"), [(0, None), (1, 0), (2, 1), (3, None), (9, None), (-1, None)]
)
def test_the_index_of_a_version_one_compaction_becomes_the_entry_it_names(
    index: int, kept: int | None
) -> None:
    chain = Chain(version=None)
    chain.user("one")
    chain.user("two")
    chain.add("compaction", summary="s", firstKeptEntryIndex=index, tokensBefore=9)
    assert read(chain.data()).entries[2].kept_seq == kept


def test_a_compaction_that_keeps_from_an_unknown_entry_kept_nothing() -> None:
    chain = Chain()
    chain.user()
    chain.compaction("nowhere")
    read_back = read(chain.data())
    assert read_back.entries[1].kept_seq is None
    assert kinds(read_back) == ["FILE_BROKEN_PARENT"]


def test_a_compaction_names_its_first_kept_entry() -> None:
    chain = Chain()
    chain.user("one")
    kept = chain.user("two")
    chain.compaction(kept)
    assert read(chain.data()).entries[2].kept_seq == 1


@pytest.mark.parametrize(("version", "role"), [(1, "custom"), (2, "custom"), (3, "hookMessage")])
def test_hook_messages_of_older_versions_become_custom(version: int, role: str) -> None:
    chain = Chain(version)
    chain.message("hookMessage", content="from a hook")
    (entry,) = read(chain.data()).entries
    assert entry.role == role
    assert b"hookMessage" in entry.raw


# Branches


def test_branches_end_at_their_leaves_and_the_last_entry_ends_the_shown_one() -> None:
    chain = short_session(turns=2)
    chain.user("Another way", below="e4")
    chain.assistant()
    parents = [e.parent_seq for e in read(chain.data()).entries]
    assert leaves(parents) == [7, 9]
    assert branch(parents, 9) == [0, 1, 2, 3, 8, 9]
    assert branch(parents, 7) == list(range(8))


def test_a_tree_of_nothing_has_no_leaves() -> None:
    assert leaves([]) == []


def test_drifted_files_are_read_with_what_is_strange_about_them() -> None:
    path = DATA / "transcripts" / "openclaw-8-schema-drift.jsonl"
    read_back = read_transcript([path.read_bytes()])
    assert [e.type for e in read_back.entries] == ["custom", *["message"] * 4, "compact"]
    assert [(p.line, p.kind) for p in read_back.problems] == [(5, "FILE_BROKEN_PARENT")]
    assert read_back.entries[-1].mark == "unknown_type"
