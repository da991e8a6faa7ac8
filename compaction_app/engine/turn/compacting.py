"""Compactions and cut tool results as steps of a turn: carried out on the session, and recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from compaction_app.engine.budget import CompactionSettings
from compaction_app.engine.compaction.prepare import Preparation
from compaction_app.engine.compaction.run import (
    CompactionOrder,
    CompactionRun,
    begin_compaction,
    compaction_with_summary,
    run_compaction,
)
from compaction_app.engine.compaction.safeguard_settings import safeguard_settings
from compaction_app.engine.decision import Decision
from compaction_app.engine.pruning.session_rewrite import RewrittenSession, rewrite_session
from compaction_app.engine.turn.live_size import fitting_tail, live_estimate
from compaction_app.engine.turn.record import Number
from compaction_app.engine.turn.requests import (
    Compaction,
    KnownSummary,
    Moment,
    NoSummary,
    Steps,
    Trigger,
)
from compaction_app.engine.turn.state import Entry
from compaction_app.engine.turn.work import TurnWork
from sessions_app.tokens.message_tokens import context_tokens, message_tokens
from sessions_app.transcripts.session_context import messages_of_path
from sessions_app.transcripts.timestamps import iso_text


@dataclass(frozen=True, slots=True)
class CompactionAsk:
    """Which compaction: its trigger, the observed size of the context, the user's instructions."""

    trigger: Trigger
    observed: Number | None = None
    instructions: str | None = None

    @property
    def inside_run(self) -> bool:
        return self.trigger in ("inner_threshold", "inner_overflow")

    @property
    def of_run(self) -> bool:
        """Whether a run is waiting for it."""
        return self.inside_run or self.trigger == "overflow"


INCOMPLETE = "compaction_incomplete"
LAST_MESSAGE = 1
"""A ``keepRecentTokens`` that keeps the last message alone, whatever its size."""


def compact(work: TurnWork, ask: CompactionAsk) -> Steps[CompactionRun]:
    """Compact the session's active branch; the boundary is appended where there is one."""
    rules = work.rules
    path = work.state.branch
    order = yield from _order(work, ask)
    begun = begin_compaction(path, order, rules)
    if isinstance(begun, CompactionRun):
        run = begun
    elif ask.inside_run and rules.turn.split_turn_hangs and _makes_two_calls(begun.preparation):
        decision = Decision("compaction", False, "incomplete", INCOMPLETE, rules.id)
        run = CompactionRun("cancelled", decision, INCOMPLETE, prepared=begun.prepared)
    else:
        known = yield Compaction(path, order, ask.trigger)
        if isinstance(known, NoSummary):
            decision = Decision("compaction", False, "skipped", known.reason, rules.id)
            run = CompactionRun("skipped", decision, known.message, prepared=begun.prepared)
        elif isinstance(known, KnownSummary):
            run = compaction_with_summary(
                path, order, rules, known.text, known.details, from_hook=known.from_hook
            )
        else:
            run = yield from run_compaction(path, order, rules)
    if run.prepared is not None:
        work.note("compaction_cut", run.prepared.cut.decision)
    work.note("compaction", run.decision, parts_of(path, run))
    if run.entry is not None:
        work.state = work.state.with_entries((run.entry,))
    return run


def first_request(work: TurnWork, ask: CompactionAsk, now_ms: int) -> Compaction | CompactionRun:
    """What a compaction asks first; where it asks nothing, what has become of it."""
    steps = compact(work, ask)
    answer: int | None = None
    try:
        while True:
            request = steps.send(answer)
            if isinstance(request, Compaction):
                return request
            assert isinstance(request, Moment)
            answer = now_ms
    except StopIteration as end:
        run: CompactionRun = end.value
        return run


def parts_of(path: Sequence[Entry], run: CompactionRun) -> dict[str, tuple[str, ...]]:
    """The branch's entries by what a compaction did with them, and the boundary that it wrote."""
    cut = run.prepared.cut if run.prepared else None
    if cut is None:
        return {}
    parts = {"summarised": cut.history, "turnPrefix": cut.turn_prefix, "kept": cut.kept}
    named = {name: tuple(str(path[n].get("id")) for n in at) for name, at in parts.items() if at}
    written = (run.entry or {}).get("id")
    return named | ({"boundary": (str(written),)} if written else {})


def _order(work: TurnWork, ask: CompactionAsk) -> Steps[CompactionOrder]:
    setup = work.setup
    now = yield Moment("entry")
    settings, configured = setup.lines.settings, setup.configured_keep
    is_live = work.rules.turn.weighs_live and (ask.of_run or work.has_replied)
    if work.rules.turn.weighs_keep and configured is None:
        if ask.trigger == "manual":
            configured = LAST_MESSAGE
        keep = configured or _weighed_keep(work, settings)
        fits = fitting_tail(work) if is_live else None
        keep = keep if fits is None else min(keep, fits)
        settings = replace(settings, keep_recent_tokens=keep)
    return CompactionOrder(
        mode=setup.lines.mode,
        settings=settings,
        entry_id=next(setup.new_ids),
        timestamp=iso_text(now),
        now_ms=now,
        manual=ask.trigger == "manual",
        inside_run=ask.inside_run,
        instructions=ask.instructions,
        model={
            "provider": setup.around.provider,
            "id": setup.around.model,
            "contextWindow": setup.lines.window,
            "maxTokens": setup.policy.max_tokens,
        },
        safeguard=safeguard_settings(setup.config, setup.lines.window),
        configured_keep=configured,
        observed_tokens=ask.observed,
        run_id=work.prompt.run_id if ask.trigger == "overflow" else "",
        estimate=live_estimate(work) if is_live else None,
    )


def _weighed_keep(work: TurnWork, settings: CompactionSettings) -> float:
    """The tokens to keep, as estimates count them: less where the provider counted more (runs 4)."""
    messages = messages_of_path(work.state.branch)
    tokens = work.rules.message_tokens
    estimated = sum(message_tokens(message, tokens) for message in messages)
    counted = context_tokens(messages, tokens).tokens
    if not 0 < estimated < counted:
        return settings.keep_recent_tokens
    return math.floor(settings.keep_recent_tokens * estimated / counted)


def _makes_two_calls(preparation: Preparation) -> bool:
    """Whether a compaction would ask for two summaries at once."""
    return bool(preparation.turn_prefix and preparation.messages)


def truncate_session(work: TurnWork) -> Steps[RewrittenSession]:
    """Cut the tool results of the active branch for good; every one that was cut is a stored one."""
    setup = work.setup
    now = yield Moment("entry")
    rewritten = rewrite_session(
        work.state.entries,
        setup.lines.window,
        work.rules.pruning.session_rewrite,
        new_ids=setup.new_ids,
        timestamp=iso_text(now),
        single_cap_chars=setup.tool_cap_chars,
        aggregate_cap_chars=setup.tool_cap_chars,
    )
    work.state = work.state.with_entries(rewritten.appended)
    if any(entry["type"] == "compaction" for entry in rewritten.appended):
        work.fired("truncate", None, None, "compaction_appended_again")
    if rewritten.truncated:
        work.fired("truncate", work.total_before, None, "tool_results_truncated")
    return rewritten
