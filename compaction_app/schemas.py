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

    name: str = Field(description="The name of the number.", examples=["line"])
    formula: str = Field(description="How it is computed.", examples=["contextWindow - reserveTokensFloor - softThresholdTokens"])  # fmt: skip
    value: Any = Field(description="The number, or the text it is.", examples=[72_000])
    unit: str = Field(description="tokens, chars, bytes, ms, ratio, count or empty.", examples=["tokens"])  # fmt: skip


class LineOut(CamelSchema):
    """Where a mechanism acts."""

    name: str = Field(description="Its stable name.", examples=["flush"])
    title: str = Field(description="Its name in words.", examples=["flush line"])
    tokens: int = Field(
        description="Where it lies, tokens in its unit; 0 or less: no line can be crossed.",
        examples=[72_000],
    )
    unit: str = Field(description="What is held against it.", examples=["billed prompt tokens"])
    active: bool = Field(description="Whether its mechanism runs under these settings.", examples=[True])  # fmt: skip
    reason: str = Field(description="Stable code: why it is active, or why not.", examples=["active"])  # fmt: skip
    help: str = Field(description="The reason in words.", examples=["acts"])


class EventOut(CamelSchema):
    """Something that fires."""

    kind: str = Field(description="flush, a compaction by its trigger, truncate, prune or guard.", examples=["preflight_compaction"])  # fmt: skip
    call: int = Field(description="The model call before or with which it happens, from 1.", examples=[61])  # fmt: skip
    turn: int = Field(description="The user message it belongs to, from 1.", examples=[12])
    tokens_before: int | None = Field(description="What was judged, in the unit; null where nothing is known.", examples=[76_426])  # fmt: skip
    tokens_after: int | None = Field(description="What is left, tokens; null where nothing changes.", examples=[20_396])  # fmt: skip
    threshold: int | None = Field(description="The line that was reached, in the unit; null where there is none.", examples=[76_000])  # fmt: skip
    unit: str = Field(description="Unit of the judged number and its line.", examples=["billed prompt tokens"])  # fmt: skip
    reason: str = Field(description="Stable code: why it fires.", examples=["above_threshold"])


class TotalsOut(CamelSchema):
    """Sums over a session; null where nobody knows."""

    calls: int = Field(description="Model calls.", examples=[433])
    flushes: int = Field(description="Memory flushes.", examples=[2])
    compactions: int = Field(description="Compactions.", examples=[2])
    flushed_before: int = Field(description="Compactions with a memory flush before them in their cycle.", examples=[1])  # fmt: skip
    blocked: int = Field(description="Turns that end in the overflow reply.", examples=[0])
    tokens_sent: int = Field(description="Prompt tokens of all calls together.", examples=[18_402_113])  # fmt: skip
    tokens_resent: int | None = Field(description="Prompt tokens sent again after a cache break; null where the bills tell of no cache.", examples=[240_110])  # fmt: skip
    peak: int = Field(description="Largest prompt with its answer, tokens.", examples=[185_014])


class CacheBreakOut(CamelSchema):
    """A call whose prompt parts early from the one before, so that the provider's cache does not serve it."""

    call: int = Field(description="From 1.", examples=[61])
    tokens: int = Field(description="Tokens sent again: the prompt behind that point, less what is new.", examples=[10_900])  # fmt: skip
    cause: str = Field(description="compaction, cut_result, pruning, expiry (of the cache) or unknown.", examples=["pruning"])  # fmt: skip


class SummariesOut(CamelSchema):
    """How large simulated summaries are taken to be."""

    source: Literal["recorded", "extractive", "cap", "chosen"] = Field(description="Where the sizes come from.", examples=["recorded"])  # fmt: skip
    tokens: list[int] = Field(description="Of each simulated compaction, estimated tokens.", examples=[[820, 910]])  # fmt: skip


class MarginOut(CamelSchema):
    """Plus or minus so many tokens, where the transcript does not hold the inputs; null: nobody knows."""

    prompt: int | None = Field(description="A prompt behind a simulated compaction.", examples=[120])  # fmt: skip
    check: int | None = Field(description="An estimate of the pre-prompt check.", examples=[90])


