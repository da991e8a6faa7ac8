"""A strategy for damaged session files: a sound one, and things that happen to files."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.sessions_app.transcript_lines import HEADER, assistant, compaction, entry, user

CALL = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a.py"}}
RESULT = {
    "role": "toolResult", "toolCallId": "c1", "toolName": "read", "isError": False, "timestamp": 4,
    "content": [{"type": "text", "text": "x = 1"}],
}  # fmt: skip
USAGE = {"input": 900, "output": 20, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 920}
SOUND: list[dict[str, Any]] = [
    HEADER,
    user("a", None, "read a.py \U0001f600 汉字"),
    entry(
        "b", "a", message={"role": "assistant", "content": [CALL], "usage": USAGE, "timestamp": 3}
    ),
    entry("c", "b", message=RESULT),
    assistant("d", "c"),
    entry("e", "d", "model_change", provider="p", modelId="m"),
    entry("f", "e", "custom_message", customType="x", content="in", display=True),
    compaction("g", "f", "c"),
    entry("h", "g", "branch_summary", fromId="root", summary="B"),
    user("i", "h", "go on"),
]
LINES = [json.dumps(line, ensure_ascii=False).encode() for line in SOUND]
KEYS = sorted({key for line in SOUND for key in line} | RESULT.keys() | CALL.keys())

WRONG = (
    b"null", b"true", b"-1", b"0", b"1e999", b"1" * 400, b'""', b'"\\ud83d"', b'"\\u0000"', b"[]", b"{}",
    b"[[[]]]", b"[null]", b'{"type":null}', b"NaN", b'"' + b"y" * 70_000 + b'"',
    b"[" * 400 + b"]" * 400, b'{"a":' * 3000 + b"1" + b"}" * 3000, b"[" * 100_000,
)  # fmt: skip
"""Values of the wrong type, of odd content, giant and deeply nested ones, and some that are no JSON."""

BYTES = (b"\x00", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n", b"\xff\xfe", b"\xed\xa0\x80", b"\xc3", b"{", b'"', b"\\", b"}{", b"\xe2\x80\xa8")  # fmt: skip

Damage = Callable[[list[bytes]], list[bytes]]


def _put(at: int, piece: bytes) -> Damage:
    """Bytes inserted somewhere in the file."""

    def damaged(lines: list[bytes]) -> list[bytes]:
        data = b"\n".join(lines)
        place = at % (len(data) + 1)
        return (data[:place] + piece + data[place:]).split(b"\n")

    return damaged


def _cut(at: int, length: int) -> Damage:
    """Bytes that are gone; at the end, a file that was torn off."""

    def damaged(lines: list[bytes]) -> list[bytes]:
        data = b"\n".join(lines)
        place = at % (len(data) + 1)
        return (data[:place] + data[place + length :]).split(b"\n")

    return damaged


def _weave(at: int, other: int) -> Damage:
    """Two writers at once: the half of one line, another line, and the other half."""

    def damaged(lines: list[bytes]) -> list[bytes]:
        one, two = lines[at % len(lines)], lines[other % len(lines)]
        half = len(one) // 2
        woven = [one[:half] + two, one[half:]]
        return [*lines[: at % len(lines)], *woven, *lines[at % len(lines) + 1 :]]

    return damaged


def _move(at: int, to: int) -> Damage:
    """A line elsewhere, or (to itself) twice."""

    def damaged(lines: list[bytes]) -> list[bytes]:
        place = to % len(lines)
        return [*lines[:place], lines[at % len(lines)], *lines[place:]]

    return damaged


def _swap(key: str, value: bytes) -> Damage:
    """Another value for a key, wherever it first stands."""

    def damaged(lines: list[bytes]) -> list[bytes]:
        mark = b'"%s": ' % key.encode()
        for number in range(len(lines) - 1, -1, -1):
            before, found, after = lines[number].partition(mark)
            if found:
                rest = after[after.find(b",") :] if b"," in after else b"}"
                return [*lines[:number], before + mark + value + rest, *lines[number + 1 :]]
        return lines

    return damaged


def _crlf(lines: list[bytes]) -> list[bytes]:
    return [line + b"\r" for line in lines]


PLACES = st.integers(0, 5000)
DAMAGE: st.SearchStrategy[Damage] = st.one_of(
    st.builds(_put, PLACES, st.sampled_from(BYTES + WRONG) | st.binary(max_size=6)),
    st.builds(_cut, PLACES, st.integers(1, 2000)),
    st.builds(_weave, PLACES, PLACES),
    st.builds(_move, PLACES, PLACES),
    st.builds(_swap, st.sampled_from(KEYS), st.sampled_from(WRONG)),
    st.just(_crlf),
)


def _file(damages: list[Damage], version: int, last_newline: bool) -> bytes:
    head = LINES[0].replace(b'"version": 3', b'"version": %d' % version)
    lines = [head, *LINES[1:]]
    for damage in damages:
        lines = damage(lines)
    return b"\n".join(lines) + b"\n" * last_newline


HOSTILE = st.builds(
    _file, st.lists(DAMAGE, max_size=4), st.sampled_from([1, 2, 3, 3, 3]), st.booleans()
) | st.binary(max_size=300)
"""The bytes of a file that was sound once, and bytes that never were a file."""
