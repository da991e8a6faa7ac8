"""Small transcripts with predictable ids, and the timelines they grow into."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sessions_app.importers import read_transcript
from sessions_app.transcripts.columns import columns_of_entries
from sessions_app.transcripts.measures import measure
from sessions_app.transcripts.timeline import Timeline, timeline

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z"}
FLUSH_TEXT = "Continue the OpenClaw runtime event."


@dataclass(slots=True)
class Script:
    """A transcript being written: entry ``n`` has the id ``e<n>`` and follows entry ``n - 1``."""

    entries: list[dict[str, Any]] = field(default_factory=list)

    def add(self, kind: str, **fields: Any) -> Script:
        number = len(self.entries)
        entry = {
            "type": kind,
            "id": f"e{number}",
            "parentId": f"e{number - 1}" if number else None,
            "timestamp": f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z",
            **fields,
        }
        self.entries.append(entry)
        return self

    def message(self, role: str, content: Any, **fields: Any) -> Script:
        return self.add("message", message={"role": role, "content": content, **fields})

    def user(self, chars: int | str = 400) -> Script:
        return self.message("user", chars if isinstance(chars, str) else "u" * chars)

    def answer(self, chars: int = 400, prompt: int | None = None, output: int = 100) -> Script:
        """A model call; without ``prompt`` its provider reported nothing."""
        usage = {} if prompt is None else {"usage": {"input": prompt, "output": output}}
        content = [{"type": "text", "text": "a" * chars}]
        return self.message("assistant", content, provider="mock", model="m", **usage)

    def result(self, chars: int | str) -> Script:
        text = chars if isinstance(chars, str) else "r" * chars
        blocks = [{"type": "text", "text": text}]
        return self.message("toolResult", blocks, toolCallId="c", toolName="read")

    def injected(self) -> Script:
        usage = {"input": 0, "output": 0}
        return self.message(
            "assistant",
            "Context overflow",
            provider="openclaw",
            model="gateway-injected",
            usage=usage,
        )

    def compaction(self, kept: str, summary: str = "s" * 400) -> Script:
        return self.add("compaction", summary=summary, firstKeptEntryId=kept, tokensBefore=9_000)

    def grown(self) -> Timeline:
        return grown_from(text_of(self.entries).encode())


def text_of(entries: Iterable[Mapping[str, Any]]) -> str:
    """The transcript file."""
    return "".join(json.dumps(line) + "\n" for line in [HEADER, *entries])


def grown_from(data: bytes) -> Timeline:
    """The timeline of a transcript file."""
    read = read_transcript([data])
    return timeline(columns_of_entries((entry, measure(entry)) for entry in read.entries))


def chat(
    turns: int,
    overhead: int = 3_000,
    density: float = 1.0,
    chars: int = 2_000,
    user_chars: int = 400,
) -> Script:
    """``turns`` questions and answers, billed as ``overhead`` plus ``density`` a token before them."""
    script, tokens = Script(), 0
    for _ in range(turns):
        script.user(user_chars)
        tokens += -(-user_chars // 4)
        answer = -(-chars // 4)
        script.answer(
            chars, prompt=overhead + round(density * tokens), output=round(density * answer)
        )
        tokens += answer
    return script


ROOT = Path(__file__).resolve().parents[2]


def run_folder(name: str) -> Path:
    """Where the transcript and the configuration of a recorded run lie."""
    sample = ROOT / "sessions_app" / "samples" / name
    return sample if sample.is_dir() else ROOT / "tests" / "data" / "runs" / name


def run_events(name: str) -> list[dict[str, Any]]:
    """What a recorded run's log says happened."""
    text = (ROOT / "tests" / "data" / "runs" / name / "events.json").read_text()
    return list(json.loads(text))