class WhatIfIn(CamelSchema):
    """What to change; everything else stays as the session has it."""

    policy: dict[str, Value] = Field(
        {},
        description="Settings by the name OpenClaw gives them; null unsets one.",
        examples=[{"compaction.reserveTokensFloor": 10_000}],
    )
    rule_set: str | None = Field(None, description="The version whose rules apply; the session's own if null.", examples=["openclaw-2026.5.28"])  # fmt: skip
    path: str | None = Field(None, description="chat, agent, local or cli.", examples=["chat"])
    provider: str | None = Field(None, max_length=100, description="The model's provider; the session's own if null.", examples=["anthropic"])  # fmt: skip
    summary: Literal["recorded", "extractive", "cap"] | None = Field(None, description="Where the size of simulated summaries comes from; null: the first of these that is known.", examples=["recorded"])  # fmt: skip
    summary_tokens: int | None = Field(None, ge=1, le=1_000_000, description="A size for each of them, estimated tokens.", examples=[900])  # fmt: skip
    leaf: int | None = Field(None, ge=0, description="The entry that ends the branch; the newest if null.", examples=[1_002])  # fmt: skip


class WhatIfOut(CamelSchema):
    """The session as it would have gone."""

    reading: Literal["what-if"] = Field(description="What this is: decisions that take effect.", examples=["what-if"])  # fmt: skip
    rule_set: str = Field(description="The version whose rules were applied.", examples=["openclaw-2026.5.28"])  # fmt: skip
    path: str = Field(description="Which checks ran: chat, agent, local or cli.", examples=["chat"])
    lines: list[LineOut] = Field(description="Where each mechanism acts under these settings.")
    prompt: list[int | None] = Field(description="Prompt tokens of each call; null for a call that was stripped.", examples=[[1_200, 3_480]])  # fmt: skip
    total: list[int | None] = Field(description="The same with the answer.", examples=[[1_280, 3_510]])  # fmt: skip
    events: list[EventOut] = Field(description="What fires, in order.")
    recorded: TotalsOut = Field(description="What the recording shows.")
    current: TotalsOut = Field(description="The what-if under the session's own settings.")
    what_if: TotalsOut = Field(description="The what-if under the settings that were sent.")
    cache_breaks: list[CacheBreakOut] = Field(description="Those of the what-if.")
    recorded_cache_breaks: list[CacheBreakOut] | None = Field(description="Those that the bills show; null where they tell of no cache.")  # fmt: skip
    stripped: dict[str, int] = Field(description="Entries that the recording's own policy caused and that were left out.", examples=[{"compaction": 2}])  # fmt: skip
    summaries: SummariesOut = Field(description="How large simulated summaries were taken to be.")
    margin: MarginOut = Field(description="How far the numbers may be off, tokens.")
    caveat: str = Field(description="What a replay cannot know.", examples=["The model's answers stay those of the recording."])  # fmt: skip


class FindingOut(CamelSchema):
    """One thing that is wrong, with its fix."""

    code: str = Field(description="Stable code of the finding; docs/findings.md explains each.", examples=["FLUSH_UNREACHABLE"])  # fmt: skip
    severity: Literal["grave", "warn", "info"] = Field(description="How bad it is.", examples=["grave"])  # fmt: skip
    line: int | None = Field(description="Line of the transcript, from 1.", examples=[118])
    numbers: dict[str, Any] = Field(description="The numbers that led to it, by name, tokens unless the name says otherwise.", examples=[{"flushLine": 72_000, "preflightLine": 70_000}])  # fmt: skip
    consequence: str = Field(description="What follows from it.", examples=["The compaction comes before the memory flush."])  # fmt: skip
    fix: dict[str, Any] = Field(description="Settings to change; null unsets one.", examples=[{"compaction.reserveTokensFloor": 24_000}])  # fmt: skip


class FindingsOut(CamelSchema):
    """What is wrong."""

    findings: list[FindingOut] = Field(description="What was found, the gravest first.")


