"""What agents send and are answered: their record, policies, messages, what to do before a call."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from ninja import Field
from pydantic import BaseModel, ConfigDict

from compaction_app.schemas import DecisionStage, LineOut, Value
from sessions_app.schemas import CamelSchema

Form = Literal["openclaw", "openai", "anthropic"]
Json = dict[str, Any]
WindowName = Literal["contextWindow", "contextTokens", "maxTokens", "providerContextWindow"]
FORM_HELP = "Whose message form is sent and answered."
HEAD_HELP = "The id of the last entry that the caller knows; the call is refused with 409 when it is another one."  # fmt: skip


class ToolIn(BaseModel):
    """A tool as the model sees it."""

    model_config = ConfigDict(extra="allow")
    name: str = Field(min_length=1, max_length=200, examples=["read"])
    description: str = Field("", examples=["Read a file."])
    parameters: Json = Field({}, description="JSON schema of its arguments.")


class SkillIn(CamelSchema):
    name: str = Field(min_length=1, max_length=200)
    description: str = ""
    location: str = ""


class AgentFields(CamelSchema):
    """What can be said of an agent. In a change, what is left out stays as it is."""

    name: str | None = Field(None, min_length=1, max_length=200, examples=["main"])
    provider: str | None = Field(None, max_length=100, examples=["anthropic"])
    model: str | None = Field(None, max_length=200, examples=["claude-opus-4-5"])
    windows: dict[WindowName, int] | None = Field(
        None, description="Windows of the model, tokens.", examples=[{"contextWindow": 200_000}]
    )
    path: Literal["chat", "agent", "local", "cli"] | None = Field(None, description="Which checks run before a turn.")  # fmt: skip
    time_zone: str | None = Field(None, max_length=64, description="Decides in which day's file a flush writes.", examples=["Europe/Vienna"])  # fmt: skip
    system_prompt: str | None = Field(None, max_length=1_000_000)
    tools: list[ToolIn] | None = Field(None, max_length=500)
    skills: list[SkillIn] | None = Field(None, max_length=500)
    compaction_summariser: str | None = Field(None, max_length=100, examples=["extractive"])
    flush_summariser: str | None = Field(None, max_length=100, examples=["extractive"])
    flush_by: Literal["server", "agent"] | None = Field(None, description="Who runs a memory flush: a worker here, or the agent itself.")  # fmt: skip
    flush_first: bool | None = Field(None, description="A due flush goes before a due compaction. Not the runtime's.")  # fmt: skip
    config_text: str | None = Field(None, max_length=2_000_000, description="openclaw.json, JSON5.")


class AgentIn(AgentFields):
    name: str = Field(min_length=1, max_length=200, examples=["main"])


class AgentOut(CamelSchema):
    id: UUID
    name: str
    provider: str
    model: str
    windows: dict[str, Any]
    path: str
    time_zone: str
    system_prompt: str
    tools: list[Any]
    skills: list[Any]
    compaction_summariser: str
    flush_summariser: str
    flush_by: str
    flush_first: bool
    rule_set: str = Field(examples=["openclaw-2026.5.28"])
    policy_version: int = Field(description="0: only the configuration says something.")
    system_tokens: int = Field(description="Estimate of the system prompt with its files, tokens (characters / 4).")  # fmt: skip
    lines: list[LineOut] = Field(description="Where each mechanism acts under the policy in force.")
    created_at: datetime


class AgentPage(CamelSchema):
    items: list[AgentOut]


class PolicyIn(CamelSchema):
    """A new version; earlier ones stay as they are."""

    settings: dict[str, Value] = Field(description="All explicit settings, by the names OpenClaw gives them.", examples=[{"compaction.reserveTokensFloor": 20_000}])  # fmt: skip
    rule_set: str | None = Field(None, examples=["openclaw-2026.5.28"])
    note: str = Field("", max_length=300)
    expected_version: int | None = Field(None, ge=0, description="The version that the caller has seen, 0 for none; 409 when there is a newer one.")  # fmt: skip


class PolicyOut(CamelSchema):
    version: int
    settings: dict[str, Any]
    rule_set: str
    note: str
    author: str | None
    created_at: datetime | None


class PolicyPage(CamelSchema):
    items: list[PolicyOut]


class FilesIn(CamelSchema):
    files: dict[str, str | None] = Field(description="Texts by name; null takes a file away.", examples=[{"AGENTS.md": "# Rules\n"}])  # fmt: skip


class FilesOut(CamelSchema):
    files: dict[str, str]


class MemoryFileOut(CamelSchema):
    name: str = Field(examples=["memory/2026-12-01.md"])
    bytes: int
    changed_at: datetime


class MemoryFilesOut(CamelSchema):
    files: list[MemoryFileOut]


class SessionIn(CamelSchema):
    """A new session of an agent, alone or as a subagent of another session."""

    agent: UUID
    title: str = Field("", max_length=200)
    key: str = Field("", max_length=300, examples=["agent:main:telegram:42"])
    parent: UUID | None = Field(None, description="The session that starts it.")
    fork: bool = Field(False, description="Begin with the parent's active branch; otherwise empty.")


class MessagesIn(CamelSchema):
    """Messages in the caller's own form, in order."""

    form: Form = Field("openclaw", description=FORM_HELP)
    messages: list[Json] = Field(min_length=1, max_length=1_000, examples=[[{"role": "user", "content": "hello"}]])  # fmt: skip
    expected_head: str | None = Field(None, max_length=128, description=HEAD_HELP)


