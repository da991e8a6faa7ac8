"""What the API says about rules: lines, what-if, decisions, findings."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from ninja import Field

from sessions_app.schemas import CamelSchema

Number = int | float
Value = str | int | float | bool | list[str] | None


class StepOut(CamelSchema):
    """One line of arithmetic."""

    name: str = Field(examples=["line"])
    formula: str = Field(examples=["contextWindow - reserveTokensFloor - softThresholdTokens"])
    value: Any = Field(examples=[72_000])
    unit: str = Field(description="tokens, chars, bytes, ms, ratio, count or empty.", examples=["tokens"])  # fmt: skip


class LineOut(CamelSchema):
    """Where a mechanism acts."""

    name: str = Field(examples=["flush"])
    title: str = Field(examples=["flush line"])
    tokens: int = Field(description="0 or less: no line can be crossed.", examples=[72_000])
    unit: str = Field(examples=["billed prompt tokens"])
    active: bool
    reason: str = Field(description="Stable code: why it is active, or why not.")
    help: str = Field(description="The reason in words.")


class EventOut(CamelSchema):
    """Something that fires."""

    kind: str = Field(examples=["preflight_compaction"])
    call: int = Field(description="The model call before or with which it happens, from 1.")
    turn: int
    tokens_before: int | None
    tokens_after: int | None
    threshold: int | None
    unit: str
    reason: str


class TotalsOut(CamelSchema):
    """Sums over a session; null where nobody knows."""

    calls: int
    flushes: int
    compactions: int
    flushed_before: int = Field(description="Compactions with a memory flush before them in their cycle.")  # fmt: skip
    blocked: int = Field(description="Turns that end in the overflow reply.")
    tokens_sent: int = Field(description="Prompt tokens of all calls together.")
    tokens_resent: int | None = Field(
        description="Prompt tokens sent again after a cache break; null where the bills tell of no cache."
    )
    peak: int = Field(description="Largest prompt with its answer, tokens.")


class CacheBreakOut(CamelSchema):
    """A call whose prompt parts early from the one before, so that the provider's cache does not serve it."""

    call: int = Field(description="From 1.")
    tokens: int = Field(description="Sent again: the prompt behind that point, less what is new.")
    cause: str = Field(description="compaction, cut_result, pruning, expiry (of the cache) or unknown.")  # fmt: skip


class SummariesOut(CamelSchema):
    """How large simulated summaries are taken to be."""

    source: Literal["recorded", "extractive", "cap", "chosen"]
    tokens: list[int] = Field(description="Of each simulated compaction, estimated tokens.")


class MarginOut(CamelSchema):
    """Plus or minus so many tokens, where the transcript does not hold the inputs; null: nobody knows."""

    prompt: int | None = Field(description="A prompt behind a simulated compaction.")
    check: int | None = Field(description="An estimate of the pre-prompt check.")


class WhatIfIn(CamelSchema):
    """What to change; everything else stays as the session has it."""

    policy: dict[str, Value] = Field(
        {},
        description="Settings by the name OpenClaw gives them; null unsets one.",
        examples=[{"compaction.reserveTokensFloor": 10_000}],
    )
    rule_set: str | None = Field(None, examples=["openclaw-2026.5.28"])
    path: str | None = Field(None, description="chat, agent, local or cli.", examples=["chat"])
    provider: str | None = Field(None, max_length=100, examples=["anthropic"])
    summary: Literal["recorded", "extractive", "cap"] | None = Field(None, description="Where the size of simulated summaries comes from; null: the first of these that is known.")  # fmt: skip
    summary_tokens: int | None = Field(None, ge=1, le=1_000_000, description="A size for each of them, estimated tokens.")  # fmt: skip
    leaf: int | None = Field(None, ge=0, description="The entry that ends the branch; the newest if null.")  # fmt: skip


