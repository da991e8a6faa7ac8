"""What agents send and are answered about the life of a session: begun, spawned, ended."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from ninja import Field

from compaction_app.schemas import DecisionStage
from sessions_app.schemas import CamelSchema, SessionOut


class SessionIn(CamelSchema):
    """A new session of an agent, alone or as a subagent of another session."""

    agent: UUID = Field(description="The agent that it is of.", examples=["f2a7c6b1-3d57-4c0b-8a3e-0f4f7a6b2d90"])  # fmt: skip
    title: str = Field("", max_length=200, description="Its title; made from the agent's name when empty.", examples=["the week of the migration"])  # fmt: skip
    key: str = Field("", max_length=300, description="Its session key in the runtime's form; made up when empty.", examples=["agent:main:telegram:42"])  # fmt: skip
    parent: UUID | None = Field(None, description="The session that starts it.", examples=["6f1f8a2e-7a0e-4b5e-9f0f-0d8e4e0f6c11"])  # fmt: skip
    task: str = Field("", max_length=100_000, description="What a subagent is to do; the first message in the answer says it as the runtime does.", examples=["Read the log and report."])  # fmt: skip
    label: str = Field("", max_length=200, description="What its parent calls a subagent.", examples=["reader"])  # fmt: skip
    persistent: bool = Field(False, description="The subagent stays for further messages.", examples=[False])  # fmt: skip
    fork: bool = Field(False, description="Begin with the parent's active branch; otherwise empty.", examples=[False])  # fmt: skip


class SubagentOut(CamelSchema):
    """How a subagent begins."""

    depth: int = Field(description="How deep it is nested, from 1.", examples=[1])
    max_depth: int = Field(description="How deep subagents may be nested.", examples=[1])
    context: Literal["isolated", "fork"] = Field(description="Empty, or with the parent's active branch.", examples=["isolated"])  # fmt: skip
    note: str | None = Field(description="Why its context is not what was asked for.", examples=[None])  # fmt: skip
    first_message: str = Field(description="The first prompt to send to its model, as the runtime words it.", examples=["[Subagent Context] You are running as a subagent (depth 1/1). Results auto-announce to your requester; do not busy-poll for status."])  # fmt: skip


class BegunOut(SessionOut):
    """The session that was begun."""

    subagent: SubagentOut | None = Field(description="How it begins as a subagent; null for a session of its own.")  # fmt: skip


class EndIn(CamelSchema):
    """How the run of a subagent ended."""

    status: Literal["ok", "timeout", "error"] = Field("ok", description="How it ended.", examples=["ok"])  # fmt: skip
    error: str | None = Field(None, max_length=10_000, description="What went wrong, where it failed.", examples=["the log is gone"])  # fmt: skip


class EndedOut(CamelSchema):
    """What the parent of a subagent is told."""

    outcome: Literal["announce", "skip", "postpone"] = Field(description="Whether its parent is told, now or when its own subagents have ended.", examples=["announce"])  # fmt: skip
    reason: str = Field(description="Stable code: why.", examples=["reply"])
    told: str | None = Field(description="What the parent's next prompt tells its model; null where nothing.", examples=["[Internal task completion event]"])  # fmt: skip
    pending: int = Field(description="How many of its own subagents are still running.", examples=[0])  # fmt: skip
    decisions: list[DecisionStage] = Field(description="What was decided; stored too.")
