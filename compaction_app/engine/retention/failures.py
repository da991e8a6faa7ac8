"""What went wrong: the telling line of a tool result that failed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sessions_app.tokens import javascript as js

MAX_LINE: Final = 200
_LOOKED_AT: Final = 20_000
_TELLING = re.compile(
    r"\w+(?:Error|Exception)\b|(?:error|fatal|panic|E)\s*[:\[]|ERR!?|command not found|No such file"
    r"|Permission denied|cannot |failed|错误|失败|Traceback",
    re.IGNORECASE,
)
_TRACEBACK = re.compile(r"Traceback", re.IGNORECASE)


def has_failed(message: Mapping[str, Any]) -> bool:
    """Whether a tool result says that its call failed: by its mark, its exit code or its status."""
    if message.get("isError") is True:
        return True
    details = message.get("details")
    if not isinstance(details, Mapping):
        return False
    code = details.get("exitCode")
    return (js.is_finite(code) and code != 0) or details.get("status") in ("failed", "error")


def telling_line(texts: Sequence[tuple[int, str]]) -> tuple[int, int, int]:
    """Where the line stands that says what went wrong: its block, first and last character.

    ``texts`` are the texts of the result with the numbers of their blocks. The last line that names an
    error counts; without one the first line there is. Nothing to see is (0, 0, 0).
    """
    for block, text in texts:
        for start, end in _lines_from_the_end(text, max(len(text) - _LOOKED_AT, 0)):
            named = _TELLING.search(text, start, end)
            if named is not None and not _TRACEBACK.match(text, start):
                if end - start <= MAX_LINE:
                    return block, start, end
                first = max(named.start() - MAX_LINE // 2, start)
                return block, first, min(end, first + MAX_LINE)
    for block, text in texts:
        stripped = text.strip()
        if stripped:
            start = text.index(stripped[0])
            line = text[start:].partition("\n")[0].rstrip()
            return block, start, start + min(len(line), MAX_LINE)
    return 0, 0, 0


def _lines_from_the_end(text: str, first: int) -> Iterator[tuple[int, int]]:
    """First and last character of each line that begins behind ``first``, or stands there."""
    end = len(text)
    while end >= first:
        start = max(text.rfind("\n", first, end) + 1, first)
        yield start, end
        end = start - 1
