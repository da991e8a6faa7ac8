"""A compaction without the safeguard: one summary, or two for a split turn (spec compaction 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compaction_app.engine.compaction.failures import ABORT_NAME, Failure
from compaction_app.engine.compaction.file_operations import (
    FileLists,
    file_lists,
    unbounded_file_section,
)
from compaction_app.engine.compaction.prepare import Preparation
from compaction_app.engine.compaction.quality import NO_HISTORY
from compaction_app.engine.compaction.requests import ModelAnswer, ModelCall, ParallelCalls, Steps
from compaction_app.engine.compaction.turns_section import SPLIT_TURN_HEADING
from sessions_app.tokens import javascript as js

SECTION_BREAK = "\n\n---\n\n"
CompactError = Literal["aborted", "summarization_failed"]


@dataclass(frozen=True, slots=True)
class DefaultCompaction:
    """The summary to store, or why there is none. ``calls`` is how many summaries were asked for."""

    summary: str | None
    files: FileLists
    calls: int
    error: CompactError | None = None
    message: str | None = None


def default_compaction(
    preparation: Preparation, reserve_tokens: float, custom_instructions: str | None
) -> Steps[DefaultCompaction]:
    """Summarise once, also when there is nothing to summarise; a split turn's beginning apart."""
    history = ModelCall(
        messages=preparation.messages,
        reserve_tokens=reserve_tokens,
        previous_summary=preparation.previous_summary,
        instructions=custom_instructions,
    )
    files = file_lists(preparation.file_operations)
    if not (preparation.is_split_turn and preparation.turn_prefix):
        answer: ModelAnswer = yield history
        return _result((answer,), files, 1)
    prefix = ModelCall(preparation.turn_prefix, reserve_tokens, turn_prefix=True)
    if not preparation.messages:
        answer = yield prefix
        return _result((NO_HISTORY, answer), files, 1)
    answers: tuple[ModelAnswer, ...] = yield ParallelCalls((history, prefix))
    return _result(answers, files, 2)


def _result(answers: tuple[ModelAnswer, ...], files: FileLists, calls: int) -> DefaultCompaction:
    """Join the summaries; the first of them that failed fails the compaction."""
    texts = []
    for answer, what in zip(answers, ("S", "Turn prefix s"), strict=False):
        if isinstance(answer, Failure):
            if answer.name == ABORT_NAME:
                return DefaultCompaction(None, files, calls, "aborted", answer.message)
            message = f"{what}ummarization failed: {answer.message or 'Unknown error'}"
            return DefaultCompaction(None, files, calls, "summarization_failed", message)
        texts.append(answer or "")
    summary = texts[0]
    if len(texts) > 1:
        summary = js.concat((summary, SECTION_BREAK, SPLIT_TURN_HEADING, texts[1]))
    return DefaultCompaction(js.concat((summary, unbounded_file_section(files))), files, calls)
