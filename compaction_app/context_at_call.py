"""The context at a call as pages and the API tell it: parts with sizes, what is new, what broke the cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from compaction_app.context_calls import AssembledCall, CallReader
from compaction_app.context_system import SystemPart, SystemSide, system_side
from compaction_app.engine.context_at_call import Fate, Prefix, SentPart, Step, step_between
from compaction_app.engine.reasons import sentence
from compaction_app.runs import Situation
from sessions_app.entries import sendable
from sessions_app.masking import mask
from sessions_app.tokens import exact
from sessions_app.transcripts.columns import UNKNOWN
from sessions_app.transcripts.measures import all_texts
from sessions_app.transcripts.session_context import llm_message

EXCERPT: Final = 160
AGREES_SHARE: Final = 0.15
AGREES_TOKENS: Final = 200
"""So far from the billed prompt an estimate of characters may lie and still speak of the same messages."""

SENT_CHARS: Final = 4_000
PROBLEMS: Final[Mapping[str, str]] = {
    "no_turn_after_flush": "This call belongs to a memory flush whose turn is not in the transcript yet.",
    "unreadable": "An entry of this context is malformed, so that no request can be made of it.",
    "no_prompt": "No prompt of a person stands in front of this call.",
    "not_sent": "Under the session’s settings and rules this call would not have been sent",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One message as it is told. ``text`` is what is sent where a rule has cut it, else ""."""

    part: SentPart
    fate: Fate | None
    exact: int | None
    excerpt: str
    text: str


@dataclass(frozen=True, slots=True)
class Bill:
    """What the provider reported for the call, in tokens; none where it reported nothing."""

    prompt: int | None
    cache_read: int | None
    cache_write: int | None
    output: int | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """What was assembled beside what was billed, tokens; ``text`` says it."""

    state: Literal["agrees", "parts", "unknown"]
    counted: int | None
    billed: int | None
    text: str


@dataclass(frozen=True, slots=True)
class ToldContext:
    """A call's whole context. ``step`` is none for the first call, and where the one before is unknown."""

    call: AssembledCall
    calls: int
    system: SystemSide
    rows: tuple[Row, ...]
    step: Step | None
    bill: Bill
    broken_by: str
    problem: str

    @property
    def prefix(self) -> Prefix | None:
        return self.step.prefix if self.step else None

    @property
    def message_tokens(self) -> int:
        return self.call.request.tokens if self.call.request else 0

    @property
    def message_exact(self) -> int | None:
        counted = [row.exact for row in self.rows if row.exact is not None]
        return sum(counted) if len(counted) == len(self.rows) else None

    @property
    def agreement(self) -> Agreement:
        """Whether the rules put together about what the provider billed.

        Counted is by the vocabulary where every part has such a count, else estimated.
        """
        parts = [part.exact for part in self.system.parts]
        exactly = self.message_exact
        known = [part for part in parts if part is not None]
        is_exact = exactly is not None and len(known) == len(parts)
        counted = sum(known) + (exactly or 0) if is_exact else self.tokens
        return _agreement(counted if self.call.request else None, self.bill.prompt)

    @property
    def tokens(self) -> int | None:
        """Estimated, system side included; none where that is unknown."""
        return None if self.system.tokens is None else self.system.tokens + self.message_tokens


def _agreement(counted: int | None, billed: int | None) -> Agreement:
    if counted is None or billed is None:
        missing = "the provider reported nothing" if billed is None else "a part is unknown"
        return Agreement("unknown", counted, billed, f"unknown: {missing}")
    apart = counted - billed
    share = abs(apart) / billed if billed else 1.0
    state: Literal["agrees", "parts"] = (
        "agrees" if share <= AGREES_SHARE or abs(apart) <= AGREES_TOKENS else "parts"
    )
    way = "more" if apart >= 0 else "less"
    text = f"{counted:,} tokens assembled, {billed:,} billed: {abs(apart):,} ({share:.1%}) {way}"
    return Agreement(state, counted, billed, text)


