"""Random sessions for property tests: transcripts of any shape that the runtime could have written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from compaction_app.engine.simulation.inputs import SessionFiles
from sessions_app.importers import read_transcript
from sessions_app.transcripts.timestamps import iso_text

START_MS = 1_764_590_400_000
FLUSH_TEXT = "Continue the OpenClaw runtime event."
TEXTS = (
    "plain words, again and again ",
    "a line of a log\nand another one\n",
    '{"key": [1, 2, 3], "error": "none"}\n',
    "漢字とかなと한글 ",
    "\U0001f600 emoji and text ",
    "NO_REPLY",
    "[media attached: file.png] seen ",
)
STOPS = ("stop", "stop", "stop", "stop", "error", "aborted", "length")


def text_of(number: int, chars: int) -> str:
    """A text of about so many characters."""
    piece = TEXTS[number % len(TEXTS)]
    return (piece * (chars // len(piece) + 1))[: max(chars, 1)] if chars >= len(piece) else piece


@dataclass
class Writer:
    """Writes entries; prompts are billed by what was said so far."""

    density: float
    with_usage: bool
    entries: list[dict[str, Any]] = field(default_factory=list)
    at_ms: int = START_MS
    tokens: int = 2_500
    calls: int = 0

    def add(self, kind: str, **fields: Any) -> None:
        number = len(self.entries)
        parent = self.entries[-1]["id"] if number else None
        entry = {"type": kind, "id": f"a{number:07x}", "parentId": parent}
        self.entries.append({**entry, "timestamp": iso_text(self.at_ms), **fields})

    def message(self, role: str, content: Any, **fields: Any) -> None:
        self.add(
            "message", message={"role": role, "content": content, "timestamp": self.at_ms, **fields}
        )
        self.tokens += len(json.dumps(content, ensure_ascii=False)) // 4

    def answer(self, content: list[dict[str, Any]], stop: str, output: int) -> None:
        self.at_ms += 900
        usage: dict[str, Any] = {}
        if self.with_usage:
            prompt = round(self.tokens * self.density)
            usage = {"usage": {"input": prompt, "output": output, "cacheRead": 0, "cacheWrite": 0, "totalTokens": prompt + output}}  # fmt: skip
        failed = {"errorMessage": "prompt is too long: 210000 tokens > 200000 maximum"} if stop == "error" else {}  # fmt: skip
        self.message(
            "assistant", content, stopReason=stop, provider="zai", model="m", **usage, **failed
        )

    def calling(self, calls: int, chars: int, number: int, answered: int) -> None:
        """An answer that calls tools, and the results of ``answered`` of them."""
        ids = [f"call-{self.calls + i}" for i in range(calls)]
        self.calls += calls
        blocks = [{"type": "toolCall", "id": i, "name": "exec", "arguments": {"command": "ls " * (number % 9)}} for i in ids]  # fmt: skip
        self.answer(
            [{"type": "thinking", "thinking": "hm " * (number % 30)}, *blocks], "toolUse", 80
        )
        for place, identity in enumerate(ids[:answered]):
            self.at_ms += 400
            content: list[dict[str, Any]] = [
                {"type": "text", "text": text_of(number + place, chars)}
            ]
            if number % 11 == 0:
                content.append({"type": "image", "data": "aaaa", "mimeType": "image/png"})
            self.message("toolResult", content, toolCallId=identity, toolName="exec", isError=False)


@st.composite
def steps(draw: st.DrawFn) -> tuple[str, int, int, int]:
    kind = draw(
        st.sampled_from(
            ["turn"] * 6
            + ["tools"] * 8
            + [
                "unanswered",
                "compact",
                "custom",
                "label",
                "bash",
                "late",
                "compaction",
                "flush",
                "pictures",
                "injected",
            ]
        )
    )
    chars = draw(st.integers(1, 3_000) | st.integers(3_000, 40_000))
    return kind, chars, draw(st.integers(0, 40)), draw(st.integers(1, 3))


def write(writer: Writer, step: tuple[str, int, int, int]) -> None:
    kind, chars, number, count = step
    writer.at_ms += (number % 5) * 200_000 + 1_000
    said = text_of(number, min(chars, 4_000))
    if kind == "turn":
        writer.message("user", said if number % 3 else [{"type": "text", "text": said}])
        output = 300 if number % 7 else 0
        writer.answer(
            [{"type": "text", "text": text_of(number // 2, chars // 4)}],
            STOPS[number % len(STOPS)],
            output,
        )
    elif kind == "tools":
        writer.message("user", [{"type": "text", "text": said[:300]}])
        for again in range(count):
            writer.calling(
                1 + number % 3, chars, number + again, 1 + number % 3 - (number % 13 == 0)
            )
        if number % 8:
            writer.answer(
                [{"type": "text", "text": text_of(number, 500)}], STOPS[number % len(STOPS)], 120
            )
    elif kind == "unanswered":
        writer.message("user", said)
    elif kind == "compact":
        writer.message("user", "/compact" + (" keep the names" if number % 2 else ""))
    elif kind == "custom":
        writer.add("custom_message", customType="note", content=said, display=bool(number % 2))
    elif kind == "label":
        writer.add("session_info", name="a name")
    elif kind == "bash":
        writer.message("bashExecution", "", command="ls", output=said, exitCode=0)
    elif kind == "late":
        writer.answer([{"type": "text", "text": said}], "stop", 50)
    elif kind == "compaction" and len(writer.entries) > 3:
        kept = writer.entries[-1 - number % 3]
        writer.tokens = 4_000
        writer.add("compaction", summary=text_of(number, chars // 8), firstKeptEntryId=kept["id"], tokensBefore=9_000, fromHook=False)  # fmt: skip
    elif kind == "flush":
        writer.message("user", [{"type": "text", "text": FLUSH_TEXT}])
        writer.answer([{"type": "text", "text": "NO_REPLY" if number % 2 else said}], "stop", 9)
    elif kind == "pictures":
        picture = {"type": "image", "data": "bbbb", "mimeType": "image/png"}
        writer.message("user", [{"type": "text", "text": said}, picture])
        writer.answer([{"type": "text", "text": "Seen."}], "stop", 4)
    elif kind == "injected":
        message = {"role": "assistant", "content": [{"type": "text", "text": "Context overflow"}], "provider": "openclaw", "model": "gateway-injected"}  # fmt: skip
        writer.add("message", message=message)


def files_of(entries: list[dict[str, Any]], index: Mapping[str, Any]) -> SessionFiles:
    header = {"type": "session", "version": 3, "id": "s", "timestamp": iso_text(START_MS)}
    lines = (
        json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
        for line in [header, *entries]
    )
    read = read_transcript(["".join(lines).encode()])
    return SessionFiles((read,), {}, index)


CALM = st.tuples(
    st.sampled_from(["turn", "tools"]),
    st.integers(1, 6_000),
    st.sampled_from([1, 2, 3, 9, 10, 15, 17, 23, 29, 30, 31, 37]),
    st.integers(1, 3),
)
"""Turns with nothing unusual in them."""


@st.composite
def sessions(draw: st.DrawFn, calm: bool = False) -> SessionFiles:
    """A session with what lies beside it; a ``calm`` one is longer, with hardly anything unusual."""
    usage = calm or draw(st.integers(0, 9)) > 0
    writer = Writer(draw(st.sampled_from([0.6, 1.0, 1.37, 3.0])), usage)
    kinds = CALM | CALM | CALM | CALM | CALM | steps() if calm else steps()
    for step in draw(st.lists(kinds, min_size=1, max_size=40 if calm else 14)):
        write(writer, step)
    index: dict[str, Any] = {"modelProvider": "zai", "model": draw(st.sampled_from(["m", "other"]))}
    if draw(st.booleans()):
        index["systemPromptReport"] = {
            "systemPrompt": {"chars": draw(st.integers(0, 30_000))},
            "currentTurn": {"promptChars": draw(st.integers(0, 5_000))},
        }
    return files_of(writer.entries, index)
