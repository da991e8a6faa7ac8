"""What a compaction leaves behind for a person: one value, and the same as JSON.

It says which entries were summarised and which kept, what went to the summariser in which portions,
what came of every attempt, and what the quality check found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from compaction_app.engine.compaction.compact import DefaultPart
from compaction_app.engine.compaction.retry import Attempt
from compaction_app.engine.compaction.run import CompactionOrder, CompactionRun, RunOutcome
from compaction_app.engine.compaction.safeguard import SafeguardRun
from compaction_app.engine.compaction.safeguard_attempts import SummaryAttempt
from compaction_app.engine.compaction.summarise import (
    ChunkAttempts,
    ChunksRun,
    FallbackLevel,
    FallbackRun,
    StageReason,
    StagesRun,
)
from compaction_app.engine.compaction_mode import Mode
from sessions_app.tokens import javascript as js

Purpose = Literal["older_history", "history", "turn_prefix"]
Part = Literal["whole", "part", "merge"]


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """One portion of messages, as a row of a table: its range, its tokens and the tries to summarise it."""

    start: int
    end: int
    tokens: int
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """One pass over messages: its portions up to the one that failed, if any did, and why."""

    chunks: tuple[ChunkRow, ...]
    failure: str | None


@dataclass(frozen=True, slots=True)
class SummaryPass:
    """One text that came out of the summariser with its fallbacks.

    ``attempt`` numbers the attempts to pass the quality check from 1, and is none for older history.
    ``number`` counts the parts of a summary in stages from 1; ``stages`` says why there are stages or
    none. ``level`` is the way the text came about, ``oversized`` the messages it leaves out.
    """

    purpose: Purpose
    attempt: int | None
    stages: StageReason
    part: Part
    number: int | None
    level: FallbackLevel
    oversized: tuple[int, ...]
    passes: tuple[ChunkTable, ...]
    chars: int


@dataclass(frozen=True, slots=True)
class QualityRow:
    """One attempt before the quality check: what became of it, and the check's reasons."""

    attempt: int
    outcome: str
    reasons: tuple[str, ...]
    missing_identifiers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompactionRecord:
    """The whole record. Entries by their ids; tokens as estimated; texts are in the entry itself."""

    rule_set: str
    mode: Mode
    outcome: RunOutcome
    reason: str
    message: str | None
    entry_id: str | None
    first_kept_entry_id: str | None
    summarised: tuple[str, ...]
    turn_prefix: tuple[str, ...]
    kept: tuple[str, ...]
    tokens_before: float | None
    tokens_after: float | None
    provider: str | None
    model_calls: int
    summaries: tuple[SummaryPass, ...]
    quality: tuple[QualityRow, ...]
    identifiers: tuple[str, ...]
    latest_ask: str | None

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values, with keys as the API spells them."""
        return {_camel(key): _plain(value) for key, value in asdict(self).items()}


def record_of(
    path: Sequence[Mapping[str, Any]], order: CompactionOrder, run: CompactionRun
) -> CompactionRecord:
    """The record of a compaction of the branch's entries."""
    cut = run.prepared.cut if run.prepared else None
    safeguard, entry = run.safeguard, run.entry or {}
    attempts = safeguard.attempts if safeguard else None
    summaries = tuple(_summaries(safeguard)) if safeguard else ()
    if run.default is not None:
        summaries = tuple(_of_default(part) for part in run.default.parts)
    return CompactionRecord(
        rule_set=run.decision.rule_set,
        mode=order.mode,
        outcome=run.outcome,
        reason=run.decision.reason,
        message=run.message,
        entry_id=entry.get("id"),
        first_kept_entry_id=entry.get("firstKeptEntryId"),
        summarised=_ids(path, cut.history if cut else ()),
        turn_prefix=_ids(path, cut.turn_prefix if cut else ()),
        kept=_ids(path, cut.kept if cut else ()),
        tokens_before=run.tokens_before,
        tokens_after=run.tokens_after,
        provider=safeguard.provider if safeguard else None,
        model_calls=_model_calls(summaries),
        summaries=summaries,
        quality=tuple(_quality(attempts.attempts)) if attempts else (),
        identifiers=attempts.identifiers if attempts else (),
        latest_ask=attempts.latest_ask if attempts else None,
    )


def _ids(path: Sequence[Mapping[str, Any]], indices: Iterable[int]) -> tuple[str, ...]:
    return tuple(str(path[index].get("id")) for index in indices)


def _summaries(run: SafeguardRun) -> Iterator[SummaryPass]:
    if run.history is not None and run.history.run is not None:
        yield from _of_stages(run.history.run, "older_history", None)
    for number, attempt in enumerate(run.attempts.attempts if run.attempts else (), 1):
        if attempt.history is not None:
            yield from _of_stages(attempt.history, "history", number)
        if attempt.split_turn is not None:
            yield from _of_stages(attempt.split_turn, "turn_prefix", number)


def _of_stages(stages: StagesRun, purpose: Purpose, attempt: int | None) -> Iterator[SummaryPass]:
    for index, run in enumerate(stages.runs):
        part: Part = "whole"
        if stages.parts:
            part = "part" if index < len(stages.parts) else "merge"
        number = index + 1 if part == "part" else None
        yield _of_fallback(run, purpose, attempt, stages.reason, part, number)


def _of_fallback(
    run: FallbackRun,
    purpose: Purpose,
    attempt: int | None,
    stages: StageReason,
    part: Part,
    number: int | None,
) -> SummaryPass:
    tables = tuple(_table(one) for one in run.runs)
    return SummaryPass(
        purpose,
        attempt,
        stages,
        part,
        number,
        run.level,
        run.oversized,
        tables,
        js.utf16_len(run.summary),
    )


def _of_default(part: DefaultPart) -> SummaryPass:
    """Without the safeguard everything is one portion, and no failure is made up for."""
    attempt = part.attempt
    row = ChunkRow(0, part.messages, part.tokens, (attempt,))
    return SummaryPass(
        purpose="turn_prefix" if part.is_turn_prefix else "history",
        attempt=1,
        stages="one_part",
        part="whole",
        number=None,
        level="full" if attempt.outcome == "answered" else "unavailable",
        oversized=(),
        passes=(ChunkTable((row,), attempt.error),),
        chars=part.chars,
    )


def _table(run: ChunksRun) -> ChunkTable:
    return ChunkTable(tuple(map(_row, run.chunks)), run.failure.message if run.failure else None)


def _row(done: ChunkAttempts) -> ChunkRow:
    return ChunkRow(done.chunk.start, done.chunk.end, done.chunk.tokens, done.attempts)


def _quality(attempts: Sequence[SummaryAttempt]) -> Iterator[QualityRow]:
    for number, attempt in enumerate(attempts, 1):
        check = attempt.check
        reasons = check.reasons if check else ()
        missing = (check.missing_identifiers if check else None) or ()
        yield QualityRow(number, attempt.outcome, reasons, missing)


def _model_calls(summaries: Iterable[SummaryPass]) -> int:
    tables = (table for summary in summaries for table in summary.passes)
    return sum(len(chunk.attempts) for table in tables for chunk in table.chunks)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_camel(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