def told_context(situation: Situation, number: int) -> ToldContext:
    """The context at call ``number`` of the newest branch.

    Raises:
        IndexError: when there is no such call.
    """
    reader = CallReader(situation)
    call = reader.call(number)
    request = call.request
    earlier = reader.call(number - 1).request if number > 1 and request else None
    step = step_between(earlier, request) if earlier and request else None
    encoding = situation.session.encoding
    parts = request.parts if request else ()
    rows = tuple(
        _row(part, step.fates[place] if step else None, encoding)
        for place, part in enumerate(parts)
    )
    problem = PROBLEMS.get(call.problem, "")
    return ToldContext(
        call=call,
        calls=reader.calls,
        system=system_side(situation, call.answer, reader.overhead_tokens),
        rows=rows,
        step=step,
        bill=_bill(reader, number),
        broken_by=_broken_by(rows, step),
        problem=f"{problem} ({call.stopped})." if call.stopped else problem,
    )


def system_title(part: SystemPart) -> str:
    return mask(part.title)


def _row(part: SentPart, fate: Fate | None, encoding: str) -> Row:
    message = llm_message(part.message) or {}
    texts = list(all_texts(message))
    whole = mask("\n".join(texts))  # before the cut, which could part what a rule would hide
    counted = sum(exact.count(text, encoding) for text in texts) if encoding else None
    text = sendable(whole[:SENT_CHARS]) if part.changes else ""
    return Row(part, fate, counted, sendable(" ".join(whole[:EXCERPT].split())), text)


def _bill(reader: CallReader, number: int) -> Bill:
    grown = reader.grown
    place = int(grown.place[number - 1])
    figures = (
        grown.billed_prompt[number - 1],
        grown.columns.usage_cache_read[place],
        grown.columns.usage_cache_write[place],
        grown.output[number - 1],
    )
    return Bill(*(None if value == UNKNOWN else int(value) for value in figures))


def _broken_by(rows: Sequence[Row], step: Step | None) -> str:
    """Why the cached beginning ends where it does; "" where it does not end."""
    if step is None or step.prefix.broken_at is None:
        return ""
    at = step.prefix.broken_at
    if at >= len(rows):
        return "the call before went on with messages that are gone"
    row = rows[at]
    if row.part.changes:
        return f"{row.part.changes[-1].rule}: {sentence(row.part.changes[-1].reason)}"
    if row.part.kind == "summary":
        return "a compaction put a summary in place of what it summarised"
    if row.fate == "changed":
        earlier = step.prefix.earlier
        if earlier is not None and earlier.changes:
            return f"at the call before it was cut by {earlier.changes[-1].rule}, now it is not"
        if earlier is not None and earlier.before is not None and earlier.before < earlier.after:
            return "at the call before it was the prompt, with what its channel puts in front"
        return "the message is sent in another form than at the call before"
    return "another message stands here than at the call before"


def context_json(told: ToldContext) -> dict[str, Any]:
    """The context as a JSON value; unknown figures are null."""
    call, step = told.call, told.step
    return {
        "call": call.number,
        "calls": told.calls,
        "turn": call.turn,
        "run": call.run,
        "reading": "audit",
        "problem": told.problem or None,
        "answer": call.answer,
        "system": {
            "known": told.system.known.replace(" ", "_"),
            "tokens": told.system.tokens,
            "parts": [
                {
                    "title": system_title(part),
                    **{name: getattr(part, name) for name in ("chars", "raw", "tokens", "exact")},
                    "note": part.note,
                }
                for part in told.system.parts
            ],
        },
        "messages": [_row_json(row) for row in told.rows],
        "tokens": told.message_tokens if call.request else None,
        "exact": told.message_exact if call.request else None,
        "billed": {
            name: getattr(told.bill, name)
            for name in ("prompt", "cache_read", "cache_write", "output")
        },
        "agreement": {
            name: getattr(told.agreement, name) for name in ("state", "counted", "billed", "text")
        },
        "left_out": list(call.request.left_out) if call.request else [],
        "removed": [seq for part in step.removed for seq in part.sources] if step else [],
        "prefix": {
            "messages": step.prefix.messages,
            "tokens": step.prefix.tokens,
            "broken_at": step.prefix.broken_at,
            "why": told.broken_by or None,
        }
        if step
        else None,
    }


def _row_json(row: Row) -> dict[str, Any]:
    part = row.part
    return {
        "position": part.position,
        "kind": part.kind,
        "tool": mask(part.tool) or None,
        "entries": list(part.sources),
        "chars_before": part.before,
        "chars": part.after,
        "tokens": part.tokens,
        "exact": row.exact,
        "since_last_call": row.fate,
        "excerpt": row.excerpt,
        "changes": [
            {
                "rule": change.rule,
                "reason": change.reason,
                "before": change.before_chars,
                "after": change.after_chars,
            }
            for change in part.changes
        ],
    }
