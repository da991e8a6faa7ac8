"""A session's transcript read as the file it will be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.turn.state import SessionState, file_reader
from sessions_app.tokens import javascript as js

TEXTS = st.lists(st.text(max_size=80), max_size=8)


def session(texts, header=20):
    entries = [
        {"type": "message", "id": str(n), "parentId": str(n - 1) if n else None, "text": text}
        for n, text in enumerate(texts)
    ]
    return SessionState(header_bytes=header).with_entries(entries)


@given(TEXTS, st.data())
def test_reading_backwards_gives_the_bytes_of_the_file(texts, data):
    state = session(texts)
    lines = b"".join(
        js.json_text(e).encode("utf-8", "surrogatepass") + b"\n" for e in state.entries
    )
    whole = b" " * (state.byte_size - len(lines)) + lines
    assert state.byte_size == len(whole)
    read = file_reader(state)
    end = state.byte_size
    while end > 0:
        size = data.draw(st.integers(1, end))
        assert read(end - size, size) == whole[end - size : end]
        end -= size


def test_there_is_no_file_before_the_first_entry():
    assert SessionState(header_bytes=150).byte_size == 0


def test_an_entry_that_hangs_elsewhere_opens_another_branch():
    state = session(["a", "b", "c"])
    moved = state.with_entries(({"type": "message", "id": "9", "parentId": "0"},))
    assert [entry["id"] for entry in moved.branch] == ["0", "9"]
