"""A compaction with the safeguard: structured, checked, with what must not be lost (spec compaction 3).

It always ends with a boundary to write, unless no model or no credentials can be had or a message
cannot be measured (then it cancels with a reason), or a provider was aborted. A failing quality check
cancels it since 2026.9 only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from compaction_app.engine.compaction.chunks import chunk_tokens, summary_window
from compaction_app.engine.compaction.failures import Failure
from compaction_app.engine.compaction.file_operations import FileLists, file_lists
from compaction_app.engine.compaction.instructions import (
    resolve_custom_instructions,
    structure_instructions,
)
from compaction_app.engine.compaction.message_text import Message
from compaction_app.engine.compaction.preserved_turns import recent_turns, split_preserved_turns
from compaction_app.engine.compaction.quality import structured_fallback
from compaction_app.engine.compaction.requests import Steps, WorkspaceFile
from compaction_app.engine.compaction.safeguard_attempts import Attempts, summarise_until_good
from compaction_app.engine.compaction.safeguard_means import (
    Obstacle,
    ProviderOutcome,
    ask_provider,
    missing_means,
)
from compaction_app.engine.compaction.safeguard_settings import (
    SafeguardSettings,
    quality_retries,
    summary_reserve_tokens,
)
from compaction_app.engine.compaction.safeguard_source import (
    FittedHistory,
    SafeguardTask,
    Source,
    SourceOrigin,
    fit_history,
    summary_source,
)
from compaction_app.engine.compaction.summarise import SummaryTask
from compaction_app.engine.compaction.summary_cap import (
    append_section,
    assemble_suffix,
    cap_keeping_suffix,
)
from compaction_app.engine.compaction.tool_failures import tool_failures, tool_failures_section
from compaction_app.engine.compaction.turns_section import (
    preserved_turns_section,
    split_turn_section,
)
from compaction_app.engine.compaction.workspace_rules import (
    RULES_FILE,
    workspace_rules_section,
)
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import UnmeasurableMessage

if TYPE_CHECKING:
    from compaction_app.engine.rule_sets import RuleSet

NO_SUMMARY = "Compaction safeguard could not summarize the session"
FAILED_CHECK = "Compaction safeguard finalized summary failed quality checks."

SafeguardOutcome = Literal["compacted", "cancelled", "raised"]
SafeguardReason = (
    Literal[
        "summarised",
        "provider_summary",
        "no_real_conversation",
        "provider_aborted",
        "failed",
        "failed_quality_check",
    ]
    | Obstacle
)


@dataclass(frozen=True, slots=True)
class SummarySizes:
    """Tokens: the summariser's window, the most of one chunk, what is kept free for the answer."""

    window: float
    chunk: int
    reserve: int


@dataclass(frozen=True, slots=True)
class SafeguardRun:
    """The boundary to write, or why there is none, with the record of how it came about.

    ``summary`` and ``files`` are what the compaction entry stores (no files where nothing real was
    found). ``cancel_reason`` is the sentence shown for a cancelled compaction, ``failure`` what a
    provider raised. ``preserved`` are the turns kept word for word; ``sizes`` those of the model
    calls; ``draft_chars`` and ``suffix_chars`` what was put together before the cap.
    """

    outcome: SafeguardOutcome
    reason: SafeguardReason
    origin: SourceOrigin
    summary: str | None = None
    files: FileLists | None = None
    cancel_reason: str | None = None
    failure: Failure | None = None
    provider: ProviderOutcome = "not_configured"
    preserved: tuple[Message, ...] = ()
    history: FittedHistory | None = None
    attempts: Attempts | None = None
    sizes: SummarySizes | None = None
    draft_chars: int = 0
    suffix_chars: int = 0


def safeguard_compaction(
    task: SafeguardTask, settings: SafeguardSettings, rules: RuleSet, now_ms: float
) -> Steps[SafeguardRun]:
    """Make the summary of a prepared compaction; error results made on the way get ``now_ms``."""
    source = summary_source(task, rules.compaction.conversation)
    if source.origin == "nothing":
        fallback = structured_fallback(task.previous_summary)
        return SafeguardRun("compacted", "no_real_conversation", source.origin, fallback)
    safeguard = _Safeguard(task, settings, rules, now_ms, source)
    names = settings.post_compaction_sections
    if rules.compaction.safeguard.default_sections if names is None else names:
        safeguard.agents_md = yield WorkspaceFile(RULES_FILE)
    run = yield from safeguard.run()
    return run


