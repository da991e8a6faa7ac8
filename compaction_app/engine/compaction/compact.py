"""A compaction without the safeguard: one summary, or two for a split turn (spec compaction 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from compaction_app.engine.compaction.failures import ABORT_NAME, Failure
from compaction_app.engine.compaction.file_operations import (
    FileLists,
    file_lists,
    unbounded_file_section,
)
from compaction_app.engine.compaction.prepare import Preparation
from compaction_app.engine.compaction.quality import NO_HISTORY
from compaction_app.engine.compaction.requests import ModelAnswer, ModelCall, ParallelCalls, Steps
from compaction_app.engine.compaction.retry import Attempt, last_outcome
from compaction_app.engine.compaction.turns_section import SPLIT_TURN_HEADING
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import messages_tokens

if TYPE_CHECKING:
    from compaction_app.engine.compaction.versions import CompactionRules

SECTION_BREAK = "\n\n---\n\n"
CompactError = Literal["aborted", "summarization_failed"]


@dataclass(frozen=True, slots=True)
class DefaultPart:
    """One summary that was asked for: the beginning of a split turn or not, how many messages and
    tokens it is of, what came of the one attempt, and the characters of the text if there is one."""

    is_turn_prefix: bool
    messages: int
    tokens: int
    attempt: Attempt
    chars: int


@dataclass(frozen=True, slots=True)
class DefaultCompaction:
    """The summary to store, or why there is none. ``parts`` are the summaries that were asked for."""

    summary: str | None
    files: FileLists
    parts: tuple[DefaultPart, ...]
    error: CompactError | None = None
    message: str | None = None


def default_compaction(
    preparation: Preparation,
    reserve_tokens: float,
    custom_instructions: str | None,
    rules: CompactionRules,
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
        return _result((answer,), files, (_part(history, answer, rules),))
    prefix = ModelCall(preparation.turn_prefix, reserve_tokens, turn_prefix=True)
    if not preparation.messages:
        answer = yield prefix
        return _result((NO_HISTORY, answer), files, (_part(prefix, answer, rules),))
    answers: tuple[ModelAnswer, ...] = yield ParallelCalls((history, prefix))
    asked = zip((history, prefix), answers, strict=True)
    return _result(answers, files, tuple(_part(call, answer, rules) for call, answer in asked))


def _part(call: ModelCall, answer: ModelAnswer, rules: CompactionRules) -> DefaultPart:
    """Nothing is tried again here: whoever answers may have tried more than once."""
    attempt, chars = Attempt(1, "answered"), 0
    if isinstance(answer, Failure):
        attempt = Attempt(1, last_outcome(answer, rules.failures), answer.message)
    elif answer is not None:
        chars = js.utf16_len(answer)
    tokens = messages_tokens(call.messages, rules.chunks.tokens)
    return DefaultPart(call.turn_prefix, len(call.messages), tokens, attempt, chars)


def _result(
    answers: tuple[ModelAnswer, ...], files: FileLists, parts: tuple[DefaultPart, ...]
) -> DefaultCompaction:
    """Join the summaries; the first of them that failed fails the compaction."""
    texts = []
    for answer, what in zip(answers, ("S", "Turn prefix s"), strict=False):
        if isinstance(answer, Failure):
            if answer.name == ABORT_NAME:
                return DefaultCompaction(None, files, parts, "aborted", answer.message)
            message = f"{what}ummarization failed: {answer.message or 'Unknown error'}"
            return DefaultCompaction(None, files, parts, "summarization_failed", message)
        texts.append(answer or "")
    summary = texts[0]
    if len(texts) > 1:
        summary = js.concat((summary, SECTION_BREAK, SPLIT_TURN_HEADING, texts[1]))
    return DefaultCompaction(js.concat((summary, unbounded_file_section(files))), files, parts)