class CallIn(CamelSchema):
    """A model call that was made: what was sent anew, then the answer."""

    form: Form = Field("openclaw", description=FORM_HELP)
    messages: list[Json] = Field([], max_length=1_000, description="The prompt or the tools' results, then the answer; no answer where the call failed.")  # fmt: skip
    usage: Json | None = Field(None, description="The provider's usage object, as it came.", examples=[{"input_tokens": 1200, "output_tokens": 80}])  # fmt: skip
    error: str | None = Field(None, max_length=100_000, description="The provider's error text, where the call failed.")  # fmt: skip
    expected_head: str | None = Field(None, max_length=128, description=HEAD_HELP)


class PrepareIn(CamelSchema):
    """What is about to be sent."""

    form: Form = Field("openclaw", description=FORM_HELP)
    prompt: Json | None = Field(None, description="The new user message; null to go on behind the last stored one.", examples=[{"role": "user", "content": "hello"}])  # fmt: skip


class CompactIn(CamelSchema):
    instructions: str = Field("", max_length=4_000, description="What the summary is to look at, as typed behind /compact.", examples=["keep the deploy plan"])  # fmt: skip


class NotesIn(CamelSchema):
    notes: list[str] = Field([], max_length=50, description="What goes to the memory file, in order.", examples=[["- The deploy is on Friday."]])  # fmt: skip
    reply: str = Field("", max_length=50_000, description="What the model answered; without a note it is one, unless it is NO_REPLY.", examples=["NO_REPLY"])  # fmt: skip


class ChangeOut(CamelSchema):
    """What a rule did to a message; characters are UTF-16 units."""

    position: int | str
    rule: str
    before_chars: int
    after_chars: int
    reason: str


class ReceiptOut(CamelSchema):
    """What became of a stored message."""

    sent: int = Field(description="Which of the sent messages, from 0.")
    id: str | None = Field(
        description="The entry it is stored under; null: it is not, for `reason`."
    )
    added: list[str] = Field(description="Entries that were stored because of it.")
    reason: str = Field(examples=["stored"])
    changes: list[Json]
    estimated_tokens: int = Field(description="Of what was stored for it, tokens (characters / 4).", examples=[12])  # fmt: skip
    billed_tokens: int | None = Field(description="What the provider counted for the call that it answers, prompt and answer, tokens; null without a usage.", examples=[1_280])  # fmt: skip


class LineDistance(CamelSchema):
    name: str
    tokens: int
    unit: str
    distance: int | None = Field(description="Tokens until it is reached, negative behind it; null where nothing is known.")  # fmt: skip


class PressureOut(CamelSchema):
    """How full the window is."""

    window: int = Field(description="Of a run, tokens.")
    stored_total: int | None = Field(description="Tokens of the last run by its usage; null where nothing is known.")  # fmt: skip
    fresh: bool = Field(description="Whether nothing was compacted since.")
    fill: float | None = Field(description="Stored total as a share of the window.")
    lines: list[LineDistance]


class AppendedOut(CamelSchema):
    head: str | None
    entries: int
    estimated_tokens: int = Field(description="Of what was added, characters / 4.")
    receipts: list[ReceiptOut]
    pressure: PressureOut
    decisions: list[DecisionStage] = Field(description="What the rules decided about it, fired or not; stored too.")  # fmt: skip
    jobs: list[UUID] = Field(description="Jobs that do what has become due.")
    event: int = Field(description="Number of the newest event.")


class PartOut(CamelSchema):
    """A part of the system prompt; parts before the first that changes are a stable cache prefix."""

    name: str
    text: str
    stable: bool


class DueOut(CamelSchema):
    """What must happen, or is due behind a turn."""

    trigger: str | None = Field(description="Why a compaction is due.", examples=["budget"])
    tokens: int | None = Field(description="What was judged, tokens.")


class FlushTurnOut(CamelSchema):
    """The turn of a memory flush, for an agent that runs it itself."""

    system_prompt: str
    prompt: str
    target: str = Field(description="The file that the notes belong to.", examples=["memory/2026-12-01.md"])  # fmt: skip
    silent_reply: str = Field("NO_REPLY", description="The answer that stores nothing.")


class PreparedOut(CamelSchema):
    """What to do now. Nothing was stored: the same head and prompt give the same answer."""

    action: Literal["send", "flush", "compact", "blocked", "done"]
    head: str | None
    system: list[PartOut] = Field(description="Parts of the system prompt, in order.")
    messages: list[Json] | None = Field(description="What to send, in the caller's form; null when something must happen first.")  # fmt: skip
    changes: list[ChangeOut] = Field(
        description="Which of the messages a rule has changed, and how."
    )
    due: DueOut | None
    flush_turn: FlushTurnOut | None = None
    job: UUID | None = Field(None, description="The job that does what must happen first.")
    reply: str | None = Field(description="What a blocked turn says to the user.")
    decisions: list[DecisionStage]


class ReportedOut(AppendedOut):
    """What a call left, and what follows."""

    action: Literal["send", "flush", "compact", "blocked", "done"] | None = Field(description="null: go on with the results of the tools that were asked for.")  # fmt: skip
    due: DueOut | None
    job: UUID | None = None
    reply: str | None = Field(description="What a blocked turn says to the user; it is stored.")
