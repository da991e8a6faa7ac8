"""A transcript file as the engine judges it: read once, whatever its size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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

Chunks = Callable[[], Iterable[bytes]]
"""A transcript's bytes from its beginning, anew with every call."""

BILLED_CALLS: Final = 2
"""Where the provider reported usage of so many calls no exact count is needed."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A transcript in one value; ``problems`` are the damage found in the file, ``size`` its bytes.

    ``header_version`` is that of OpenClaw's own form, none for other agents and without a header.
    """

    identity: str
    provider: str
    model: str
    grown: Timeline
    signs: Signs
    problems: tuple[Problem, ...]
    losses: tuple[Loss, ...] = ()
    size: int = 0
    header_version: int | None = None


def read_recording(path: Path) -> Recording | str:
    """The recording in a file, or why it holds none."""
    try:
        return recording_of(lambda: _chunks_of(path), path.name.split(".")[0])
    except OSError as error:
        return f"It cannot be read: {error.strerror or error}."


def recording_of(chunks: Chunks, name: str) -> Recording | str:
    """The recording in a transcript, or why it holds none; ``name`` is its identity where it tells none."""
    try:
        recording = _read(chunks, name, None)
        if _needs_exact(recording):
            recording = _read(chunks, name, encoding_for(recording.model))
        if len(recording.grown.compactions.place):
            recording = replace(recording, losses=_losses(chunks, recording.grown))
    except NotATranscript as error:
        return str(error)
    return recording


def _chunks_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from iter(lambda: file.read(CHUNK_BYTES), b"")


def _losses(chunks: Chunks, grown: Timeline) -> tuple[Loss, ...]:
    """What its compactions lost; the file is read again, for most files hold none."""
    index = SessionIndex()
    spans = zip(grown.compactions.kept.tolist(), grown.compactions.place.tolist(), strict=True)
    wanted = {seq for kept, place in spans for seq in grown.branch[kept:place].tolist()}
    tails: dict[int, JsonObject] = {}
    for entry in _Reader(chunks, None).entries():
        index.add((entry,))
        if entry.seq in wanted:
            tails[entry.seq] = context_message(entry.type, entry.record)

    def messages(seqs: Sequence[int]) -> list[JsonObject]:
        return [tails[seq] for seq in seqs if seq in tails]

    return losses_of(cycles_of(index, grown, messages))


def _needs_exact(recording: Recording) -> bool:
    billed = int((recording.grown.billed_prompt != UNKNOWN).sum())
    return billed < BILLED_CALLS and bool(recording.grown.calls) and recording.size < EXACT_BYTES


def _read(chunks: Chunks, name: str, encoding: str | None) -> Recording:
    reader = _Reader(chunks, encoding)
    columns = columns_of_rows(reader.rows())
    size = giant_file(reader.size)
    return Recording(
        identity=reader.identity or name,
        provider=reader.provider,
        model=reader.model,
        grown=timeline(columns),
        signs=reader.signs.signs(),
        problems=(*reader.problems, *([size] if size else ())),
        size=reader.size,
        header_version=reader.header_version,
    )


class _Reader:
    """Passes over a transcript and keeps what is no row."""

    def __init__(self, chunks: Chunks, encoding: str | None) -> None:
        self._chunks, self._encoding = chunks, encoding
        self.size = 0
        self.identity = self.provider = self.model = ""
        self.header_version: int | None = None
        self.signs = SignReader()
        self.problems: list[Problem] = []

    def rows(self) -> Iterator[tuple[Any, ...]]:
        for entry in self.entries():
            self._name_model(entry)
            self.signs.add(entry)
            yield row_of(entry, measure(entry, self._encoding))

    def entries(self) -> Iterator[Entry]:
        for _, item in entries_of(self._counted(), at_rest=True):
            if isinstance(item, Problem):
                self.problems.append(item)
            elif isinstance(item, Header):
                self.identity = item.id
                self.header_version = item.version if item.source == "openclaw" else None
            else:
                yield item

    def _counted(self) -> Iterator[bytes]:
        for chunk in self._chunks():
            self.size += len(chunk)
            yield chunk

    def _name_model(self, entry: Entry) -> None:
        """The model of the first answer that the gateway did not write itself."""
        if self.model or entry.role != "assistant" or entry.mark == "injected":
            return
        provider, model = entry.message.get("provider"), entry.message.get("model")
        self.provider = provider if isinstance(provider, str) else ""
        self.model = model if isinstance(model, str) else ""
