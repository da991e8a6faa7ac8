"""Compactions and cut tool results on a tape (the counterpart of ``turn.compacting``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compaction_app.engine.compaction.boundary import tokens_after
from compaction_app.engine.compaction.cut import CompactionCut, cut_decision, no_cut
from compaction_app.engine.compaction.run import NO_CONVERSATION, RunOutcome
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.manual_compaction import ALREADY_COMPACTED, NOTHING_TO_COMPACT
from compaction_app.engine.pruning.session_rewrite import Appender
from compaction_app.engine.tape.cutting import row_cuts
from compaction_app.engine.tape.rewriting import renew, replace_end
from compaction_app.engine.tape.row import Row
from compaction_app.engine.tape.tape import Boundary, Tape
from compaction_app.engine.tape.work import TurnRecord
from compaction_app.engine.turn.compacting import INCOMPLETE, CompactionAsk
from compaction_app.engine.turn.record import Number
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import usage_tokens
from sessions_app.transcripts.session_context import context_of_path
from sessions_app.transcripts.timestamps import epoch_ms, iso_text


@dataclass(frozen=True, slots=True)
class Compacted:
    """How a compaction ended; as ``compaction.run.CompactionRun``."""

    outcome: RunOutcome
    decision: Decision
    message: str | None = None
    tokens_before: Number | None = None
    tokens_after: Number | None = None
    cut: CompactionCut | None = None


def compact(record: TurnRecord, ask: CompactionAsk) -> Compacted:
    """Compact the tape's branch, where the rules let it."""
    identity = record.session.new_id()
    ids = record.tape.ids
    made = _carry_out(record, ask, identity)
    cut = made.cut
    if cut is not None:
        record.note("compaction_cut", cut.decision)
    record.note("compaction", made.decision, _parts(ids, made, identity))
    return made


def _parts(ids: Sequence[str], made: Compacted, identity: str) -> dict[str, tuple[str, ...]]:
    """The branch's entries by what a compaction did with them, and the boundary that it wrote."""
    if made.cut is None:
        return {}
    parts = {
        "summarised": made.cut.history,
        "turnPrefix": made.cut.turn_prefix,
        "kept": made.cut.kept,
    }
    named = {name: tuple(ids[at.start : at.stop]) for name, at in parts.items() if at}
    return named | ({"boundary": (identity,)} if made.outcome == "compacted" else {})


def _carry_out(record: TurnRecord, ask: CompactionAsk, identity: str) -> Compacted:
    rules, tape, lines = record.rules, record.tape, record.setup.lines
    end = len(tape)
    if not ask.inside_run and tape.real[end] == tape.real[tape.start]:
        return _nothing(record, "skipped", "no_real_conversation", NO_CONVERSATION)
    if not end or tape.rows[-1].type == "compaction":
        manual = ask.trigger == "manual"
        reason = "already_compacted" if end else "empty_session"
        message = ALREADY_COMPACTED if end else NOTHING_TO_COMPACT
        cut = no_cut(reason, None, rules.id)
        return _nothing(record, "failed" if manual else "skipped", reason, message, cut)
    cut = _cut(record)
    first = cut.kept.start
    hangs = ask.inside_run and rules.turn.split_turn_hangs
    if hangs and _says(tape, cut.history) and _says(tape, cut.turn_prefix):
        decision = Decision("compaction", False, "incomplete", INCOMPLETE, rules.id)
        return Compacted("cancelled", decision, INCOMPLETE, cut=cut)
    before = context_size(tape)
    summary = record.session.summary()
    now = iso_text(record.session.clock_ms)
    is_hard = (
        ask.trigger == "manual"
        and not js.is_number(record.setup.configured_keep)
        and not js.is_blank(summary.text)
        and tape.messages.first_from(0) is not None
        and (tape.messages.first_from(0) or 0) < first
    )
    kept_id = identity if is_hard else tape.ids[first]
    entry: dict[str, Any] = {
        "type": "compaction", "id": identity, "parentId": None, "timestamp": now,
        "summary": summary.text, "firstKeptEntryId": kept_id, "tokensBefore": before,
    }  # fmt: skip
    if summary.details is not None:
        entry["details"] = summary.details
    entry["fromHook"] = summary.from_hook
    estimated_before = _estimate(tape)
    append_boundary(record, entry, end if is_hard else first)
    estimated = _estimate(tape)
    after = tokens_after(estimated, ask.observed, estimated_before)
    steps = (
        Step("tokensBefore", "usage + tokens after it", before),
        Step("estimateBefore", "Σ tokens of messages", estimated_before),
        Step("estimateAfter", "Σ tokens of messages with the summary", estimated),
        Step("tokensAfter", "estimateAfter unless it grew", after),
    )
    inputs = {"mode": lines.mode, "manual": ask.trigger == "manual"}
    decision = Decision("compaction", True, "compacted", "summarised", rules.id, inputs, steps)
    return Compacted("compacted", decision, None, before, after, cut)


