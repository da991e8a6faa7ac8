"""A transcript file as the engine judges it: read once, whatever its size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from compaction_app.engine.retention.cycles import cycles_of
from compaction_app.engine.retention.losses import Loss, losses_of
from compaction_app.engine.retention.session_index import SessionIndex
from sessions_app.importers import NotATranscript, entries_of
from sessions_app.importers.records import giant_file
from sessions_app.tokens.exact import encoding_for
from sessions_app.transcripts.columns import UNKNOWN, columns_of_rows, row_of
from sessions_app.transcripts.measures import context_message, measure
from sessions_app.transcripts.signs import SignReader, Signs
from sessions_app.transcripts.timeline import Timeline, timeline
from sessions_app.transcripts.transcript import Entry, Header, JsonObject, Problem

CHUNK_BYTES: Final = 1 << 20
EXACT_BYTES: Final = 8 << 20
"""Larger files are not counted by their vocabulary, which is slow."""

BILLED_CALLS: Final = 2
"""Where the provider reported usage of so many calls no exact count is needed."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A transcript in one value; ``problems`` are the damage found in the file."""

    identity: str
    provider: str
    model: str
    grown: Timeline
    signs: Signs
    problems: tuple[Problem, ...]
    losses: tuple[Loss, ...] = ()


def read_recording(path: Path) -> Recording | str:
    """The recording in a file, or why it holds none."""
    try:
        recording = _read(path, None)
        if _needs_exact(recording, path):
            recording = _read(path, encoding_for(recording.model))
        if len(recording.grown.compactions.place):
            recording = replace(recording, losses=_losses(path, recording.grown))
    except NotATranscript as error:
        return str(error)
    except OSError as error:
        return f"It cannot be read: {error.strerror or error}."
    return recording


def _losses(path: Path, grown: Timeline) -> tuple[Loss, ...]:
    """What its compactions lost; the file is read again, for most files hold none."""
    index = SessionIndex()
    spans = zip(grown.compactions.kept.tolist(), grown.compactions.place.tolist(), strict=True)
    wanted = {seq for kept, place in spans for seq in grown.branch[kept:place].tolist()}
    tails: dict[int, JsonObject] = {}
    for entry in _Reader(path, None).entries():
        index.add((entry,))
        if entry.seq in wanted:
            tails[entry.seq] = context_message(entry.type, entry.record)

    def messages(seqs: Sequence[int]) -> list[JsonObject]:
        return [tails[seq] for seq in seqs if seq in tails]

    return losses_of(cycles_of(index, grown, messages))


def _needs_exact(recording: Recording, path: Path) -> bool:
    billed = int((recording.grown.billed_prompt != UNKNOWN).sum())
    return (
        billed < BILLED_CALLS and bool(recording.grown.calls) and path.stat().st_size < EXACT_BYTES
    )


def _read(path: Path, encoding: str | None) -> Recording:
    reader = _Reader(path, encoding)
    columns = columns_of_rows(reader.rows())
    size = giant_file(path.stat().st_size)
    problems = (*reader.problems, *([size] if size else ()))
    identity = reader.identity or path.name.split(".")[0]
    return Recording(
        identity, reader.provider, reader.model, timeline(columns), reader.signs.signs(), problems
    )


class _Reader:
    """Passes over a file and keeps what is no row."""

    def __init__(self, path: Path, encoding: str | None) -> None:
        self._path, self._encoding = path, encoding
        self.identity = self.provider = self.model = ""
        self.signs = SignReader()
        self.problems: list[Problem] = []

    def rows(self) -> Iterator[tuple[Any, ...]]:
        for entry in self.entries():
            self._name_model(entry)
            self.signs.add(entry)
            yield row_of(entry, measure(entry, self._encoding))

    def entries(self) -> Iterator[Entry]:
        with self._path.open("rb") as file:
            chunks = iter(lambda: file.read(CHUNK_BYTES), b"")
            for _, item in entries_of(chunks, at_rest=True):
                if isinstance(item, Problem):
                    self.problems.append(item)
                elif isinstance(item, Header):
                    self.identity = item.id
                else:
                    yield item

    def _name_model(self, entry: Entry) -> None:
        """The model of the first answer that the gateway did not write itself."""
        if self.model or entry.role != "assistant" or entry.mark == "injected":
            return
        provider, model = entry.message.get("provider"), entry.message.get("model")
        self.provider = provider if isinstance(provider, str) else ""
        self.model = model if isinstance(model, str) else ""
