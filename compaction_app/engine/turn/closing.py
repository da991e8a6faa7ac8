"""What the index learns of a run: its usage, and its compactions (spec budgets 7.2, runs 3.8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from compaction_app.engine.turn.record import Number
from compaction_app.engine.turn.requests import Moment, Steps
from compaction_app.engine.turn.run import ModelRun
from compaction_app.engine.turn.work import TurnWork
from sessions_app.transcripts.index_updates import (
    CompactionUpdate,
    RunReport,
    increment_compaction_count,
    persist_usage,
)
from sessions_app.transcripts.usage import Usage, accumulate_usage, prompt_tokens


def close_run(run: ModelRun) -> Steps[None]:
    """After a run that ended well; nothing is learnt of one that ended in an overflow reply."""
    for stage in run.work.setup.order.closing:
        yield from _STAGES[stage](run)


def _usage(run: ModelRun) -> Steps[None]:
    setup = run.work.setup
    now = yield Moment("entry")
    # A run whose own compaction never ended knows no size of its context.
    last = Usage() if run.incomplete else run.usages[-1] if run.usages else None
    report = RunReport(
        usage=None if run.incomplete else accumulate_usage(run.usages).total,
        last_call=last,
        model=setup.around.model or None,
        provider=setup.around.provider or None,
        context_tokens=setup.lines.window,
    )
    index = persist_usage(run.work.state.index, report, now, run.work.rules.session_index)
    run.work.state = run.work.state.with_index(index)


def _count(run: ModelRun) -> Steps[None]:
    if run.compactions:
        last = prompt_tokens(run.usages[-1]) if run.usages else None
        known = run.tokens_after is not None and not run.work.rules.turn.usage_is_final
        after = run.tokens_after if known else last
        yield from count_compactions(run.work, run.compactions, after)


def count_compactions(work: TurnWork, amount: int, tokens_after: Number | None) -> Steps[None]:
    """Write ``amount`` compactions into the index, and what the last of them left."""
    now = yield Moment("entry")
    update = CompactionUpdate(amount=amount, tokens_after=tokens_after)
    index = increment_compaction_count(work.state.index, update, now, work.rules.session_index)
    work.state = work.state.with_index(index)


_STAGES: Final[Mapping[str, Callable[[ModelRun], Steps[None]]]] = {
    "usage": _usage,
    "compaction_count": _count,
}
