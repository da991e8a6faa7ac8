"""How often a summary is made until it passes the quality check (spec compaction 3, steps 7 and 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from compaction_app.engine.compaction.compact import SECTION_BREAK
from compaction_app.engine.compaction.identifiers import IdentifierRules, opaque_identifiers
from compaction_app.engine.compaction.instructions import (
    feedback_instructions,
    turn_prefix_instructions,
)
from compaction_app.engine.compaction.message_text import (
    Message,
    latest_user_ask,
    readable_text,
)
from compaction_app.engine.compaction.quality import (
    QualityCheck,
    check_quality,
    structured_fallback,
)
from compaction_app.engine.compaction.requests import Steps
from compaction_app.engine.compaction.safeguard_source import with_previous_summary
from compaction_app.engine.compaction.summarise import (
    StagesRun,
    SummaryTask,
    summarise_in_stages,
)
from compaction_app.engine.compaction.turns_section import SPLIT_TURN_HEADING
from sessions_app.tokens import javascript as js

if TYPE_CHECKING:
    from compaction_app.engine.compaction.versions import CompactionRules

IDENTIFIER_MESSAGES = 10
"""How many of the last messages are searched for identifiers."""

AttemptOutcome = Literal["not_checked", "passed", "retried", "kept_although_failed", "refused"]


@dataclass(frozen=True, slots=True)
class Drafted:
    """A summary in its two parts; ``split_turn`` is empty when no turn was split."""

    history: str
    split_turn: str = ""

    @property
    def text(self) -> str:
        """Both parts as one text, as the quality check reads it."""
        if not self.split_turn:
            return self.history
        if js.is_blank(self.history):
            return self.split_turn
        return js.concat((self.history, SECTION_BREAK, self.split_turn))


@dataclass(frozen=True, slots=True)
class SummaryAttempt:
    """One attempt: how both parts came about (none for a part made without a model), and its check."""

    draft: Drafted
    outcome: AttemptOutcome
    history: StagesRun | None
    split_turn: StagesRun | None
    check: QualityCheck | None


@dataclass(frozen=True, slots=True)
class Attempts:
    """All attempts in order, the last one of which counts, and what the check looked for."""

    attempts: tuple[SummaryAttempt, ...]
    identifiers: tuple[str, ...]
    latest_ask: str | None

    @property
    def draft(self) -> Drafted:
        return self.attempts[-1].draft


def summarise_until_good(
    history: Sequence[Message],
    turn_prefix: Sequence[Message],
    previous_summary: str | None,
    task: SummaryTask,
    max_attempts: int,
    rules: CompactionRules,
    *,
    is_split_turn: bool,
) -> Steps[Attempts]:
    """Summarise, check, and try again with what was missing; a failing last attempt counts as well,
    where the version does not refuse it.

    ``task`` carries sizes and the structure instructions. ``max_attempts`` 0 means one attempt that
    is not checked.
    """
    seen = (*history, *turn_prefix)
    split_prefix = turn_prefix if is_split_turn else ()
    ask, identifiers = latest_user_ask(seen), _recent_identifiers(seen, rules.identifiers)
    structure = task.custom_instructions or ""
    instructions = structure
    done: list[SummaryAttempt] = []
    while True:
        draft, runs = yield from _draft(
            history,
            split_prefix,
            previous_summary,
            replace(task, custom_instructions=instructions),
            rules,
        )
        if not max_attempts or runs == (None, None):
            done.append(SummaryAttempt(draft, "not_checked", *runs, None))
            break
        check = check_quality(draft.text, identifiers, ask, task.identifiers.name)
        last = len(done) + 1 >= max_attempts
        refuses = rules.safeguard.refuses_failed
        for_good: AttemptOutcome = "refused" if refuses else "kept_although_failed"
        failed: AttemptOutcome = for_good if last else "retried"
        outcome: AttemptOutcome = "passed" if check.ok else failed
        done.append(SummaryAttempt(draft, outcome, *runs, check))
        if outcome != "retried":
            break
        instructions = feedback_instructions(structure, check.reasons, task.identifiers)
    return Attempts(tuple(done), identifiers, ask)


def _recent_identifiers(messages: Sequence[Message], rules: IdentifierRules) -> tuple[str, ...]:
    texts = (readable_text(message) for message in messages[-IDENTIFIER_MESSAGES:])
    return tuple(opaque_identifiers("\n".join(texts), rules))


def _draft(
    history: Sequence[Message],
    split_prefix: Sequence[Message],
    previous_summary: str | None,
    task: SummaryTask,
    rules: CompactionRules,
) -> Steps[tuple[Drafted, tuple[StagesRun | None, StagesRun | None]]]:
    main = prefix = None
    text = structured_fallback(previous_summary)
    if history:
        messages = with_previous_summary(history, previous_summary)
        main = yield from summarise_in_stages(replace(task, messages=messages), rules)
        text = main.summary
    section = ""
    if split_prefix:
        instructions = turn_prefix_instructions(task.custom_instructions or "")
        beginning = replace(task, messages=split_prefix, custom_instructions=instructions)
        prefix = yield from summarise_in_stages(beginning, rules)
        section = SPLIT_TURN_HEADING + prefix.summary
    return Drafted(text, section), (main, prefix)
