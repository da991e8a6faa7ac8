"""Which files are transcripts: one clear message for those that are not."""

from __future__ import annotations

import pytest

from sessions_app.importers import NotATranscript, read_transcript
from tests.builders import header, jsonl, short_session
from tests.importers.reading import DATA

OTHERS = sorted((DATA / "other_agents").iterdir())
OURS = sorted((DATA / "transcripts").glob("*.jsonl"))


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.name)
def test_files_of_other_agents_are_refused(path: object) -> None:
    with pytest.raises(NotATranscript, match="No session transcript"):
        read_transcript([path.read_bytes()])  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_real_files_are_known(path: object) -> None:
    assert read_transcript([path.read_bytes()]).entries  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"hello\n",
        b"\x00" * 100,
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
        b'{\n "type": "session",\n "id": "pretty printed"\n}\n',
        b'[{"type":"session","id":"x"}]\n',
        b'{"type":"session","id":5}\n',
        b'{"type":"session","version":9,"id":"x"}\n',
        b'{"type":["session"],"id":"x"}\n',
        b'{"type":"message","role":"user","content":[]}\n',
        b'{"type":"message","message":"text"}\n',
    ],
)
def test_what_is_no_transcript_gets_one_message(data: bytes) -> None:
    with pytest.raises(NotATranscript):
        read_transcript([data])


def test_a_file_may_begin_with_a_few_bad_lines() -> None:
    read_back = read_transcript([b"junk\n" * 19 + short_session().data()])
    assert len(read_back.entries) == 8
    assert len(read_back.problems) == 19


def test_a_file_must_show_soon_what_it_is() -> None:
    with pytest.raises(NotATranscript):
        read_transcript([b"junk\n" * 20 + short_session().data()])


def test_a_header_alone_is_a_transcript() -> None:
    assert read_transcript([jsonl(header())]).header is not None
