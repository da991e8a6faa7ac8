"""A file that is no transcript is refused with what it is."""

from __future__ import annotations

import gzip

import pytest

from sessions_app.importers import read_transcript
from sessions_app.importers.formats import NotATranscript

LINES = '{"type": "session", "version": 3, "id": "s"}\n' * 3


def refused(data: bytes) -> str:
    with pytest.raises(NotATranscript) as caught:
        read_transcript([data])
    return str(caught.value)


@pytest.mark.parametrize("data", [b"", b"\n", b" \n \n"])
def test_an_empty_file_is_called_empty(data: bytes) -> None:
    assert refused(data).startswith("The file is empty")


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named_with_what_to_do(coding: str) -> None:
    text = refused(LINES.encode(coding))
    assert "UTF-16" in text and "iconv" in text


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(LINES.encode()),
        b"\x7fELF\x02\x01\x01" + bytes(40) + b"\x03\x00>\x00\x01",
        bytes(range(128, 256)) * 4,
    ],
)
def test_a_binary_file_is_called_binary(data: bytes) -> None:
    assert "binary" in refused(data)


@pytest.mark.parametrize("data", [b"hello\nworld\n", "日本語\n".encode() * 2_000, b'{"a": 1}\n'])
def test_text_that_is_no_session_is_told_which_formats_there_are(data: bytes) -> None:
    assert "Claude Code" in refused(data)
