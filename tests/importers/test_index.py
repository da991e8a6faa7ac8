"""``sessions.json``: whatever it holds, reading it never fails."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.importers.index import read_index


def test_entries_are_found_by_their_session() -> None:
    entries = {
        "agent:main:main": {"sessionId": "s1", "totalTokens": 7},
        "other": {"sessionId": "s2"},
    }
    index = read_index(json.dumps(entries).encode())
    assert index.problems == ()
    assert index.by_session_id["s1"].key == "agent:main:main"
    assert index.by_session_id["s1"].entry["totalTokens"] == 7
    assert set(index.by_session_id) == {"s1", "s2"}


@pytest.mark.parametrize("data", [b"", b" \n"])
def test_an_empty_file_is_an_empty_index(data: bytes) -> None:
    index = read_index(data)
    assert not index.by_session_id
    assert [p.kind for p in index.problems] == ["INDEX_EMPTY"]


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b"12", b"\xff\xfe", b'{"a":{"sessionId":"s","n":NaN}}', b"[" * 100_000]
)
def test_an_unreadable_file_is_an_empty_index_and_is_kept(data: bytes) -> None:
    index = read_index(data)
    assert not index.by_session_id
    assert [(p.kind, p.raw) for p in index.problems] == [("INDEX_UNREADABLE", data)]


def test_entries_that_are_no_objects_are_said_and_cost_only_themselves() -> None:
    index = read_index(b'{"a":5,"b":{"sessionId":"s"},"c":{"sessionId":9},"d":{}}')
    assert set(index.by_session_id) == {"s"}
    assert ["'a'" in p.message for p in index.problems] == [True]


def test_lone_surrogates_are_read_as_the_runtime_reads_them() -> None:
    index = read_index(b'{"k":{"sessionId":"s","label":"\\ud83d"}}')
    assert index.by_session_id["s"].entry["label"] == "\ud83d"


@given(st.binary(max_size=60))
def test_no_bytes_make_it_fail(data: bytes) -> None:
    read_index(data)
