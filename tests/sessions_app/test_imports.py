"""Files into the database: once, only what is new, whatever happens in between."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions_app import window_writing
from sessions_app.importers import NotATranscript, read_transcript, records
from sessions_app.imports import import_file
from sessions_app.models import Entry, ImportProblem, Session, Team, Window
from sessions_app.payload import unpack
from tests.builders import Chain, short_session
from tests.conftest import Person, source_of
from tests.importers.reading import DATA, SAMPLES
from tests.importers.test_growing_files import messy_file

pytestmark = pytest.mark.django_db


def status(person: Person, data: bytes, name: str = "session.jsonl") -> str:
    return import_file(person.team, source_of(data, name)).status


def stored(session: Session) -> list[tuple[object, ...]]:
    """All that is kept of a session's entries, but the keys of the rows."""
    names = [
        f.name for f in Entry._meta.fields if f.name not in ("id", "window", "payload", "digest")
    ]
    rows = Entry.objects.filter(window__session=session).order_by("seq")
    return [
        (*(getattr(row, name) for name in names), bytes(row.digest), unpack(row.payload))
        for row in rows
    ]


def problems(session: Session) -> list[tuple[int, str]]:
    found = ImportProblem.objects.filter(window__session=session).order_by("line", "pk")
    return list(found.values_list("line", "kind"))


def test_a_session_is_stored_with_what_lists_show(alice: Person) -> None:
    session = alice.imports(short_session().data(), "2026/notes.jsonl")
    window = session.windows.get()
    assert (session.title, session.model) == ("notes", "claude-opus-4-5")
    assert (session.provider, session.source) == ("anthropic", "openclaw")
    assert (session.entry_count, window.entry_count, window.content_lines) == (8, 8, 9)
    assert window.external_id == "the-session"
    assert session.peak_tokens == 1180
    assert session.last_at is not None
    assert session.last_at.isoformat() == "2026-01-01T00:00:08+00:00"
    assert session.spark == [1020, 1080, 1120, 1180]
    assert session.facts == {
        "calls": 4,
        "turns": 2,
        "branches": 1,
        "compactions": 0,
        "flushes": 0,
        "peakBilled": 1180,
        "peakEstimated": session.facts["peakEstimated"],
        "billedCalls": 4,
        "marks": dict.fromkeys(("flush", "injected", "copy", "compact_command", "unknown_type"), 0),
        "last": 1180,
        "lines": 9,
        "problems": 0,
    }


def test_the_same_file_again_changes_nothing(alice: Person) -> None:
    data = short_session().data()
    session = alice.imports(data)
    before = (stored(session), Session.objects.values().get(), Window.objects.values().get())
    assert status(alice, data) == "unchanged"
    assert (
        stored(session),
        Session.objects.values().get(),
        Window.objects.values().get(),
    ) == before


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n \n"])
def test_the_end_of_the_file_may_be_written_in_any_way(alice: Person, end: bytes) -> None:
    data = short_session().data().rstrip(b"\n") + end
    session = alice.imports(data)
    assert status(alice, data) == "unchanged"
    assert session.entry_count == 8
    assert session.facts["lines"] == 9


def test_a_grown_file_adds_only_what_is_new(alice: Person) -> None:
    chain = short_session()
    session = alice.imports(chain.data())
    first = list(Entry.objects.values_list("pk", flat=True))
    chain.user("More")
    assert status(alice, chain.data()) == "extended"
    session.refresh_from_db()
    assert (session.entry_count, session.facts["turns"]) == (9, 3)
    assert list(Entry.objects.values_list("pk", flat=True))[:8] == first
    assert Session.objects.count() == 1


def test_a_header_that_grows_is_the_same_session(alice: Person) -> None:
    data = short_session().data()
    first = data.index(b"\n")
    alice.imports(data[:first])
    assert status(alice, data) == "extended"
    assert Session.objects.get().entry_count == 8


