"""How messages become one summary: chunk by chunk, with fallbacks, in stages (spec compaction 1.5).

Three levels, each built on the one before. ``summarise_chunks`` may fail; ``summarise_with_fallback``
and ``summarise_in_stages`` always end with a text. Every level returns the record of what it did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from compaction_app.engine.compaction.chunks import (
    DEFAULT_PARTS,
    Chunk,
    chunk_by_max_tokens,
    is_oversized,
    normalise_parts,
    split_by_token_share,
)
from compaction_app.engine.compaction.failures import Failure, failure_kind
from compaction_app.engine.compaction.instructions import (
    IdentifierPolicy,
    effective_instructions,
    merge_instructions,
)
from compaction_app.engine.compaction.quality import NO_HISTORY
from compaction_app.engine.compaction.requests import ModelCall, Steps
from compaction_app.engine.compaction.retry import Attempt, call_with_retries
from compaction_app.engine.pruning.tool_calls import without_details
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import is_runtime_context, messages_tokens

if TYPE_CHECKING:
    from compaction_app.engine.compaction.versions import CompactionRules

MIN_MESSAGES_FOR_STAGES = 4
PARTIAL_FAILURE = "partial summarization failure"

FallbackLevel = Literal["nothing", "full", "without_oversized", "partial", "unavailable"]
StageReason = Literal["nothing", "one_part", "too_few_messages", "fits_one_chunk", "not_divisible", "staged"]  # fmt: skip


@dataclass(frozen=True, slots=True)
class SummariserRules:
    """``keeps_partial``: what was summarised before a chunk failed is kept.

    ``always_tries_small``: the second attempt runs also when no message was oversized.
    """

    keeps_partial: bool
    always_tries_small: bool


SUMMARISER_2026_3 = SummariserRules(keeps_partial=False, always_tries_small=True)
SUMMARISER_2026_4_20 = SummariserRules(keeps_partial=False, always_tries_small=False)
SUMMARISER_2026_5_28 = SummariserRules(keeps_partial=True, always_tries_small=False)


@dataclass(frozen=True, slots=True)
class SummaryTask:
    """What to summarise and how: sizes in tokens, texts as configured."""

    messages: Sequence[Mapping[str, Any]]
    max_chunk_tokens: float
    context_window: float
    reserve_tokens: int
    previous_summary: str | None = None
    custom_instructions: str | None = None
    identifiers: IdentifierPolicy = field(default_factory=IdentifierPolicy)
    parts: float = DEFAULT_PARTS
    min_messages_for_stages: int = MIN_MESSAGES_FOR_STAGES

    @property
    def unchanged(self) -> str:
        """The summary when nothing is added to it."""
        return NO_HISTORY if self.previous_summary is None else self.previous_summary


@dataclass(frozen=True, slots=True)
class ChunkAttempts:
    """One chunk of a pass and the attempts to summarise it."""

    chunk: Chunk
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True)
class ChunksRun:
    """One pass over all chunks, each continuing the summary of those before.

    ``summary`` is none when it failed; then ``failure`` says why, and ``partial`` is the summary of
    the chunks before the one that failed, where the version keeps it. Chunks index the messages
    without the ``left_out`` runtime-context messages.
    """

    summary: str | None
    failure: Failure | None
    partial: str | None
    chunks: tuple[ChunkAttempts, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class FallbackRun:
    """A summary that came about in one way or another: ``level`` says in which.

    ``oversized`` are the indices of the messages that the second attempt left out.
    """

    summary: str
    level: FallbackLevel
    oversized: tuple[int, ...] = ()
    runs: tuple[ChunksRun, ...] = ()


@dataclass(frozen=True, slots=True)
class StagesRun:
    """A summary in stages: one run per part, then the run that merges them.

    Without stages (``reason`` says why) there is one run over everything.
    """

    summary: str
    reason: StageReason
    parts: tuple[Chunk, ...] = ()
    runs: tuple[FallbackRun, ...] = ()


def summarise_chunks(task: SummaryTask, rules: CompactionRules) -> Steps[ChunksRun]:
    """Summarise chunk after chunk; the first chunk that finally fails ends the pass."""
    messages = _for_the_model(task.messages, rules)
    left_out = len(task.messages) - len(messages)
    chunks = chunk_by_max_tokens(messages, task.max_chunk_tokens, rules.chunks)
    instructions = effective_instructions(
        task.custom_instructions, task.identifiers, rules.instructions
    )
    summary = task.previous_summary
    done: list[ChunkAttempts] = []
    for number, chunk in enumerate(chunks, 1):
        part = messages[chunk.start : chunk.end]
        portion = (number, len(chunks))
        call = ModelCall(part, task.reserve_tokens, summary, instructions, portion=portion)
        answer, attempts = yield from call_with_retries(call, rules.failures)
        done.append(ChunkAttempts(chunk, attempts))
        if isinstance(answer, Failure):
            return _failed(answer, summary, done, len(chunks), left_out, rules)
        summary = answer
    text = NO_HISTORY if summary is None else summary
    return ChunksRun(text, None, None, tuple(done), left_out)


def summarise_with_fallback(task: SummaryTask, rules: CompactionRules) -> Steps[FallbackRun]:
    """Everything; else what is not oversized, with notes; else a partial summary; else a notice."""
    if not task.messages:
        return FallbackRun(task.unchanged, "nothing")
    full = yield from summarise_chunks(task, rules)
    if full.summary is not None:
        return FallbackRun(full.summary, "full", (), (full,))
    oversized = tuple(
        i
        for i, message in enumerate(task.messages)
        if is_oversized(message, task.context_window, rules.chunks)
    )
    notes = [_note(task.messages[i], rules) for i in oversized]
    partial = full.partial
    runs: tuple[ChunksRun, ...] = (full,)
    left_out = set(oversized)
    small = [m for i, m in enumerate(task.messages) if i not in left_out]
    if small and (notes or rules.summariser.always_tries_small):
        second = yield from summarise_chunks(replace(task, messages=small), rules)
        runs = (full, second)
        if second.summary is not None:
            return FallbackRun(_with(second.summary, notes), "without_oversized", oversized, runs)
        if second.partial is not None:
            partial = _with(second.partial, notes)
    if partial is not None:
        return FallbackRun(partial, "partial", oversized, runs)
    return FallbackRun(_notice(len(task.messages), len(notes)), "unavailable", oversized, runs)


def summarise_in_stages(task: SummaryTask, rules: CompactionRules) -> Steps[StagesRun]:
    """Summarise the parts one by one and merge them, when they are too much for one pass."""
    if not task.messages:
        return StagesRun(task.unchanged, "nothing")
    reason, parts = _parts(task, rules)
    if reason != "staged":
        whole = yield from summarise_with_fallback(task, rules)
        return StagesRun(whole.summary, reason, (), (whole,))
    runs = []
    for part in parts:
        messages = task.messages[part.start : part.end]
        one = replace(task, messages=messages, previous_summary=None)
        runs.append((yield from summarise_with_fallback(one, rules)))
    merge = replace(
        task,
        messages=[{"role": "user", "content": run.summary} for run in runs],
        custom_instructions=merge_instructions(task.custom_instructions),
    )
    runs.append((yield from summarise_with_fallback(merge, rules)))
    return StagesRun(runs[-1].summary, reason, tuple(parts), tuple(runs))


def _parts(task: SummaryTask, rules: CompactionRules) -> tuple[StageReason, list[Chunk]]:
    count = normalise_parts(task.parts, len(task.messages))
    if count == 1:
        return "one_part", []
    if len(task.messages) < max(2, task.min_messages_for_stages):
        return "too_few_messages", []
    if messages_tokens(task.messages, rules.chunks.tokens) <= task.max_chunk_tokens:
        return "fits_one_chunk", []
    parts = split_by_token_share(task.messages, count, rules.chunks)
    return ("staged", parts) if len(parts) > 1 else ("not_divisible", [])


def _for_the_model(
    messages: Sequence[Mapping[str, Any]], rules: CompactionRules
) -> Sequence[Mapping[str, Any]]:
    """Without the details of tool results, which no summariser may see, nor runtime context."""
    if rules.chunks.tokens.drops_runtime_context:
        messages = [message for message in messages if not is_runtime_context(message)]
    return without_details(messages)


def _failed(
    failure: Failure,
    summary: str | None,
    done: Sequence[ChunkAttempts],
    count: int,
    left_out: int,
    rules: CompactionRules,
) -> ChunksRun:
    """The end of a pass: a plain error behind finished chunks leaves their summary as a partial one."""
    finished = len(done) - 1
    partial = None
    is_plain = failure_kind(failure, rules.failures) == "error"
    if rules.summariser.keeps_partial and finished and is_plain:
        failure = Failure("Error", PARTIAL_FAILURE, failure)
        partial = (
            f"{summary or ''}\n\n[Partial summary: chunks 1-{finished} of {count} were summarized. "
            f"Chunks {finished + 1}-{count} could not be processed.]"
        )
    return ChunksRun(None, failure, partial, tuple(done), left_out)


def _note(message: Mapping[str, Any], rules: CompactionRules) -> str:
    thousands = js.round_half_up(messages_tokens((message,), rules.chunks.tokens) / 1000)
    return f"[Large {message.get('role') or 'message'} (~{thousands}K tokens) omitted from summary]"


def _with(summary: str, notes: Sequence[str]) -> str:
    return "\n\n".join((summary, "\n".join(notes))) if notes else summary


def _notice(count: int, oversized: int) -> str:
    return (
        f"Context contained {count} messages ({oversized} oversized). "
        "Summary unavailable due to size limits."
    )