def _cut(record: TurnRecord) -> CompactionCut:
    tape, keep = record.tape, record.setup.lines.settings.keep_recent_tokens
    cut, start, end = tape.cut(keep), tape.range_start, len(tape)
    return CompactionCut(
        decision=cut_decision(start, end, keep, cut, record.rules.id),
        previous_index=tape.boundary.place if tape.boundary else None,
        history=range(start, cut.history_end),
        turn_prefix=range(cut.history_end, cut.first_kept_index),
        kept=range(cut.first_kept_index, end),
        cut=cut,
    )


def append_boundary(record: TurnRecord, entry: dict[str, Any], kept: int) -> None:
    """Append a compaction that keeps the rows from ``kept`` on."""
    session = record.session
    place = len(record.tape)
    session.append(session.maker.row(entry))
    record.tape.boundary = boundary_at(record, entry, place, kept)


def boundary_at(record: TurnRecord, entry: Any, place: int, kept: int | None) -> Boundary:
    maker = record.session.maker
    (message,) = context_of_path((entry,)).messages
    numbers = maker.numbers(message)
    summary = replace(maker.row(entry), message=message, **numbers)
    at_ms = epoch_ms(entry["timestamp"]) or 0
    if kept is None:  # its tail is on the branch no longer
        return Boundary(place, place, place + 1, summary, at_ms)
    return Boundary(place, kept, kept, summary, at_ms)


def _nothing(
    record: TurnRecord,
    outcome: RunOutcome,
    reason: str,
    message: str,
    cut: CompactionCut | None = None,
) -> Compacted:
    decision = Decision("compaction", False, outcome, reason, record.rules.id)
    return Compacted(outcome, decision, message, cut=cut)


def _says(tape: Tape, places: range) -> bool:
    """Whether there is any message at these places."""
    return bool(places) and tape.power[places.stop] != tape.power[places.start]


def _estimate(tape: Tape) -> int:
    summary = tape.boundary.summary.context if tape.boundary else 0
    return summary + tape.context_tokens(tape.start)


def context_size(tape: Tape) -> Number:
    """The last billed usage of the context, and the estimate of what came after it."""
    last = tape.billed.last_before(len(tape))
    if last is None or last < tape.start:
        return _estimate(tape)
    row = tape.row(last)
    assert row.message is not None
    return usage_tokens(row.message["usage"]) + tape.context[-1] - tape.context[last + 1]


def truncate_session(record: TurnRecord) -> bool:
    """Cut the tool results of the branch for good; whether any was cut."""
    setup, tape, session = record.setup, record.tape, record.session
    cap, window = setup.tool_cap_chars, setup.lines.window
    places = [p for p in tape.results.at if tape.rows[p].type == "message"]
    cuts = row_cuts(session.maker, [tape.rows[p] for p in places], window, cap, cap)
    forms = {places[number]: row for number, row in cuts.forms().items()}
    if not forms:
        return False
    if not _put_anew(record, min(forms), forms):
        return False
    record.fired("truncate", record.total_before, None, "tool_results_truncated")
    return True


