"""Bytes come back as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.payload import COMPRESS_FROM, SIZE_WITHIN, pack, raw_size, record_of, unpack


@given(st.binary(max_size=2000).map(lambda inner: b"{" + inner))
def test_bytes_come_back_as_they_were(raw: bytes) -> None:
    assert unpack(pack(raw)) == raw
    assert unpack(memoryview(pack(raw))) == raw
    assert len(pack(raw)) <= len(raw)


def test_long_texts_take_less_room() -> None:
    raw = b'{"text":"' + b"the same again " * 1000 + b'"}'
    assert len(pack(raw)) < len(raw) / 20
    assert pack(raw[: COMPRESS_FROM - 1]) == raw[: COMPRESS_FROM - 1]


def test_records_with_lone_surrogates_can_be_read() -> None:
    assert record_of(b'{"text":"\\ud83d"}') == {"text": "\ud83d"}
    assert record_of(b'{"text":"\\u0000caf\xe9"}') == {"text": "\x00caf\ufffd"}
    assert record_of(b"[1]") == {}


@given(st.binary(max_size=3_000).filter(lambda raw: not raw.startswith(b"\x28\xb5\x2f\xfd")))
def test_the_size_is_told_by_the_first_bytes(raw: bytes) -> None:
    stored = pack(raw)
    assert raw_size(stored[:SIZE_WITHIN], len(stored)) == len(raw)


def test_the_size_of_a_giant_is_told_by_the_first_bytes() -> None:
    for size in (511, 512, 70_000, 17_000_000):
        stored = pack(b"x" * size)
        assert raw_size(stored[:SIZE_WITHIN], len(stored)) == size