@pytest.mark.parametrize("split", [200, 333, 700, 1111])
def test_a_torn_tail_is_read_once_it_is_whole(alice: Person, split: int) -> None:
    data = short_session().data()
    torn = data[: data.index(b"\n", split) - 20]
    session = alice.imports(torn)
    assert [kind for _, kind in problems(session)] == ["FILE_TRUNCATED_TAIL"]
    assert session.facts["problems"] == 1
    assert status(alice, torn) == "unchanged"
    assert len(problems(session)) == 1
    assert status(alice, data) == "extended"
    session.refresh_from_db()
    assert (problems(session), session.entry_count, session.facts["problems"]) == ([], 8, 0)


@given(st.lists(st.integers(70, len(messy_file())), min_size=1, max_size=3))
@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_file_imported_while_it_grows_is_stored_as_the_whole_one(
    alice: Person, splits: list[int]
) -> None:
    Session.objects.all().delete()
    data = messy_file()
    splits = [max(split, data.index(b"\n")) for split in splits]
    for end in [*sorted(splits), len(data)]:
        import_file(alice.team, source_of(data[:end]))
    session = Session.objects.get()
    team = Team.objects.create(name="Reads the whole file")
    whole = import_file(team, source_of(data)).session
    assert stored(session) == stored(whole)
    session.refresh_from_db()
    assert session.facts == whole.facts | {"problems": session.facts["problems"]}
    assert sorted(problems(session)) == sorted(problems(whole))


def test_what_the_reader_must_remember_survives_the_database(alice: Person) -> None:
    """Ids no column takes, a flush turn that was rewritten, calls with strange names."""
    odd = ("x" * 300, "a\x00b", "\ud800", "a\nb", "")
    chain = Chain()
    chain.user("Continue the OpenClaw runtime event.")
    chain.assistant(calls=odd)
    again = chain.records[1] | {"id": "e1-again", "parentId": None}
    chain.records.append(again)
    chain.records.append(chain.records[2] | {"id": "y" * 200, "parentId": "e1-again"})
    session = alice.imports(chain.data())
    chain.leaf = "y" * 200
    for call in odd:
        chain.result(call)
    chain.user("And now")
    chain.compaction("y" * 200)
    assert status(alice, chain.data()) == "extended"
    whole = read_transcript([chain.data()])
    rows = Entry.objects.order_by("seq").values_list("parent_seq", "kept_seq", "mark")
    assert list(rows) == [(e.parent_seq, e.kept_seq, e.mark) for e in whole.entries]
    marks = [mark for _, _, mark in rows]
    assert marks == ["flush", "flush", "copy", "copy", *["flush"] * 5, "", ""]
    assert problems(session) == []


def test_a_file_that_went_another_way_is_a_session_of_its_own(alice: Person) -> None:
    one, other = short_session(), short_session()
    one.user("This way")
    other.user("That way")
    other.user("And on")
    first = alice.imports(one.data())
    assert status(alice, other.data()) == "imported"
    assert status(alice, one.data()) == "unchanged"
    assert Session.objects.count() == 2
    one.user("Further")
    assert status(alice, one.data()) == "extended"
    first.refresh_from_db()
    assert first.entry_count == 10


def test_a_shorter_copy_is_a_session_of_its_own(alice: Person) -> None:
    alice.imports(short_session(turns=2).data())
    assert status(alice, short_session(turns=1).data()) == "imported"


def test_another_team_has_its_own(alice: Person, bob: Person) -> None:
    data = short_session().data()
    assert status(alice, data) == "imported"
    assert status(bob, data) == "imported"
    assert Session.objects.filter(team=alice.team).count() == 1
    assert Session.objects.filter(team=bob.team).count() == 1


def test_what_is_no_transcript_leaves_nothing_behind(alice: Person) -> None:
    with pytest.raises(NotATranscript):
        alice.imports(b"hello\nworld\n")
    assert not Session.objects.exists()


class Crash(Exception):
    pass