def _put_anew(record: TurnRecord, first: int, forms: Mapping[int, Row]) -> bool:
    """Append the branch from ``first`` on again; false where a label names what is not there."""
    tape, rules = record.tape, record.rules.pruning.session_rewrite
    kinds = {row.type for row in tape.rows[first:]}
    if rules.remaps_ids and "label" not in kinds:
        _renew(record, first, forms)
    elif not _append_again(record, first, forms):
        return False
    if "compaction" in kinds:
        record.fired("truncate", None, None, "compaction_appended_again")
    _find_boundary(record)
    return True


def _renew(record: TurnRecord, first: int, forms: Mapping[int, Row]) -> None:
    """Every row again in its place, under another id."""
    tape, session, maker = record.tape, record.session, record.session.maker
    ids = [session.new_id() for _ in range(first, len(tape))]
    appender = Appender(record.rules.pruning.session_rewrite, iter(ids), "")
    appender.moved = dict(zip(tape.ids[first:], ids, strict=True))
    now = iso_text(session.clock_ms)
    changed, sizes = dict(forms), []
    for place, identity in enumerate(ids, first):
        row = forms.get(place, tape.rows[place])
        if row.type == "message":
            bill = tape.bills.get(place)
            more = 0 if bill is None else maker.billed_bytes(row, bill) - row.bytes
            sizes.append(maker.again_bytes(row) + more)
            continue
        appender.leaf = ids[place - first - 1] if place > first else tape.ids[first - 1]
        entry = {"type": row.type, "id": identity, "parentId": None, "timestamp": now}
        made = maker.row({**entry, **appender.fields(row.entry)})
        changed[place] = replace(made, left_out=row.left_out)
        sizes.append(made.bytes)
    renew(tape, first, changed, ids, sizes)


def _append_again(record: TurnRecord, first: int, forms: Mapping[int, Row]) -> bool:
    """As a version does that leaves some entries out, or where a label may be in the way."""
    tape, session, maker = record.tape, record.session, record.session.maker
    rules, now = record.rules.pruning.session_rewrite, iso_text(session.clock_ms)
    appender = Appender(rules, iter(session.new_id, None), now)
    known = [{"id": identity} for identity in tape.ids]
    appender.start(known, tape.ids[first - 1] if first else None)
    rows, sizes, bills = [], [], []
    for place in range(first, len(tape)):
        row, count = forms.get(place, tape.rows[place]), len(appender.out)
        appender.append({**tape.rows[place].entry, "id": tape.ids[place]}, row.message)
        if appender.missing is not None:
            return False
        if len(appender.out) == count:
            continue
        bill = tape.bills.get(place) if row.type == "message" else None
        made = row
        if row.type != "message":
            made = maker.row({**appender.out[-1], "parentId": None})
            made = replace(made, left_out=row.left_out)
        more = 0 if bill is None else maker.billed_bytes(row, bill) - row.bytes
        rows.append(made)
        bills.append(bill)
        sizes.append((maker.again_bytes(row) if row.type == "message" else made.bytes) + more)
    replace_end(tape, first, rows, [str(entry["id"]) for entry in appender.out], sizes, bills)
    return True


def _find_boundary(record: TurnRecord) -> None:
    tape = record.tape
    last = next(
        (i for i in range(len(tape) - 1, -1, -1) if tape.rows[i].type == "compaction"), None
    )
    if last is None:
        return
    entry = tape.rows[last].entry
    name = entry["firstKeptEntryId"]
    kept = tape.ids.index(name) if name in tape.ids else None
    tape.boundary = boundary_at(record, entry, last, kept)
