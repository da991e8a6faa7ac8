"""Live decisions made again: from what was kept of the moment, through the same code that made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from compaction_app.agent_setup import NewIds
from compaction_app.compaction_asks import Asked, decided
from compaction_app.compaction_writing import compaction_stages
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.compaction.answers import Again, run_again
from compaction_app.engine.compaction.drive import Means
from compaction_app.engine.compaction.run import CompactionRun, run_compaction
from compaction_app.engine.policy import Policy
from compaction_app.engine.turn.record import StageRecord
from compaction_app.engine.turn.setup import RunSetup, SystemSizes, run_setup
from compaction_app.live_setup import LiveSetup
from compaction_app.live_state import LiveSession, load_window
from compaction_app.live_steps import Basis
from compaction_app.models import CompactionRecord, LiveStep
from compaction_app.next_step import NothingToSend, next_step
from compaction_app.run_memory import memory_of
from compaction_app.summarisers.extractive import extractive_summary
from sessions_app.models import Entry, Window
from sessions_app.payload import record_of
from sessions_app.writing import LiveState

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CompactionAgain:
    """A compaction that was made again: as it was asked for, how it ran, and with whose answers."""

    asked: Asked
    run: CompactionRun
    answers: Again

    @property
    def stages(self) -> list[StageRecord]:
        return compaction_stages(self.asked, self.run)


def stages_again(step: LiveStep, policy: Policy, around: Circumstances) -> list[StageRecord]:
    """The decisions of a live step under a policy and circumstances.

    Without kept answers that fit, a compaction's summary is made by the extractive summariser.
    """
    setup = setup_of(step, policy, around)
    loaded, basis = at_that_time(step, setup)
    if step.kind == LiveStep.Kind.COMPACTION:
        record = CompactionRecord.objects.filter(step=step).first()
        kept = record.answers if record is not None else None
        made = compaction_again(step, setup, kept or ())
        return made if isinstance(made, list) else made.stages
    memory, head = memory_of(basis.memory), basis.head or None
    try:
        found = next_step(
            setup,
            loaded.state,
            memory,
            head,
            basis.now_ms,
            prompt_of(step),
            leaves_compaction=bool(step.asked.get("leavesCompaction")),
        )
    except NothingToSend:
        return []
    return list(found.stages)


def compaction_again(
    step: LiveStep, setup: RunSetup, kept: Any, means: Means | None = None
) -> CompactionAgain | list[StageRecord]:
    """A compaction with its kept answers; ``means`` answer what these do not. The decisions alone where
    no compaction comes of them.
    """
    loaded, basis = at_that_time(step, setup)
    arguments = {**step.asked, "prompt": prompt_of(step)}
    fields = decided(setup, loaded, basis, arguments)
    asked = Asked(
        live=LiveSetup(setup, None),  # type: ignore[arg-type]  # nobody is sent anything
        head=basis.head or None,
        entries=basis.entries,
        cycle=0,
        turn=step.turn,
        request=None,
        attempt=step.asked.get("attempt", 0),
        call=step.asked.get("call", 1),
        basis=basis,
    )
    asked = replace(asked, **fields)
    if asked.request is None:
        if asked.refusal is None:
            return list(asked.stages)
        return CompactionAgain(asked, asked.refusal, Again(0, 0))
    request = asked.request
    if "entryId" in step.asked:
        order = replace(request.order, entry_id=step.asked["entryId"])
        request = replace(request, order=order)
        asked = replace(asked, request=request)
    steps = run_compaction(request.path, request.order, setup.rules)
    run, again = run_again(steps, kept, means or Means(summarise=extractive_summary))
    return CompactionAgain(asked, run, again)


def setup_of(step: LiveStep, policy: Policy, around: Circumstances) -> RunSetup:
    """The setup of the session's runs, with the system prompt's size of that time."""
    sizes = SystemSizes(chars=step.system.get("chars", 0))
    made = run_setup(policy, around, sizes, NewIds())
    if step.system.get("flushFirst"):
        made = replace(made, order=made.order.with_flush_first())
    return made


def at_that_time(step: LiveStep, setup: RunSetup) -> tuple[LiveSession, Basis]:
    """The session as it was, from the entries that there were."""
    window = Window.objects.select_related("session__agent").get(pk=step.window_id)
    window.entry_count, window.content_bytes = step.entries, step.content_bytes
    window.head_id = step.head
    memory = LiveState(index=step.index, run=step.run, queued=tuple(step.queued))
    loaded = load_window(window, setup.rules, memory)
    return loaded, Basis.of(loaded, step.now_ms)


def prompt_of(step: LiveStep) -> Json | None:
    """The new prompt that the decisions were made for, from its entry where it was stored."""
    kept = step.asked.get("prompt")
    if kept is None:
        return None
    if "message" in kept:
        found: Json = kept["message"]
        return found
    rows = Entry.objects.filter(
        window=step.window_id, entry_id=kept["entry"], seq__gte=step.entries
    )
    payload = rows.order_by("seq").values_list("payload", flat=True)[0]
    message = dict(record_of(payload)["message"])
    if not kept["hadTime"]:
        message.pop("timestamp", None)
    return message