class _Safeguard:
    """One compaction whose source holds real conversation."""

    def __init__(
        self,
        task: SafeguardTask,
        settings: SafeguardSettings,
        rules: RuleSet,
        now_ms: float,
        source: Source,
    ) -> None:
        self.task, self.settings, self.rules = task, settings, rules
        self.now_ms, self.source = now_ms, source
        self.agents_md: str | None = None
        self.files = file_lists(task.file_operations)
        self.everything = (*source.messages, *source.turn_prefix)
        custom = resolve_custom_instructions(task.event_instructions, settings.custom_instructions)
        self.structure = structure_instructions(custom, settings.identifiers)

    def run(self) -> Steps[SafeguardRun]:
        compaction, origin = self.rules.compaction, self.source.origin
        provided = yield from ask_provider(
            self.everything, self.task.previous_summary, self.settings, self.structure, compaction
        )
        base = SafeguardRun("compacted", "summarised", origin, provider=provided.outcome)
        if provided.failure is not None:
            return replace(
                base, outcome="raised", reason="provider_aborted", failure=provided.failure
            )
        if provided.summary is not None:
            return self._with_provided(provided.summary, base)
        obstacle = yield from missing_means(self.task)
        if obstacle is not None:
            return replace(base, outcome="cancelled", reason=obstacle[0], cancel_reason=obstacle[1])
        try:
            return (yield from self._with_model(base))
        except UnmeasurableMessage as error:
            return replace(
                base, outcome="cancelled", reason="failed", cancel_reason=f"{NO_SUMMARY}: {error}"
            )

    def _with_provided(self, summary: str, base: SafeguardRun) -> SafeguardRun:
        _, preserved = self._split(self.source.messages)
        split_turn = ""
        if self.task.is_split_turn:
            split_turn = split_turn_section(self.source.turn_prefix)
        suffix = self._suffix(split_turn, preserved_turns_section(preserved))
        base = replace(base, reason="provider_summary", preserved=preserved)
        return self._finished(base, summary, suffix)

    def _with_model(self, base: SafeguardRun) -> Steps[SafeguardRun]:
        rules = self.rules.compaction
        task = self._summary_task()
        history = yield from fit_history(
            self.source, self.task, task, self.settings, self.rules, self.now_ms
        )
        target, preserved = self._split(history.messages)
        seen = (*target, *self.source.turn_prefix)
        task = replace(task, max_chunk_tokens=chunk_tokens(seen, task.context_window, rules.chunks))
        attempts = yield from summarise_until_good(
            target,
            self.source.turn_prefix,
            history.previous_summary,
            task,
            self._max_attempts(),
            rules,
            is_split_turn=self.task.is_split_turn,
        )
        base = replace(
            base,
            preserved=preserved,
            history=history,
            attempts=attempts,
            sizes=SummarySizes(
                task.context_window, int(task.max_chunk_tokens), int(task.reserve_tokens)
            ),
        )
        if attempts.attempts[-1].outcome == "refused":
            return replace(
                base,
                outcome="cancelled",
                reason="failed_quality_check",
                cancel_reason=FAILED_CHECK,
            )
        section = preserved_turns_section(preserved)
        draft = attempts.draft
        if self.rules.compaction.safeguard.turns_in_suffix:
            # An empty history is replaced by the whole text, which has the preserved turns already.
            body = draft.history or append_section(draft.text, section)
            return self._finished(base, body, self._suffix(draft.split_turn, section))
        return self._finished(base, append_section(draft.text, section), self._suffix("", ""))

    def _summary_task(self) -> SummaryTask:
        model = self.task.model or {}
        window = self.settings.context_window_tokens
        return SummaryTask(
            messages=(),
            max_chunk_tokens=0,
            context_window=summary_window(model, self.rules.compaction.chunks)
            if window is None
            else window,
            reserve_tokens=summary_reserve_tokens(self.task.reserve_tokens, model.get("maxTokens")),
            custom_instructions=self.structure,
            identifiers=self.settings.identifiers,
        )

    def _max_attempts(self) -> int:
        """0 where the quality of a summary is not checked."""
        guard = self.settings.quality_guard
        if self.rules.compaction.safeguard.quality_guard if guard is None else guard:
            return quality_retries(self.settings.max_quality_retries) + 1
        return 0

    def _split(self, messages: Sequence[Message]) -> tuple[Sequence[Message], tuple[Message, ...]]:
        turns = recent_turns(self.settings.recent_turns_preserve)
        pairing = self.rules.compaction.pairing
        split = split_preserved_turns(messages, turns, pairing, self.now_ms)
        return split.summarizable, tuple(messages[i] for i in split.preserved)

    def _suffix(self, split_turn: str, preserved: str) -> str:
        rules = self.rules.compaction
        names = self.settings.post_compaction_sections
        workspace = workspace_rules_section(
            self.agents_md,
            rules.safeguard.default_sections if names is None else names,
            rules.sections,
        )
        failures = tool_failures_section(tool_failures(self.everything))
        files = rules.safeguard.file_section(self.files)
        return assemble_suffix((split_turn, preserved, failures, files, workspace))

    def _finished(self, base: SafeguardRun, body: str, suffix: str) -> SafeguardRun:
        limit = self.rules.compaction.safeguard.max_summary_chars
        return replace(
            base,
            summary=cap_keeping_suffix(body, suffix, limit, self.rules.compaction.cap),
            files=self.files,
            draft_chars=js.utf16_len(body),
            suffix_chars=js.utf16_len(suffix),
        )
