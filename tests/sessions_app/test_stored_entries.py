"""What is stored of an entry: its bytes as they were, and numbers that every database takes."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from sessions_app.importers import read_transcript
from sessions_app.models import Entry
from sessions_app.payload import record_of, unpack
from sessions_app.rows import columns_of_window
from sessions_app.transcripts.columns import columns_of_entries
from sessions_app.transcripts.measures import measure
from tests.builders import Chain, header, line
from tests.conftest import Person
from tests.importers.test_growing_files import messy_file

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "漢字 かな 한글",
        "🎈👩‍👩‍👧",
        "\ud83d half",
        "a\x00b",
        "x" * 5000,
        "漢" * 5000,
        "\u2028\ufeff",
    ],
)
def test_every_text_comes_back_byte_for_byte(alice: Person, text: str) -> None:
    escaped = json.dumps(header()).encode() + b"\n" + json.dumps(
        {"type": "message", "id": text[:9], "parentId": None, "message": {"role": text[:40],
         "provider": text, "model": text, "content": text}}
    ).encode()  # fmt: skip
    alice.imports(escaped)
    entry = Entry.objects.get()
    assert unpack(entry.payload) == escaped.split(b"\n")[1]
    assert record_of(entry.payload)["message"]["content"] == text


def test_bytes_that_are_no_utf8_come_back_as_they_were(alice: Person) -> None:
    raw = b'{"type":"custom","id":"a","parentId":null,"data":"caf\xe9"}'
    alice.imports(line(header()) + b"\n" + raw + b"\n")
    entry = Entry.objects.get()
    assert unpack(entry.payload) == raw
    assert record_of(entry.payload)["data"] == "caf\ufffd"


def test_numbers_no_column_holds_are_bounded(alice: Person) -> None:
    chain = Chain()
    chain.assistant(used={"input": 1e300, "output": 1e300, "cacheRead": -5})
    chain.compaction("e1", before=10**30)
    chain.records[1]["timestamp"] = 1e200
    session = alice.imports(chain.data())
    entry = Entry.objects.get(seq=0)
    assert (entry.usage_input, entry.usage_cache_read, entry.at_ms) == (2**53 - 1, 0, None)
    assert session.facts["calls"] == 1


def test_columns_of_stored_and_of_read_entries_are_equal(alice: Person) -> None:
    data = messy_file()
    session = alice.imports(data)
    entries = read_transcript([data]).entries
    expected = columns_of_entries((e, measure(e, session.encoding)) for e in entries)
    found = columns_of_window(session.windows.get())
    for column in fields(expected):
        left, right = getattr(found, column.name), getattr(expected, column.name)
        assert list(left) == list(right), column.name
