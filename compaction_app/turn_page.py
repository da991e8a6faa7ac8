"""The page of one turn: every stage in its order, fired or skipped, as one flow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from compaction_app.audits import decisions_of, fired, is_too_long, sent, simulation_of
from compaction_app.decisions import stage_of
from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.policy import Policy
from compaction_app.engine.simulation.inputs import what_if_turns
from compaction_app.engine.tape.what_if import NeedsTexts, taped_turn
from compaction_app.engine.tape.work import ReplayedTurn, SentCall
from compaction_app.engine.turn.record import StageRecord
from compaction_app.models import AuditedTurn
from compaction_app.runs import Situation
from compaction_app.stages import Comparison, comparison_of, title_of
from sessions_app.models import Entry, Job
from sessions_app.transcripts.usage import prompt_tokens

MOST_WHAT_IF_ENTRIES: Final = 2_000
"""A what-if of one turn runs all turns before it; beyond this it would keep its reader waiting."""

MOST_NOTABLE: Final = 12


@dataclass(frozen=True, slots=True)
class Shown:
    """A stage as the flow shows it; ``uuid`` is that of its stored decision, if there is one."""

    place: int
    stage: StageRecord
    uuid: UUID | None
    events: tuple[Mapping[str, Any], ...] = ()

    @property
    def title(self) -> str:
        return title_of(self.stage.stage)

    @property
    def comparison(self) -> Comparison | None:
        return comparison_of(self.stage.decision)


@dataclass(slots=True)
class Section:
    """Stages and model calls of one attempt, in their order."""

    title: str
    items: list[Shown | Mapping[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ToldTurn:
    """A turn as either reading tells it."""

    number: int
    prompt: int
    outcome: str
    stages: Sequence[tuple[StageRecord, UUID | None]]
    calls: Sequence[Mapping[str, Any]]
    events: Sequence[Mapping[str, Any]]


def audited_turn(situation: Situation, number: int) -> AuditedTurn | None:
    return AuditedTurn.objects.filter(window=situation.window, number=number).first()


def told_audit(turn: AuditedTurn) -> ToldTurn:
    """A turn as the audit judged it."""
    stages = [(stage_of(row), row.uuid) for row in decisions_of(turn)]
    return ToldTurn(turn.number, turn.prompt, turn.outcome, stages, turn.sent, turn.events)


def told_what_if(
    situation: Situation, policy: Policy, around: Circumstances, number: int
) -> ToldTurn | None:
    """A turn of the what-if under a policy; none where the recording has no such turn."""
    inputs = simulation_of(situation, policy, around)
    if not 1 <= number <= len(inputs.recording.turns):
        return None
    try:
        return _told_on_tape(taped_turn(inputs, number))
    except NeedsTexts:
        pass
    for turn in what_if_turns(inputs):
        if turn.recorded.number == number:
            result, usage = turn.result, around.rules.usage
            return ToldTurn(
                number,
                turn.recorded.seq,
                result.outcome,
                [(stage, None) for stage in result.stages],
                [sent(call, usage) for call in result.calls],
                [fired(event, result.stages) for event in result.events],
            )
    return None


def _told_on_tape(turn: ReplayedTurn) -> ToldTurn:
    calls = [
        {
            "run": call.run,
            "number": call.number,
            "entry": call.recorded.answer.entry["id"] if call.recorded and call.answer else None,
            "prompt": prompt_tokens(call.answer.usage) if call.answer else None,
            "output": call.answer.usage.output if call.answer and call.answer.usage else None,
            "messages": call.messages,
            "cut": call.cut_messages,
        }
        for call in turn.calls
        if isinstance(call, SentCall)
    ]
    return ToldTurn(
        turn.recorded.turn.number,
        turn.recorded.turn.seq,
        turn.outcome,
        [(stage, None) for stage in turn.stages],
        calls,
        [fired(event, turn.stages) for event in turn.events],
    )


def turn_context(situation: Situation, told: ToldTurn) -> dict[str, Any]:
    """What the page shows of a turn."""
    window = situation.window
    turns = AuditedTurn.objects.filter(window=window)
    prompt = Entry.objects.filter(window=window, seq=told.prompt).only("seq", "excerpt", "at_ms")
    return {
        "turn": told,
        "prompt": prompt.first(),
        "sections": list(sections(told)),
        "loose": [event for event in told.events if event["decision"] is None],
        "turns": turns.count(),
        "notable": list(
            turns.exclude(events=[])
            .order_by("number")
            .values_list("number", "events")[:MOST_NOTABLE]
        ),
        "unused": unused_stages(situation.around),
        "answers": _seqs(window.pk, [call["entry"] for call in told.calls]),
    }


def sections(told: ToldTurn) -> Iterator[Section]:
    """The turn's flow: its stages with the calls between them, grouped by run and attempt."""
    calls = list(told.calls)
    current: Section | None = None
    for shown in _shown(told):
        title = _title(shown.stage)
        while calls and current is not None and calls[0]["number"] < shown.stage.call:
            current.items.append(calls.pop(0))
        if current is None or current.title != title:
            if current is not None:
                yield current
            current = Section(title)
        current.items.append(shown)
    current = current or Section("The run")
    current.items += calls
    yield current


def unused_stages(around: Circumstances) -> list[str]:
    """Stages that a chat of this version runs and this path does not."""
    orders = around.rules.turn.orders
    own = {stage for part in _parts(orders[around.path]) for stage in part}
    return [
        title_of(stage) for part in _parts(orders["chat"]) for stage in part if stage not in own
    ]


def waiting(situation: Situation) -> dict[str, Any]:
    """Why there are no decisions yet: a job that is still at it or has failed, a limit, or nothing."""
    job = (
        Job.objects.filter(session=situation.session, kind="audit").order_by("-created_at").first()
    )
    return {"job": job, "too_long": is_too_long(situation.session)}


def _shown(told: ToldTurn) -> Iterable[Shown]:
    for place, (stage, uuid) in enumerate(told.stages):
        events = tuple(event for event in told.events if event["decision"] == place)
        yield Shown(place, stage, uuid, events)


def _title(stage: StageRecord) -> str:
    if stage.run == "flush":
        return f"Flush turn, attempt {stage.attempt}"
    return f"Attempt {stage.attempt}" if stage.attempt else "Before the run"


def _parts(order: Any) -> tuple[tuple[str, ...], ...]:
    return (order.turn, order.attempt, order.call, order.answered, order.ended, order.closing)


def _seqs(window: int, ids: Iterable[str | None]) -> dict[str, int]:
    """The numbers of entries by their ids."""
    wanted = [identity for identity in ids if identity]
    found = Entry.objects.filter(window=window, entry_id__in=wanted)
    return dict(found.values_list("entry_id", "seq"))
