"""Files as large and as damaged as people's, made anew each time: no sample of that size is kept.

Sizes and counts are those of real reports.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.builders import header, iso, jsonl, usage

WORDS = "The quick brown fox jumps over the lazy dog while the agent reads another file. "
CJK = "记忆压缩之后代理会忘记早先的决定。"


def _entry(number: int, kind: str, **fields: Any) -> dict[str, Any]:
    above = f"e{number - 1}" if number > 1 else None
    return {"type": kind, "id": f"e{number}", "parentId": above, "timestamp": iso(number), **fields}


def _message(number: int, text: str) -> dict[str, Any]:
    """A question, a call, its result and an answer, in turns."""
    at = {"timestamp": 1_767_225_600_000 + number}
    turn, place = divmod(number - 1, 4)
    call = f"call-{turn}"
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": text},
        {
            "role": "assistant",
            "content": [
                {"type": "toolCall", "id": call, "name": "read", "arguments": {"path": "a"}}
            ],
            "usage": usage(2_000 + turn, 30),
        },
        {
            "role": "toolResult",
            "toolCallId": call,
            "toolName": "read",
            "isError": False,
            "content": [{"type": "text", "text": text}],
        },
        {
            "role": "assistant",
            "content": [{"type": "text", "text": text}],
            "usage": usage(2_100 + turn, 40),
            "model": "gpt-5",
            "provider": "openai",
        },
    ]
    return _entry(number, "message", message={**messages[place], **at})


def session(lines: int, size: int, giant_chars: int = 0, cjk: bool = False) -> Iterator[bytes]:
    """A session of so many lines and about so many bytes; one line of ``giant_chars`` in its middle."""
    yield jsonl(header(3, "giant"))
    words = CJK * 4 if cjk else WORDS
    each = max(((size - giant_chars) // lines - 340) * 4 // 3, 8)  # three of four hold it
    text = (words * (each // len(words.encode()) + 1)).encode()[:each].decode("utf-8", "ignore")
    for number in range(1, lines):
        record = _message(number, text)
        if giant_chars and number == lines // 2:
            spare = giant_chars - len(json.dumps(_message(number, "")))
            record = _message(number, (words * (spare // len(words) + 1))[:spare])
        yield json.dumps(record, ensure_ascii=False).encode() + b"\n"


def eighty_megabytes() -> Iterator[bytes]:
    return session(9_522, 80 << 20, giant_chars=662_194)


def twenty_six_thousand_lines() -> Iterator[bytes]:
    return session(25_927, 113 << 20)


def one_giant_line(cjk: bool = False) -> Iterator[bytes]:
    return session(9, 20_000, giant_chars=12_800_000, cjk=cjk)


def repeated_bootstraps(count: int = 1_635) -> Iterator[bytes]:
    yield jsonl(header(3, "bootstraps"))
    for number in range(1, count + 1):
        kind = "openclaw:bootstrap-context:full"
        yield jsonl(_entry(number, "custom", customType=kind, data={"files": [WORDS]}))


def damaged() -> tuple[bytes, dict[int, str]]:
    """One file with every kind of damage, and by line what is to be said of it."""
    sound = [json.dumps(_message(number, WORDS)).encode() for number in range(1, 41)]
    lines = [jsonl(header(3, "damaged")).rstrip(), *sound]
    lines[0] = b"\xef\xbb\xbf" + lines[0]
    lines[4] += b"\r"
    lines[5] = b"\x00\x00" + lines[5]
    lines[9] = lines[9].replace(b"quick", b"qu\xffck")
    lines[13] += lines[14]
    lines[14] = b""
    lines[17] = b"{garbage"
    lines[21] = b"[" * 100_000
    lines[25] = lines[25].replace(b'"2026-', b'"2999-')
    lines[29] = lines[29].replace(b'"timestamp": 17', b'"timestamp": "17').replace(b"}}", b'"}}')
    lines[33] = lines[33].replace(b'"e33"', b'"e32"')
    told = {
        10: "FILE_BAD_ENCODING",
        14: "FILE_JOINED_RECORDS",
        18: "FILE_BAD_LINE",
        22: "FILE_BAD_LINE",
        19: "FILE_BROKEN_PARENT",
        23: "FILE_BROKEN_PARENT",
        34: "FILE_DUPLICATE_ID",
        35: "FILE_BROKEN_PARENT",
        42: "FILE_TRUNCATED_TAIL",
    }
    return b"\n".join([*lines, sound[-1][:100]]), told


def write(path: Path, chunks: Iterator[bytes]) -> Path:
    with path.open("wb") as file:
        file.writelines(chunks)
    return path
