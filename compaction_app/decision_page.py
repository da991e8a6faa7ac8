"""The page of one decision: inputs, arithmetic, reason, effect beside the recording, replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from compaction_app.decision_replay import Replayed, basis_of, made_under, replay
from compaction_app.decisions import stage_of
from compaction_app.engine.rule_sets import RULE_SETS
from compaction_app.forms import Query, read_query
from compaction_app.models import AuditedTurn, LiveStep
from compaction_app.models import Decision as Row
from compaction_app.runs import Situation
from compaction_app.stages import UNITS, comparison_of, is_moment, title_of, unit_of
from sessions_app.models import Entry
from sessions_app.tokens import javascript as js

PART_TITLES: Final[Mapping[str, str]] = {
    "summarised": "summarised",
    "turnPrefix": "split turn, summarised",
    "kept": "kept",
}
_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Input:
    """One input by its name; ``kind`` says how it is written: number, moment or text."""

    name: str
    value: Any
    kind: str
    unit: str


@dataclass(frozen=True, slots=True)
class Part:
    """What a compaction did with a stretch of entries; ``first`` and ``last`` are their numbers."""

    title: str
    entries: int
    tokens: int
    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True)
class Beside:
    """One fact as the audit has it and as the recording shows it; none where nobody can know."""

    title: str
    audit: Any
    recorded: Any
    unit: str = ""


def decision_context(row: Row, situation: Situation, values: Mapping[str, str]) -> dict[str, Any]:
    """Everything the page shows; ``values`` are the query: settings and rules of a replay."""
    basis = basis_of(row)
    turn = basis if isinstance(basis, AuditedTurn) else None
    under = made_under(row, situation)
    asked = read_query(values, under)
    stage = stage_of(row)
    known = known_entries(row)
    return {
        "decision": row,
        "stage": stage,
        "title": title_of(row.stage),
        "comparison": comparison_of(stage.decision),
        "inputs": list(inputs_of(row)),
        "steps": [
            {
                "name": step.name,
                "formula": step.formula,
                "value": step.value,
                "unit": UNITS[step.unit],
            }
            for step in stage.decision.steps
        ],
        "parts": list(parts_of(row, known)),
        "beside": list(beside(row, turn, known)) if turn else [],
        "turn": turn,
        "situation": under,
        "query": asked,
        "rule_sets": RULE_SETS,
        "settings": sorted((row.policy or {}).get("settings", {}).items()),
        "replayed": _replayed(row, basis, under, asked) if "replay" in values else None,
        "is_replayable": basis is not None,
    }


def inputs_of(row: Row) -> Iterator[Input]:
    """The inputs with their units."""
    for name, value in row.inputs.items():
        if js.is_number(value):
            moment = is_moment(name)
            yield Input(
                name,
                value,
                "moment" if moment else "number",
                "" if moment else UNITS[unit_of(name)],
            )
        elif isinstance(value, bool):
            yield Input(name, "yes" if value else "no", "text", "")
        else:
            yield Input(name, value, "unknown" if value is None else "text", "")


def known_entries(row: Row) -> dict[str, Entry]:
    """The stored entries that a decision names, by id."""
    wanted = [identity for ids in row.entries.values() for identity in ids]
    found: dict[str, Entry] = {}
    for at in range(0, len(wanted), _AT_ONCE):
        rows = Entry.objects.filter(window=row.window_id, entry_id__in=wanted[at : at + _AT_ONCE])
        found |= {entry.entry_id: entry for entry in rows.only("entry_id", "seq", "tokens")}
    return found


def parts_of(row: Row, known: Mapping[str, Entry]) -> Iterator[Part]:
    """The stretches of a compaction; no rows for other decisions."""
    for name, title in PART_TITLES.items():
        ids: Sequence[str] = row.entries.get(name, ())
        stored = [known[identity] for identity in ids if identity in known]
        if ids:
            yield Part(
                title,
                len(ids),
                sum(entry.tokens for entry in stored),
                stored[0].seq if stored else None,
                stored[-1].seq if stored else None,
            )


def beside(row: Row, turn: AuditedTurn, known: Mapping[str, Entry]) -> Iterator[Beside]:
    """The effect of a decision beside what its turn's recording shows."""
    place = list(
        Row.objects.filter(session=row.session_id, pk__range=(turn.first, turn.last), turn=row.turn)
        .order_by("pk").values_list("pk", flat=True)
    ).index(row.pk)  # fmt: skip
    event = next((e for e in turn.events if e["decision"] == place), None)
    if row.stage == "flush":
        yield Beside("memory flush", int(row.fired), turn.recorded["flushes"], "in this turn")
    if row.stage == "compaction":
        yield from _compaction_beside(row, turn, known)
    elif event is not None:
        yield Beside("tokens before", event["before"], None, "tokens")
        yield Beside("stored total after the turn", event["after"], None, "tokens")
        if event["kind"].endswith("compaction"):
            done = int(event["reason"].startswith("compacted"))
            yield Beside("compaction", done, turn.recorded["compactions"], "in this turn")


def _compaction_beside(row: Row, turn: AuditedTurn, known: Mapping[str, Entry]) -> Iterator[Beside]:
    steps = {name: value for name, _, value, _ in row.steps}
    after = AuditedTurn.objects.filter(window=turn.window_id, number=turn.number + 1).first()
    found = Entry.objects.filter(window=turn.window_id, type="compaction", seq__gte=turn.start)
    recorded = found.filter(seq__lt=after.start if after else turn.entries).order_by("seq").first()
    kept = next((known[i].seq for i in row.entries.get("kept", ()) if i in known), None)
    done = int(row.outcome == "compacted")
    yield Beside("compactions", done, turn.recorded["compactions"], "in this turn")
    yield Beside(
        "tokens before",
        steps.get("tokensBefore"),
        recorded.tokens_before if recorded else None,
        "tokens",
    )
    yield Beside("first kept entry", kept, recorded.kept_seq if recorded else None)


def _replayed(
    row: Row, basis: AuditedTurn | LiveStep | None, under: Situation, asked: Query
) -> Replayed | None:
    if basis is None:
        return None
    return replay(
        row, basis, under, asked.policy, replace(asked.around, constants=under.around.constants)
    )
