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
    title: str = Field(examples=["There is no such thing"])
    status: int = Field(examples=[404])
    detail: str = Field("", description="What was wrong here and what to do.", examples=["No such session."])  # fmt: skip
    errors: list[dict[str, str]] = Field([], description="Each refused field with a message.")


class SessionOut(CamelSchema):
    """One session. Figures that nobody knows are null, never 0."""

    id: UUID = Field(examples=["6f1f8a2e-7a0e-4b5e-9f0f-0d8e4e0f6c11"])
    title: str = Field(examples=["agent:main:main"])
    agent: str | None = Field(description="Name of its agent.", examples=["main"])
    source: str = Field(description="Format it was imported from.", examples=["openclaw"])
    is_live: bool = Field(
        description="Fed through this API; otherwise imported, and never changed."
    )
    archived_at: datetime | None
    provider: str = Field(examples=["anthropic"])
    model: str = Field(examples=["claude-opus-4-5"])
    entries: int = Field(description="Entries stored.", examples=[1003])
    calls: int | None = Field(description="Model calls on the newest branch.", examples=[433])
    turns: int | None = Field(description="User messages on the newest branch.", examples=[61])
    flushes: int | None = Field(description="Memory flushes recorded.", examples=[2])
    compactions: int | None = Field(description="Compactions recorded.", examples=[2])
    peak_tokens: int = Field(description="Largest total of a call, tokens.", examples=[185_014])
    window: int | None = Field(description="Context window of its own settings, tokens.", examples=[200_000])  # fmt: skip
    last_at: datetime | None = Field(description="Time of its newest entry.")
    imported_at: datetime


class SessionPage(CamelSchema):
    items: list[SessionOut]
    next: int | None = Field(description="Pass as `before` for the next page; null at the end.")


class TitleIn(CamelSchema):
    title: str = Field(min_length=1, max_length=200, examples=["the week of the migration"])


class CallsOut(CamelSchema):
    """The growth of a session, one value per model call; null where nothing is known."""

    billed_prompt: list[int | None] = Field(description="Prompt tokens billed: input + cacheRead + cacheWrite.")  # fmt: skip
    billed_total: list[int | None] = Field(description="The same with the answer, tokens.")
    estimated: list[int] = Field(description="Estimate of the messages, tokens (characters / 4).")
    exact: list[int | None] = Field(description="Messages by the vocabulary of the session, tokens.")  # fmt: skip
    turn: list[int] = Field(description="Number of the turn, from 1.")


class EntryOut(CamelSchema):
    """One entry as it was read."""

    seq: int = Field(description="Its place in the file, from 0.", examples=[17])
    line: int = Field(description="Its line in the file, from 1.", examples=[18])
    id: str = Field(examples=["a1b2c3d4"])
    parent_seq: int | None = Field(description="The entry it follows.", examples=[16])
    type: str = Field(examples=["message"])
    role: str = Field(examples=["assistant"])
    tokens: int = Field(description="Estimate, tokens (characters / 4).", examples=[212])
    exact: int | None = Field(description="By the session's vocabulary, tokens.", examples=[230])
    entry: Any = Field(description="The entry itself.")


class EntryPage(CamelSchema):
    items: list[EntryOut]
    next: int | None = Field(description="Pass as `after` for the next page; null at the end.")


class JobOut(CamelSchema):
    """Work of a worker."""

    id: UUID
    kind: str = Field(examples=["import"])
    state: str = Field(examples=["running"])
    title: str
    session: UUID | None = Field(description="The session it is about.")
    done: int = Field(description="How much is done, in the unit of the kind.", examples=[3])
    total: int = Field(examples=[7])
    attempts: int = Field(examples=[1])
    step: str = Field(description="Where it is.", examples=["chunk 3 of 7"])
    worker: str
    result: dict[str, Any] = Field(description="What came of it.")
    error: str = Field(description="Why it failed, empty otherwise.")
    created_at: datetime
    finished_at: datetime | None


class JobPage(CamelSchema):
    items: list[JobOut]
    next: int | None = Field(description="Pass as `before` for the next page; null at the end.")


class OutboxEventOut(CamelSchema):
    """Something that happened to a session."""

    sequence: int = Field(description="Its number in the session, from 1, without gaps.", examples=[17])  # fmt: skip
    kind: str = Field(examples=["appended"])
    data: dict[str, Any]
    at: datetime