class RetentionOut(CamelSchema):
    """What compactions lost. An anchor is something said or done that should outlive them: a constraint, a
    file action, a decision, an open task, an error, an ask, an identifier."""

    compactions: list[dict[str, Any]] = Field(description="Each with its counts by kind and by position, what was lost (the gravest first, with " "entry, block and characters), flush coverage and read-back. Surface survival is an upper bound on " "what the model recalls.", examples=[[{"cycle": 1, "lost": []}]])  # fmt: skip


class ConfigIn(CamelSchema):
    """A configuration to be checked."""

    text: str = Field(max_length=2_000_000, description="openclaw.json as it is (JSON5).", examples=["{agents: {defaults: {compaction: {mode: 'safeguard'}}}}"])  # fmt: skip
    rule_set: str | None = Field(None, description="The version that is to take it; the newest if null.", examples=["openclaw-2026.5.28"])  # fmt: skip


class DoctorIn(CamelSchema):
    """Files as they are; nothing of them is kept."""

    config: str = Field(max_length=1 << 20, description="openclaw.json (JSON5).", examples=["{agents: {defaults: {compaction: {mode: 'safeguard'}}}}"])  # fmt: skip
    sessions: str | None = Field(None, max_length=8 << 20, description="sessions.json, whose entries are judged, too.", examples=["{}"])  # fmt: skip
    agent: str | None = Field(None, description="The only agent to examine; all if null.", examples=["main"])  # fmt: skip
    rule_set: str | None = Field(None, description="That of the version which wrote the file if null.", examples=["openclaw-2026.5.28"])  # fmt: skip


class DoctorOut(CamelSchema):
    """The doctor's report."""

    agents: list[dict[str, Any]] = Field(description="As `manage.py doctor --json` gives them: settings with their sources, windows with the " "steps that led to them, lines, findings, corrected file, rule sets side by side. Unknown is null.", examples=[[{"agent": "main"}]])  # fmt: skip
    entries: int = Field(description="Entries of sessions.json.", examples=[12])
    examined_entries: int = Field(description="How many of them were judged, the first ones.", examples=[12])  # fmt: skip


class DecisionStage(CamelSchema):
    """One rule applied once where it stands in a turn, also when it did not fire."""

    run: str = Field(description="turn, or flush for the turn of a memory flush.", examples=["turn"])  # fmt: skip
    attempt: int = Field(description="Which attempt of the run, from 1; 0 before and behind the run.", examples=[1])  # fmt: skip
    call: int = Field(description="Number of the next model call in the turn.", examples=[1])
    stage: str = Field(description="Where in the turn it stands.", examples=["flush"])
    kind: str = Field(description="The rule.", examples=["memory_flush"])
    fired: bool = Field(description="Whether the rule acted.", examples=[False])
    outcome: str = Field(description="What the rule decided.", examples=["skip"])
    reason: str = Field(description="Stable code: why.", examples=["already_flushed"])
    rule_set: str = Field(description="The version whose rule it is.", examples=["openclaw-2026.5.28"])  # fmt: skip
    inputs: dict[str, Any] = Field(description="What the rule looked at, tokens unless a name says otherwise.", examples=[{"totalTokens": 71_000, "compactionCount": 2}])  # fmt: skip
    steps: list[StepOut] = Field(description="Its arithmetic, line by line.")


class DecisionOut(DecisionStage):
    """A decision as it is kept."""

    id: UUID = Field(description="The decision's id.", examples=["5c3de7d2-7f6b-49a1-bb44-1a0f0f1f8c55"])  # fmt: skip
    session: UUID = Field(description="Its session.", examples=["6f1f8a2e-7a0e-4b5e-9f0f-0d8e4e0f6c11"])  # fmt: skip
    reading: str = Field(description="audit, what_if or live.", examples=["live"])
    turn: int = Field(description="The user message it belongs to, from 1.", examples=[12])
    created_at: datetime = Field(description="When it was made.", examples=["2026-12-01T09:30:00Z"])


class DecisionPage(CamelSchema):
    """A page of decisions."""

    items: list[DecisionOut] = Field(description="The decisions, in their order.")
    next: int | None = Field(description="Pass as `after` for the next page; null at the end.", examples=[1287])  # fmt: skip