@pytest.mark.parametrize("batches", [0, 1, 3])
def test_an_import_that_broke_off_goes_on_where_it_was(alice: Person, batches: int) -> None:
    data = short_session(turns=10).data()
    left = batches

    def progress(done: int) -> None:
        nonlocal left
        if left == 0:
            raise Crash
        left -= 1

    with patch.object(window_writing, "BATCH_ENTRIES", 6):
        with pytest.raises(Crash):
            import_file(alice.team, source_of(data), progress=progress)
        session = Session.objects.get()
        before = Entry.objects.count()
        assert before == 6 * (batches + 1)
        assert status(alice, data) == "extended"
    session.refresh_from_db()
    assert (session.entry_count, Entry.objects.count()) == (40, 40)
    assert session.facts["turns"] == 10
    assert Session.objects.get() == session


def test_a_batch_never_ends_inside_a_line(alice: Person) -> None:
    joined = short_session().data().replace(b"}\n{", b"}{").replace(b"}{", b"}\n{", 1)
    told: list[int] = []
    with patch.object(window_writing, "BATCH_ENTRIES", 3):
        import_file(alice.team, source_of(joined), progress=told.append)
    assert told == [len(joined)]
    assert Entry.objects.count() == 8


def test_an_import_that_broke_off_before_its_first_batch_leaves_no_second_session(
    alice: Person,
) -> None:
    data = short_session().data()
    with patch.object(window_writing, "entry_values", side_effect=Crash), pytest.raises(Crash):
        alice.imports(data)
    assert status(alice, data) == "extended"
    assert Session.objects.get().entry_count == 8


def test_progress_tells_the_bytes_that_are_settled(alice: Person) -> None:
    data = short_session(turns=10).data()
    told: list[int] = []
    with patch.object(window_writing, "BATCH_ENTRIES", 6):
        import_file(alice.team, source_of(data), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == len(data)
    assert len(told) == 7
    assert all(data[end - 1] == ord("\n") for end in told)


def test_problems_are_kept_with_the_bytes_they_are_about(alice: Person) -> None:
    session = alice.imports(short_session().data() + b"garb\x00age\n")
    assert problems(session) == [(10, "FILE_BAD_LINE")]
    assert bytes(ImportProblem.objects.get().raw) == b"garb\x00age"
    assert session.facts["problems"] == 1


def test_no_more_problems_are_kept_than_anybody_reads(alice: Person) -> None:
    with patch.object(window_writing, "MAX_PROBLEMS", 50):
        alice.imports(short_session().data() + b"garbage\n" * 200)
    assert ImportProblem.objects.count() == 50


def test_a_giant_file_says_so_also_when_it_has_grown_to_be_one(alice: Person) -> None:
    chain = short_session()
    with patch.object(records, "GIANT_FILE_BYTES", len(chain.data()) + 1):
        session = alice.imports(chain.data())
        assert problems(session) == []
        for _ in range(2):
            chain.user()
            status(alice, chain.data())
        assert problems(session) == [(0, "FILE_GIANT")]


def test_the_numbers_of_a_real_session(alice: Person) -> None:
    name = "pi-v3-1-two-compactions.jsonl"
    session = alice.imports((SAMPLES / name).read_bytes(), name)
    assert session.facts["lines"] == 1003
    assert session.facts["compactions"] == 2
    assert session.facts["peakBilled"] == 185_014
    assert (session.entry_count, session.peak_tokens) == (1002, 185_014)
    assert len(session.spark) == 60
    assert max(session.spark) == 185_014


def test_a_session_without_usage_says_that_nothing_was_billed(alice: Person) -> None:
    session = alice.imports((SAMPLES / "openclaw-1-large-tool-results.jsonl").read_bytes())
    assert session.facts["peakBilled"] is None
    assert session.facts["billedCalls"] == 0
    assert session.facts["peakEstimated"] > 0


def test_only_errors_of_a_provider_are_a_session_too(alice: Person) -> None:
    path = DATA / "transcripts" / "openclaw-6-provider-errors.jsonl"
    session = alice.imports(path.read_bytes())
    assert session.facts["calls"] == 4
    assert session.peak_tokens > 0
