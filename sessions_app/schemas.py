"""What the API says about sessions: every field with its unit and an example."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Field, Schema
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel


class CamelSchema(Schema):
    """Spelled in Python's way here and in JSON's way outside; unknown fields are refused."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class Problem(Schema):
    """What went wrong (RFC 9457)."""

    type: str = Field(description="Stable name of the sort of problem.", examples=["urn:contextlab:problem:not-found"])  # fmt: skip
    title: str = Field(description="The sort of problem in words.", examples=["There is no such thing"])  # fmt: skip
    status: int = Field(description="The HTTP status.", examples=[404])
    detail: str = Field("", description="What was wrong here and what to do.", examples=["No such session."])  # fmt: skip
    errors: list[dict[str, str]] = Field([], description="Each refused field with a message.", examples=[[{"field": "title", "message": "title: must not be empty."}]])  # fmt: skip


class SessionOut(CamelSchema):
    """One session. Figures that nobody knows are null, never 0."""

    id: UUID = Field(description="The session's id.", examples=["6f1f8a2e-7a0e-4b5e-9f0f-0d8e4e0f6c11"])  # fmt: skip
    title: str = Field(description="Its title.", examples=["agent:main:main"])
    agent: str | None = Field(description="Name of its agent.", examples=["main"])
    source: str = Field(description="Format it was imported from.", examples=["openclaw"])
    is_live: bool = Field(description="Fed through this API; otherwise imported, and never changed.", examples=[True])  # fmt: skip
    archived_at: datetime | None = Field(description="When it was archived; null while it takes messages.", examples=["2026-12-01T09:30:00Z"])  # fmt: skip
    provider: str = Field(description="Provider of its model.", examples=["anthropic"])
    model: str = Field(description="Its model.", examples=["claude-opus-4-5"])
    entries: int = Field(description="Entries stored.", examples=[1003])
    calls: int | None = Field(description="Model calls on the newest branch.", examples=[433])
    turns: int | None = Field(description="User messages on the newest branch.", examples=[61])
    flushes: int | None = Field(description="Memory flushes recorded.", examples=[2])
    compactions: int | None = Field(description="Compactions recorded.", examples=[2])
    peak_tokens: int = Field(description="Largest total of a call, tokens.", examples=[185_014])
    window: int | None = Field(description="Context window of its own settings, tokens.", examples=[200_000])  # fmt: skip
    last_at: datetime | None = Field(description="Time of its newest entry.", examples=["2026-12-01T09:30:00Z"])  # fmt: skip
    imported_at: datetime = Field(description="When it was imported or begun here.", examples=["2026-12-01T09:30:00Z"])  # fmt: skip


class SessionPage(CamelSchema):
    """A page of sessions."""

    items: list[SessionOut] = Field(description="The sessions, newest first.")
    next: int | None = Field(description="Pass as `before` for the next page; null at the end.", examples=[1287])  # fmt: skip


class TitleIn(CamelSchema):
    """What is to change of a session."""

    title: str = Field(min_length=1, max_length=200, description="The new title, 1 to 200 characters.", examples=["the week of the migration"])  # fmt: skip


class CallsOut(CamelSchema):
    """The growth of a session, one value per model call; null where nothing is known."""

    billed_prompt: list[int | None] = Field(description="Prompt tokens billed: input + cacheRead + cacheWrite.", examples=[[1_200, 3_480, None]])  # fmt: skip
    billed_total: list[int | None] = Field(description="The same with the answer, tokens.", examples=[[1_280, 3_510, None]])  # fmt: skip
    estimated: list[int] = Field(description="Estimate of the messages, tokens (characters / 4).", examples=[[310, 2_590, 2_700]])  # fmt: skip
    exact: list[int | None] = Field(description="Messages by the vocabulary of the session, tokens.", examples=[[325, 2_610, 2_733]])  # fmt: skip
    turn: list[int] = Field(description="Number of the turn, from 1.", examples=[[1, 1, 2]])


class EntryOut(CamelSchema):
    """One entry as it was read."""

    seq: int = Field(description="Its place in the file, from 0.", examples=[17])
    line: int = Field(description="Its line in the file, from 1.", examples=[18])
    id: str = Field(description="Its id in the transcript.", examples=["a1b2c3d4"])
    parent_seq: int | None = Field(description="The entry it follows.", examples=[16])
    type: str = Field(description="message, compaction, custom and the like.", examples=["message"])
    role: str = Field(description="Whose message it is; empty for another entry.", examples=["assistant"])  # fmt: skip
    tokens: int = Field(description="Estimate, tokens (characters / 4).", examples=[212])
    exact: int | None = Field(description="By the session's vocabulary, tokens.", examples=[230])
    entry: Any = Field(description="The entry itself.", examples=[{"type": "message", "id": "a1b2c3d4", "message": {"role": "user", "content": "hello"}}])  # fmt: skip


class EntryPage(CamelSchema):
    """A page of entries."""

    items: list[EntryOut] = Field(description="The entries, in the order of the file.")
    next: int | None = Field(description="Pass as `after` for the next page; null at the end.", examples=[1287])  # fmt: skip


class JobOut(CamelSchema):
    """Work of a worker."""

    id: UUID = Field(description="The job's id.", examples=["0b9d2f64-8a3c-4c55-9d1e-6b1f2a7c9e10"])
    kind: str = Field(description="compaction, flush, import, recount, audit or replay.", examples=["compaction"])  # fmt: skip
    state: str = Field(description="queued, running, succeeded, failed or cancelled.", examples=["running"])  # fmt: skip
    title: str = Field(description="What it is, in words.", examples=["the week of the migration: compact"])  # fmt: skip
    session: UUID | None = Field(description="The session it is about.", examples=["6f1f8a2e-7a0e-4b5e-9f0f-0d8e4e0f6c11"])  # fmt: skip
    done: int = Field(description="How much is done, in the unit of the kind.", examples=[3])
    total: int = Field(description="How much there is to do, in the unit of the kind; 0 where nobody knows.", examples=[7])  # fmt: skip
    attempts: int = Field(description="How often a worker has begun with it.", examples=[1])
    step: str = Field(description="Where it is.", examples=["chunk 3 of 7"])
    worker: str = Field(description="Who does it, empty while nobody does.", examples=["worker@host 4711"])  # fmt: skip
    result: dict[str, Any] = Field(description="What came of it.", examples=[{"compacted": True, "summary": "31,200 to 4,980 tokens (estimate)"}])  # fmt: skip
    error: str = Field(description="Why it failed, empty otherwise.", examples=[""])
    created_at: datetime = Field(description="When it was asked for.", examples=["2026-12-01T09:30:00Z"])  # fmt: skip
    finished_at: datetime | None = Field(description="When it ended; null before.", examples=["2026-12-01T09:30:00Z"])  # fmt: skip


class JobPage(CamelSchema):
    """A page of jobs."""

    items: list[JobOut] = Field(description="The jobs, newest first.")
    next: int | None = Field(description="Pass as `before` for the next page; null at the end.", examples=[1287])  # fmt: skip


class OutboxEventOut(CamelSchema):
    """Something that happened to a session."""

    sequence: int = Field(description="Its number in the session, from 1, without gaps.", examples=[17])  # fmt: skip
    kind: str = Field(description="entries, compaction, flush, overflow, subagent, verdict or status.", examples=["entries"])  # fmt: skip
    data: dict[str, Any] = Field(description="What belongs to the kind.", examples=[{"from": 16, "count": 2, "head": "a1b2c3d4"}])  # fmt: skip
    at: datetime = Field(description="When it happened.", examples=["2026-12-01T09:30:00Z"])
