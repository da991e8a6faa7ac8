"""Why entries are no part of the conversation."""

from __future__ import annotations

import pytest

from sessions_app.transcripts.transcript import branch, leaves
from tests.builders import Chain, short_session
from tests.importers.reading import read


def test_the_turn_of_a_memory_flush_is_marked_until_the_next_user() -> None:
    chain = short_session()
    chain.user("Continue the OpenClaw runtime event.")
    chain.assistant(calls=("f",))
    chain.result("f")
    chain.assistant("NO_REPLY")
    chain.user("Back to work")
    chain.assistant()
    marks = [e.mark for e in read(chain.data()).entries]
    assert marks == [""] * 8 + ["flush"] * 4 + [""] * 2


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("/compact", "compact_command"),
        ("  /compact keep the names", "compact_command"),
        ("/compactly", ""),
        ("please /compact", ""),
    ],
)
def test_a_typed_compact_is_marked_with_its_turn(text: str, mark: str) -> None:
    chain = Chain()
    chain.user(text)
    chain.assistant()
    assert [e.mark for e in read(chain.data()).entries] == [mark, mark]


def test_a_reply_that_the_gateway_wrote_is_marked() -> None:
    chain = Chain()
    chain.user()
    chain.assistant("Context overflow", provider="openclaw", model="delivery-mirror")
    chain.assistant()
    assert [e.mark for e in read(chain.data()).entries] == ["", "injected", ""]


def test_types_that_no_version_knows_are_kept_and_marked() -> None:
    chain = Chain()
    chain.add("telemetry", data={"role": "user"}, message={"role": "user", "content": "/compact"})
    chain.user()
    chain.add("leaf", targetId="e1")
    chain.records.append({"type": ["list"], "id": "odd", "parentId": "e3"})
    chain.records.append({"id": "none", "parentId": "odd"})
    entries = read(chain.data()).entries
    assert [e.mark for e in entries] == ["unknown_type", "", "", "unknown_type", "unknown_type"]
    assert [e.type for e in entries] == ["telemetry", "message", "leaf", "", ""]


def test_what_a_session_rewrite_appended_again_is_a_copy() -> None:
    chain = short_session(turns=1)
    rewritten = [dict(r) for r in chain.records[3:]]
    rewritten[0] |= {
        "message": rewritten[0]["message"] | {"content": [{"type": "text", "text": "cut"}]}
    }
    for number, record in enumerate(rewritten):
        parent = "e2" if number == 0 else f"again{number - 1}"
        chain.records.append(record | {"id": f"again{number}", "parentId": parent})
    read_back = read(chain.data())
    assert [e.mark for e in read_back.entries] == [""] * 4 + ["copy"] * 2
    parents = [e.parent_seq for e in read_back.entries]
    assert branch(parents, 5) == [0, 1, 4, 5]
    assert leaves(parents) == [3, 5]


def test_the_same_words_said_twice_on_one_branch_are_no_copy() -> None:
    chain = Chain()
    for _ in range(3):
        chain.user("Go on")
        chain.records[-1]["message"]["timestamp"] = 5
    assert [e.mark for e in read(chain.data()).entries] == ["", "", ""]


def test_messages_without_a_time_of_their_own_are_never_copies() -> None:
    chain = Chain()
    chain.user("Hi")
    chain.user("Hi", below=None)
    for record in chain.records[1:]:
        del record["message"]["timestamp"]
    assert [e.mark for e in read(chain.data()).entries] == ["", ""]


def test_a_compaction_appended_again_is_a_copy_even_on_its_own_branch() -> None:
    chain = short_session(turns=1)
    chain.compaction("e3")
    chain.compaction("e3")
    marks = [e.mark for e in read(chain.data()).entries if e.type == "compaction"]
    assert marks == ["", "copy"]


def test_two_compactions_with_a_user_between_them_are_two() -> None:
    chain = short_session(turns=1)
    chain.compaction("e3")
    chain.user()
    chain.compaction("e3")
    marks = [e.mark for e in read(chain.data()).entries if e.type == "compaction"]
    assert marks == ["", ""]
