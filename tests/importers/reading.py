"""Short ways to read bytes in tests."""

from __future__ import annotations

from pathlib import Path

from sessions_app.importers import Position, entries_of, openclaw, read_transcript
from sessions_app.importers.blocks import BEGINNING
from sessions_app.transcripts.transcript import Entry, Header, Problem, Transcript
from tests.builders import line

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sessions_app" / "samples"
DATA = ROOT / "tests" / "data"


def read(*parts: bytes | dict[str, object]) -> Transcript:
    """A file of these parts: records get their line end, bytes are taken as they are."""
    data = b"".join(part if isinstance(part, bytes) else line(part) + b"\n" for part in parts)
    return read_transcript([data])


def kinds(transcript: Transcript) -> list[str]:
    return [problem.kind for problem in transcript.problems]


def ids(transcript: Transcript) -> list[str]:
    return [entry.id for entry in transcript.entries]


class Live:
    """A file that is read again and again while it grows, each time from where the last ended."""

    def __init__(self) -> None:
        self.state = openclaw.ReaderState()
        self.at: Position = BEGINNING
        self.entries: list[Entry] = []
        self.problems: list[Problem] = []

    def read(self, data: bytes) -> None:
        """``data`` is the whole file as it is now."""
        self.problems = [p for p in self.problems if p.kind != "FILE_TRUNCATED_TAIL"]
        for end, item in entries_of([data[self.at.offset :]], self.state, self.at):
            self.at = end
            if isinstance(item, Entry):
                self.entries.append(item)
            elif not isinstance(item, Header):
                self.problems.append(item)
