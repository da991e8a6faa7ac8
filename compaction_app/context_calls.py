"""One recorded call of a stored session as the rules assemble its request, loaded alone.

Read is the branch that ends at the call, from what the compaction in force before its turn kept. The
turn is judged from the index that the audit kept of it, where there is an audit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from compaction_app.audits import simulation_of
from compaction_app.engine.calibration import weigh
from compaction_app.engine.context_at_call import Request, originals_of, request_of
from compaction_app.engine.simulation.audit import Since, audited_turns
from compaction_app.engine.simulation.driver import Envelope
from compaction_app.engine.simulation.inputs import (
    Known,
    SimulationInputs,
    inputs_under,
)
from compaction_app.engine.simulation.recording import read_recording
from compaction_app.engine.turn.record import CallRecord, TurnResult
from compaction_app.engine.turn.setup import SystemSizes
from compaction_app.envelopes import chained, stored_envelope
from compaction_app.models import AuditedTurn
from compaction_app.runs import Situation, timeline_for
from compaction_app.summarisers.extractive import extractive_summary
from sessions_app.loaded import columns_of
from sessions_app.models import Entry as Row
from sessions_app.rows import entries_at
from sessions_app.tokens.message_tokens import CHARS_PER_TOKEN, UnmeasurableMessage
from sessions_app.transcripts.columns import MARKS
from sessions_app.transcripts.loading import UnreadableTranscript
from sessions_app.transcripts.timeline import Timeline, timeline
from sessions_app.transcripts.transcript import Entry

MARGIN: Final = 100
"""Entries read in front of what a compaction kept: marks of the cache stand there."""

FLUSH: Final = MARKS.index("flush")
COPY: Final = MARKS.index("copy")


@dataclass(frozen=True, slots=True)
class AssembledCall:
    """A call's request; ``answer`` is the number of its answer's entry, ``turn`` its audited turn, none
    without an audit. ``request`` is none where the rules send no such call, ``problem`` says why.
    """

    number: int
    answer: int
    turn: int | None
    run: str
    request: Request | None
    problem: str = ""
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class _Judged:
    """A turn that was judged, by its number in the audit, on the branch that ended it."""

    turn: int | None
    branch: Sequence[tuple[int, Entry]]
    result: TurnResult


class CallReader:
    """Reads calls of one session by their numbers on the newest branch; each turn is judged once."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.grown = timeline_for(situation)
        self._last: _Judged | None = None

    @property
    def calls(self) -> int:
        return self.grown.calls

    @cached_property
    def overhead_tokens(self) -> int:
        """What the session's bills show beyond its messages, 0 where nothing is known."""
        return max(0, round(weigh(self.grown).calibration.overhead))

    def number_of(self, seq: int) -> int:
        """The call that entry ``seq`` or its copy answers, else the first behind it, else the last.

        Raises:
            IndexError: when the branch has no call.
        """
        if not self.calls:
            raise IndexError(seq)
        answers = self.grown.branch[self.grown.place]
        rows = Row.objects.filter(window=self.situation.window)
        digest = rows.filter(seq=seq).values_list("digest", flat=True).first()
        alike = [seq]
        if digest and seq not in answers:
            alike += rows.filter(digest=digest).values_list("seq", flat=True)
        own = np.flatnonzero(np.isin(answers, alike))
        before = int(own[0]) if len(own) else int((answers < seq).sum())
        return min(before + 1, self.calls)

    def call(self, number: int) -> AssembledCall:
        """Call ``number``, from 1.

        Raises:
            IndexError: when the branch has no such call.
        """
        if not 1 <= number <= self.calls:
            raise IndexError(number)
        answer = self._original(int(self.grown.branch[self.grown.place[number - 1]]))
        audited = self._audited(answer)
        turn = audited.number if audited else None
        blank = AssembledCall(number, answer, turn, "turn", None)
        leaf = self._leaf(number, answer)
        if leaf is None:
            return replace(blank, run="flush", problem="no_turn_after_flush")
        try:
            return self._again(blank, audited) or self._assembled(
                blank, self._branch(leaf), audited
            )
        except (UnreadableTranscript, UnmeasurableMessage):
            return replace(blank, problem="unreadable")

    def _again(self, blank: AssembledCall, audited: AuditedTurn | None) -> AssembledCall | None:
        """An earlier call of the turn that was judged last, which has been assembled with it."""
        judged = self._last
        if judged is None or judged.turn != (audited.number if audited else None):
            return None
        place = next((n for n, (seq, _) in enumerate(judged.branch) if seq == blank.answer), None)
        return None if place is None else self._of_turn(blank, judged, place)

    def _of_turn(self, blank: AssembledCall, judged: _Judged, place: int) -> AssembledCall | None:
        identity = judged.branch[place][1].id
        record = next((call for call in judged.result.calls if call.answer_id == identity), None)
        if record is None:
            return None
        request = self._request(record, judged.branch[:place])
        return replace(blank, run=record.run, request=request)

    def _assembled(
        self, blank: AssembledCall, branch: Sequence[tuple[int, Entry]], audited: AuditedTurn | None
    ) -> AssembledCall:
        place = next(n for n, (seq, _) in enumerate(branch) if seq == blank.answer)
        if audited is not None and self._was_rewritten:
            inputs, since = self._whole, Since(audited.number, audited.index)
        else:
            inputs = self._inputs([entry for _, entry in branch])
            since = Since(len(inputs.recording.turns), audited.index if audited else {})
        result = self._judged(inputs, since)
        if result is None:
            return replace(blank, problem="no_prompt")
        judged = _Judged(audited.number if audited else None, branch, result)
        self._last = judged
        found = self._of_turn(blank, judged, place)
        return found or replace(blank, problem="not_sent", stopped=result.outcome)

    def _judged(self, inputs: SimulationInputs, since: Since) -> TurnResult | None:
        if not 1 <= since.number <= len(inputs.recording.turns):
            return None
        done = next(audited_turns(inputs, since), None)
        return done.turn.result if done else None

    @cached_property
    def _was_rewritten(self) -> bool:
        """Whether the session was rewritten: then its newest branch does not show what was before."""
        return COPY in columns_of(self.situation.window).mark

    @cached_property
    def _whole(self) -> SimulationInputs:
        return simulation_of(self.situation)

    def _request(self, record: CallRecord, before: Sequence[tuple[int, Entry]]) -> Request:
        path = [(seq, entry.record) for seq, entry in before]
        tokens = self.situation.around.rules.message_tokens
        return request_of(record.context, originals_of(path), tokens)

    def _inputs(self, entries: Sequence[Entry]) -> SimulationInputs:
        situation = self.situation
        known = Known(
            session_id=str(situation.session.uuid),
            recording=read_recording(entries),
            index=situation.session.index_entry or {},
            own_policy=situation.policy,
            header_bytes=0,
        )
        inputs = inputs_under(
            situation.policy, situation.around, known, summarise=extractive_summary
        )
        inputs = replace(inputs, envelope=self._envelope)
        if "systemPromptReport" in known.index:
            return inputs
        tokens = situation.system_tokens or self.overhead_tokens
        sizes = SystemSizes(tokens * CHARS_PER_TOKEN)
        return replace(inputs, setup=replace(inputs.setup, system=sizes))

    @cached_property
    def _envelope(self) -> Envelope:
        return stored_envelope(self.situation, self.grown)

    def _audited(self, seq: int) -> AuditedTurn | None:
        turns = AuditedTurn.objects.filter(window=self.situation.window, start__lte=seq)
        return turns.order_by("-start", "-number").first()

    def _original(self, seq: int) -> int:
        """An entry, or the one that it repeats: a rewrite of the session appends copies."""
        window = self.situation.window
        row = Row.objects.filter(window=window, seq=seq).only("mark", "digest").get()
        if row.mark != "copy":
            return seq
        same = Row.objects.filter(window=window, digest=row.digest, seq__lt=seq)
        first = same.exclude(mark="copy").order_by("seq").values_list("seq", flat=True).first()
        return seq if first is None else int(first)

    def _leaf(self, number: int, answer: int) -> int | None:
        """The entry that ends what must be read: the answer, or the first one of the turn behind a
        flush, for which the flush is made."""
        grown = self.grown
        marks = grown.columns.mark[grown.place]
        if marks[number - 1] != FLUSH:
            return answer
        later = np.flatnonzero(marks[number:] != FLUSH)
        return int(grown.branch[grown.place[number + int(later[0])]]) if len(later) else None

    def _branch(self, leaf: int) -> list[tuple[int, Entry]]:
        """Number and entry of what must be read, each entry below the one before."""
        window = self.situation.window
        grown = timeline(columns_of(window), leaf)
        seqs = grown.branch[_first(grown) :].tolist()
        return list(zip(seqs, chained(entries_at(window, seqs)), strict=True))


def _first(grown: Timeline) -> int:
    """Where on the branch the context of the last call's turn begins."""
    marks = grown.columns.mark[grown.place]
    own = grown.turn[-1]
    earlier = np.flatnonzero((grown.turn < own) & (marks != FLUSH))
    if not len(earlier):
        return 0
    end = grown.place[earlier[-1]]
    before = np.flatnonzero(grown.compactions.place < end)
    return max(0, int(grown.compactions.kept[before[-1]]) - MARGIN) if len(before) else 0
