"""A file that is followed: what is new at once, nothing twice, whatever becomes of the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from sessions_app import tape
from sessions_app.file_following import FileFollower
from sessions_app.importers import read_transcript
from sessions_app.models import Entry, Event, ImportProblem, Session, Window
from sessions_app.rows import entries_of_window
from sessions_app.store_following import StoreFollower
from sessions_app.watching import FolderWatch, folder_of
from tests.builders import header, jsonl, short_session
from tests.conftest import Person
from tests.importers.reading import DATA
from tests.stores import Store

pytestmark = pytest.mark.django_db

LINES = jsonl(*short_session(turns=5).records).splitlines(keepends=True)


class Followed:
    """A folder with one file that grows and is looked at."""

    def __init__(self, person: Person, folder: Path) -> None:
        self.path = folder / "s.jsonl"
        self.watch = FolderWatch(folder_of(person.team, folder))

    def write(self, *lines: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(lines))

    def look(self) -> int:
        return self.watch.look()

    @property
    def follower(self) -> FileFollower:
        (follower,) = self.watch.followers.values()
        assert isinstance(follower, FileFollower)
        return follower


@pytest.fixture
def file(alice: Person, tmp_path: Path) -> Followed:
    return Followed(alice, tmp_path)


def stored() -> list[Any]:
    return [
        (e.seq, e.line, e.id, e.parent_seq, e.mark) for e in entries_of_window(Window.objects.get())
    ]


def whole(data: bytes) -> list[Any]:
    return [(e.seq, e.line, e.id, e.parent_seq, e.mark) for e in read_transcript([data]).entries]


def test_lines_are_stored_as_they_come(file: Followed) -> None:
    for line in LINES:
        file.write(line)
        assert file.look() == 1
        assert file.look() == 0
    assert stored() == whole(b"".join(LINES))
    assert Session.objects.count() == 1


def test_no_byte_is_read_twice(file: Followed) -> None:
    file.write(*LINES[:3])
    file.look()
    file.write(LINES[3])
    file.look()
    read: list[bytes] = []
    real = tape.Tape.chunks

    def chunks(self: tape.Tape) -> Iterator[bytes]:
        held = len(self._held)
        for number, chunk in enumerate(real(self)):
            if number >= held:
                read.append(chunk)
            yield chunk

    with patch.object(tape.Tape, "chunks", chunks):
        for line in LINES[4:]:
            file.write(line[:30])
            file.look()
            file.write(line[30:])
            file.look()
    assert b"".join(read) == b"".join(LINES[4:])
    assert stored() == whole(b"".join(LINES))


def test_a_line_that_is_written_in_pieces_is_one_entry_without_a_complaint(file: Followed) -> None:
    file.write(*LINES[:3])
    file.look()
    for part in (LINES[3][:10], LINES[3][10:50]):
        file.write(part)
        file.look()
        assert Entry.objects.count() == 2
        assert [p.kind for p in ImportProblem.objects.all()] == ["FILE_TRUNCATED_TAIL"]
    file.write(LINES[3][50:])
    file.look()
    assert Entry.objects.count() == 3
    assert not ImportProblem.objects.exists()


def test_every_piece_of_news_is_an_event_of_the_session(file: Followed) -> None:
    file.write(*LINES[:3])
    file.look()
    file.write(LINES[3])
    file.look()
    file.write(LINES[4], LINES[5])
    file.look()
    told = Event.objects.order_by("sequence").values_list("sequence", "kind", "data")
    assert list(told)[1:] == [
        (2, "entries", {"from": 2, "count": 1}),
        (3, "entries", {"from": 3, "count": 2}),
    ] or list(told)[2:] == [(3, "entries", {"from": 3, "count": 2})]


def test_the_facts_of_a_session_follow_when_nothing_has_come_for_a_while(file: Followed) -> None:
    file.write(*LINES[:3])
    file.look()
    file.write(*LINES[3:6])
    file.look()
    file.write(*LINES[6:])
    file.look()
    with patch("sessions_app.watching.monotonic", return_value=1e12):
        file.look()
    session = Session.objects.get()
    assert (session.entry_count, session.facts["turns"]) == (20, 5)
    assert session.last_event == Event.objects.count()


def test_a_file_that_was_cut_and_goes_on_is_the_session_it_then_is(file: Followed) -> None:
    file.write(*LINES[:9])
    file.look()
    file.path.write_bytes(b"".join(LINES[:3]))
    file.look()
    file.write(*LINES[3:5])
    file.look()
    newest = Window.objects.order_by("pk").last()
    assert newest is not None
    assert [e.seq for e in entries_of_window(newest)] == list(range(4))


def test_a_file_in_the_place_of_another_is_a_session_of_its_own(
    file: Followed, tmp_path: Path
) -> None:
    file.write(*LINES[:9])
    file.look()
    other = tmp_path / "new.tmp"
    other.write_bytes(jsonl(header(3, "other"), *short_session(turns=9).records[1:]))
    other.rename(file.path)
    assert file.look() == 1
    assert sorted(Window.objects.values_list("external_id", flat=True)) == ["other", "the-session"]


def test_bytes_that_were_changed_in_place_are_noticed(file: Followed) -> None:
    file.write(*LINES[:5])
    file.look()
    file.write(LINES[5])
    file.look()
    changed = b"".join(LINES[:5]) + LINES[5].rstrip()[:-1] + b',"x":1}\n' + LINES[6]
    file.path.write_bytes(changed)
    file.look()
    assert Session.objects.count() == 2


def test_a_file_that_is_gone_keeps_its_session_and_may_come_back(file: Followed) -> None:
    file.write(*LINES[:5])
    file.look()
    file.path.unlink()
    assert file.watch.look([file.path]) == 0
    file.write(*LINES)
    file.look()
    assert Session.objects.count() == 1
    assert stored() == whole(b"".join(LINES))


def test_a_watcher_that_starts_again_goes_on_where_the_other_was(
    alice: Person, tmp_path: Path
) -> None:
    first = Followed(alice, tmp_path)
    first.write(*LINES[:4])
    first.look()
    first.write(*LINES[4:6])
    second = Followed(alice, tmp_path)
    list(second.watch.begin())
    second.write(*LINES[6:8])
    second.look()
    first.write(*LINES[8:])
    first.look()  # behind the other by now
    second.look()
    assert Session.objects.count() == 1
    assert stored() == whole(b"".join(LINES))


@pytest.mark.parametrize("name", ["claude-code-9-head", "codex-4-head", "kimi-wire-3-head"])
def test_files_of_other_agents_are_followed_to_the_same_end(file: Followed, name: str) -> None:
    data = (DATA / "other_agents" / f"{name}.jsonl").read_bytes()
    lines = data.splitlines(keepends=True)[:40]
    for at in range(0, len(lines), 3):
        file.write(*lines[at : at + 3])
        file.look()
    assert stored() == whole(b"".join(lines))
    assert file.follower.error == ""


def test_what_is_no_transcript_is_said_and_tried_again(file: Followed) -> None:
    file.write(b"hello\n")
    file.look()
    assert "No session transcript" in file.follower.error
    assert file.watch.report(0)
    assert "No session transcript" in file.watch.folder.error
    file.path.write_bytes(b"".join(LINES))
    file.look()
    assert file.follower.error == ""
    assert Session.objects.count() == 1


def test_a_watcher_learns_that_its_folder_was_taken_away(file: Followed) -> None:
    assert file.watch.report(0)
    file.watch.folder.__class__.objects.all().delete()
    assert not file.watch.report(0)


def test_rows_of_a_live_store_are_stored_as_they_come(alice: Person, tmp_path: Path) -> None:
    store = Store(tmp_path / "agents" / "main" / "agent")
    records = [header(4, "s1"), *short_session(turns=5).records[1:]]
    store.session("s1", records[:3])
    watch = FolderWatch(folder_of(alice.team, tmp_path))
    list(watch.begin())
    assert Session.objects.get().entry_count == 2
    for record in records[3:]:
        store.append("s1", [record])
        assert watch.look([store.path.with_name(f"{store.path.name}-wal")]) == 1
        assert watch.look() == 0
    store.session("s2", [header(4, "s2"), *records[1:3]], previous="s1", reason="reset")
    assert watch.look() == 1
    assert sorted(Session.objects.values_list("entry_count", flat=True)) == [2, 20]
    (follower,) = watch.followers.values()
    assert isinstance(follower, StoreFollower)
    assert Event.objects.count() >= 18
    store.close()


@pytest.mark.parametrize("way", ["in place", "by rename"])
def test_a_document_that_is_written_anew_with_every_message_stays_one_session(
    file: Followed, way: str
) -> None:
    messages = [
        {
            "id": f"m{n}",
            "timestamp": f"2026-01-01T00:00:{n:02}Z",
            "type": "user",
            "content": "go on",
        }
        for n in range(4)
    ]
    for count in range(1, 5):
        document = {"sessionId": "g", "projectHash": "p", "messages": messages[:count]}
        path = file.path.with_name("session-1.json")
        place = path.with_suffix(".new") if way == "by rename" else path
        place.write_text(json.dumps(document, indent=2))
        place.rename(path)
        assert file.look() == 1
        assert file.look() == 0
        assert Session.objects.get().entry_count == count