class WhatIfOut(CamelSchema):
    """The session as it would have gone."""

    reading: Literal["what-if"]
    rule_set: str
    path: str
    lines: list[LineOut]
    prompt: list[int | None] = Field(description="Prompt tokens of each call; null for a call that was stripped.")  # fmt: skip
    total: list[int | None] = Field(description="The same with the answer.")
    events: list[EventOut]
    recorded: TotalsOut = Field(description="What the recording shows.")
    current: TotalsOut = Field(description="The what-if under the session's own settings.")
    what_if: TotalsOut
    cache_breaks: list[CacheBreakOut] = Field(description="Those of the what-if.")
    recorded_cache_breaks: list[CacheBreakOut] | None = Field(description="Those that the bills show; null where they tell of no cache.")  # fmt: skip
    stripped: dict[str, int] = Field(description="Entries that the recording's own policy caused and that were left out.")  # fmt: skip
    summaries: SummariesOut
    margin: MarginOut
    caveat: str = Field(description="What a replay cannot know.")


class FindingOut(CamelSchema):
    """One thing that is wrong, with its fix."""

    code: str = Field(examples=["FLUSH_UNREACHABLE"])
    severity: Literal["grave", "warn", "info"]
    line: int | None = Field(description="Line of the transcript, from 1.")
    numbers: dict[str, Any]
    consequence: str
    fix: dict[str, Any] = Field(description="Settings to change; null unsets one.")


class FindingsOut(CamelSchema):
    findings: list[FindingOut]


class RetentionOut(CamelSchema):
    """What compactions lost. An anchor is something said or done that should outlive them: a constraint, a
    file action, a decision, an open task, an error, an ask, an identifier."""

    compactions: list[dict[str, Any]] = Field(
        description="Each with its counts by kind and by position, what was lost (the gravest first, with "
        "entry, block and characters), flush coverage and read-back. Surface survival is an upper bound on "
        "what the model recalls."
    )


class ConfigIn(CamelSchema):
    text: str = Field(max_length=2_000_000, description="openclaw.json as it is (JSON5).", examples=["{agents: {defaults: {compaction: {mode: 'safeguard'}}}}"])  # fmt: skip
    rule_set: str | None = Field(None, examples=["openclaw-2026.5.28"])


class DoctorIn(CamelSchema):
    """Files as they are; nothing of them is kept."""

    config: str = Field(max_length=1 << 20, description="openclaw.json (JSON5).", examples=["{agents: {defaults: {compaction: {mode: 'safeguard'}}}}"])  # fmt: skip
    sessions: str | None = Field(None, max_length=8 << 20, description="sessions.json, whose entries are judged, too.")  # fmt: skip
    agent: str | None = Field(None, description="The only agent to examine; all if null.", examples=["main"])  # fmt: skip
    rule_set: str | None = Field(None, description="That of the version which wrote the file if null.", examples=["openclaw-2026.5.28"])  # fmt: skip


class DoctorOut(CamelSchema):
    agents: list[dict[str, Any]] = Field(
        description="As `manage.py doctor --json` gives them: settings with their sources, windows with the "
        "steps that led to them, lines, findings, corrected file, rule sets side by side. Unknown is null."
    )
    entries: int = Field(description="Entries of sessions.json.")
    examined_entries: int = Field(description="How many of them were judged, the first ones.")


class DecisionStage(CamelSchema):
    """One rule applied once where it stands in a turn, also when it did not fire."""

    run: str
    attempt: int
    call: int = Field(description="Number of the next model call in the turn.")
    stage: str
    kind: str = Field(description="The rule.", examples=["memory_flush"])
    fired: bool
    outcome: str = Field(examples=["skip"])
    reason: str = Field(examples=["already_flushed"])
    rule_set: str
    inputs: dict[str, Any]
    steps: list[StepOut]


class DecisionOut(DecisionStage):
    """A decision as it is kept."""

    id: UUID
    session: UUID
    reading: str = Field(description="audit, what_if or live.")
    turn: int
    created_at: datetime


class DecisionPage(CamelSchema):
    items: list[DecisionOut]
    next: int | None = Field(description="Pass as `after` for the next page; null at the end.")
