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
    name: str = Field(min_length=1, max_length=200, description="Its name.", examples=["read"])
    description: str = Field("", description="What it is for, as the model reads it.", examples=["Read a file."])  # fmt: skip
    parameters: Json = Field({}, description="JSON schema of its arguments.", examples=[{"type": "object", "properties": {"path": {"type": "string"}}}])  # fmt: skip


class SkillIn(CamelSchema):
    """A skill as the model sees it."""

    name: str = Field(min_length=1, max_length=200, description="Its name.", examples=["deploy"])
    description: str = Field("", description="When to use it, as the model reads it.", examples=["Deploys the site."])  # fmt: skip
    location: str = Field("", description="Where its file lies.", examples=["~/skills/deploy/SKILL.md"])  # fmt: skip


class AgentFields(CamelSchema):
    """What can be said of an agent. In a change, what is left out stays as it is."""

    name: str | None = Field(None, min_length=1, max_length=200, description="Its name, unique in nothing.", examples=["main"])  # fmt: skip
    provider: str | None = Field(None, max_length=100, description="Provider of its model.", examples=["anthropic"])  # fmt: skip
    model: str | None = Field(None, max_length=200, description="Its model.", examples=["claude-opus-4-5"])  # fmt: skip
    windows: dict[WindowName, int] | None = Field(
        None, description="Windows of the model, tokens.", examples=[{"contextWindow": 200_000}]
    )
    path: Literal["chat", "agent", "local", "cli"] | None = Field(None, description="Which checks run before a turn.", examples=["chat"])  # fmt: skip
    time_zone: str | None = Field(None, max_length=64, description="Decides in which day's file a flush writes.", examples=["Europe/Vienna"])  # fmt: skip
    system_prompt: str | None = Field(None, max_length=1_000_000, description="What the agent sends in front of everything; the workspace files follow it.", examples=["You are brief."])  # fmt: skip
    tools: list[ToolIn] | None = Field(None, max_length=500, description="Its tools; their schemas are counted as part of each call.")  # fmt: skip
    skills: list[SkillIn] | None = Field(None, max_length=500, description="Its skills; their list is part of the system prompt.")  # fmt: skip
    compaction_summariser: str | None = Field(None, max_length=100, description="Who writes summaries: extractive, or a connection of the team by its name.", examples=["extractive"])  # fmt: skip
    flush_summariser: str | None = Field(None, max_length=100, description="Who writes the notes of a memory flush.", examples=["extractive"])  # fmt: skip
    flush_by: Literal["server", "agent"] | None = Field(None, description="Who runs a memory flush: a worker here, or the agent itself.", examples=["server"])  # fmt: skip
    flush_first: bool | None = Field(None, description="A due flush goes before a due compaction. Not the runtime's.", examples=[True])  # fmt: skip
    config_text: str | None = Field(None, max_length=2_000_000, description="openclaw.json, JSON5.", examples=["{agents: {defaults: {compaction: {mode: 'safeguard'}}}}"])  # fmt: skip


class AgentIn(AgentFields):
    """A new agent."""

    name: str = Field(min_length=1, max_length=200, description="Its name.", examples=["main"])


class AgentOut(CamelSchema):
    """An agent, what its system prompt weighs, and where its lines lie."""

    id: UUID = Field(description="The agent's id.", examples=["f2a7c6b1-3d57-4c0b-8a3e-0f4f7a6b2d90"])  # fmt: skip
    name: str = Field(description="Its name.", examples=["main"])
    provider: str = Field(description="Provider of its model.", examples=["anthropic"])
    model: str = Field(description="Its model.", examples=["claude-opus-4-5"])
    windows: dict[str, Any] = Field(description="Windows of the model by their source, tokens.", examples=[{"contextWindow": 200_000}])  # fmt: skip
    path: str = Field(description="Which checks run before a turn: chat, agent, local or cli.", examples=["chat"])  # fmt: skip
    time_zone: str = Field(description="Decides in which day's file a flush writes.", examples=["Europe/Vienna"])  # fmt: skip
    system_prompt: str = Field(description="What stands in front of everything.", examples=["You are brief."])  # fmt: skip
    tools: list[Any] = Field(description="Its tools with their schemas.", examples=[[{"name": "read", "description": "Read a file.", "parameters": {}}]])  # fmt: skip
    skills: list[Any] = Field(description="Its skills.", examples=[[{"name": "deploy", "description": "Deploys the site.", "location": ""}]])  # fmt: skip
    compaction_summariser: str = Field(description="Who writes summaries.", examples=["extractive"])
    flush_summariser: str = Field(description="Who writes the notes of a memory flush.", examples=["extractive"])  # fmt: skip
    flush_by: str = Field(description="Who runs a memory flush: server or agent.", examples=["server"])  # fmt: skip
    flush_first: bool = Field(description="Whether a due flush goes before a due compaction.", examples=[True])  # fmt: skip
    rule_set: str = Field(description="The version whose rules apply.", examples=["openclaw-2026.5.28"])  # fmt: skip
    policy_version: int = Field(description="0: only the configuration says something.", examples=[3])  # fmt: skip
    system_tokens: int = Field(description="Estimate of the system prompt with its files, tokens (characters / 4).", examples=[2_410])  # fmt: skip
    lines: list[LineOut] = Field(description="Where each mechanism acts under the policy in force.")
    created_at: datetime = Field(description="When it was created.", examples=["2026-12-01T09:30:00Z"])  # fmt: skip


class AgentPage(CamelSchema):
    """The team's agents."""

    items: list[AgentOut] = Field(description="The agents, oldest first.")


class PolicyIn(CamelSchema):
    """A new version; earlier ones stay as they are."""

    settings: dict[str, Value] = Field(description="All explicit settings, by the names OpenClaw gives them.", examples=[{"compaction.reserveTokensFloor": 20_000}])  # fmt: skip
    rule_set: str | None = Field(None, description="The version whose rules apply; as before if null.", examples=["openclaw-2026.5.28"])  # fmt: skip
    note: str = Field("", max_length=300, description="Why, for those who read it later; at most 300 characters.", examples=["flush before the compaction"])  # fmt: skip
    expected_version: int | None = Field(None, ge=0, description="The version that the caller has seen, 0 for none; 409 when there is a newer one.", examples=[3])  # fmt: skip


class PolicyOut(CamelSchema):
    """A version of a policy; it never changes."""

    version: int = Field(description="Its number, from 1; 0: nothing was saved yet.", examples=[3])
    settings: dict[str, Any] = Field(description="All explicit settings, by the names OpenClaw gives them.", examples=[{"compaction.reserveTokensFloor": 20_000}])  # fmt: skip
    rule_set: str = Field(description="The version whose rules apply.", examples=["openclaw-2026.5.28"])  # fmt: skip
    note: str = Field(description="Why it was made.", examples=["flush before the compaction"])
    author: str | None = Field(description="Who made it; null where a token without a user did.", examples=["ada"])  # fmt: skip
    created_at: datetime | None = Field(description="When it was made; null for version 0.", examples=["2026-12-01T09:30:00Z"])  # fmt: skip


class PolicyPage(CamelSchema):
    """All versions of an agent's policy."""

    items: list[PolicyOut] = Field(description="The versions, newest first.")


class FilesIn(CamelSchema):
    """Workspace files to be written or taken away."""

    files: dict[str, str | None] = Field(description="Texts by name; null takes a file away.", examples=[{"AGENTS.md": "# Rules\n"}])  # fmt: skip


class FilesOut(CamelSchema):
    """The workspace files of an agent."""

    files: dict[str, str] = Field(description="Texts by name.", examples=[{"AGENTS.md": "# Rules\n"}])  # fmt: skip


class MemoryFileOut(CamelSchema):
    """A file that memory flushes have written."""

    name: str = Field(description="Its name below the workspace.", examples=["memory/2026-12-01.md"])  # fmt: skip
    bytes: int = Field(description="Its size, bytes (UTF-8).", examples=[1_480])
    changed_at: datetime = Field(description="When it was written last.", examples=["2026-12-01T09:30:00Z"])  # fmt: skip


class MemoryFilesOut(CamelSchema):
    """The memory files of an agent."""

    files: list[MemoryFileOut] = Field(description="The files, by name.")


class MessagesIn(CamelSchema):
    """Messages in the caller's own form, in order."""

    form: Form = Field("openclaw", description=FORM_HELP, examples=["openai"])
    messages: list[Json] = Field(min_length=1, max_length=1_000, description="1 to 1,000 messages, in the form that `form` names.", examples=[[{"role": "user", "content": "hello"}]])  # fmt: skip
    expected_head: str | None = Field(None, max_length=128, description=HEAD_HELP, examples=["a1b2c3d4e5f60718"])  # fmt: skip


class CallIn(CamelSchema):
    """A model call that was made: what was sent anew, then the answer."""

    form: Form = Field("openclaw", description=FORM_HELP, examples=["openai"])
    messages: list[Json] = Field([], max_length=1_000, description="The prompt or the tools' results, then the answer; no answer where the call failed.", examples=[[{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hi."}]])  # fmt: skip
    usage: Json | None = Field(None, description="The provider's usage object, as it came.", examples=[{"input_tokens": 1200, "output_tokens": 80}])  # fmt: skip
    error: str | None = Field(None, max_length=100_000, description="The provider's error text, where the call failed.", examples=["prompt is too long: 213000 tokens > 200000 maximum"])  # fmt: skip
    timed_out: bool = Field(False, description="The call ran into the agent's own time limit; a prompt that fills over 65 % of the window is then compacted and tried again.", examples=[False])  # fmt: skip
    expected_head: str | None = Field(None, max_length=128, description=HEAD_HELP, examples=["a1b2c3d4e5f60718"])  # fmt: skip


class PrepareIn(CamelSchema):
    """What is about to be sent."""

    form: Form = Field("openclaw", description=FORM_HELP, examples=["openai"])
    prompt: Json | None = Field(None, description="The new user message; null to go on behind the last stored one.", examples=[{"role": "user", "content": "hello"}])  # fmt: skip


class CompactIn(CamelSchema):
    """A compaction that is wanted now."""

    instructions: str = Field("", max_length=4_000, description="What the summary is to look at, as typed behind /compact.", examples=["keep the deploy plan"])  # fmt: skip


class NotesIn(CamelSchema):
    """What came of a flush turn that the agent ran itself."""

    notes: list[str] = Field([], max_length=50, description="What goes to the memory file, in order.", examples=[["- The deploy is on Friday."]])  # fmt: skip
    reply: str = Field("", max_length=50_000, description="What the model answered; without a note it is one, unless it is NO_REPLY.", examples=["NO_REPLY"])  # fmt: skip


class ChangeOut(CamelSchema):
    """What a rule did to a message; characters are UTF-16 units."""

    position: int | str = Field(description="Of the message among those to send, from 0, or system.", examples=[4])  # fmt: skip
    rule: str = Field(description="The rule that changed it.", examples=["soft_trim"])
    before_chars: int = Field(description="Its characters before.", examples=[60_000])
    after_chars: int = Field(description="Its characters after, with what the rule wrote.", examples=[3_087])  # fmt: skip
    reason: str = Field(description="Stable code: why.", examples=["old_tool_result"])


class ReceiptOut(CamelSchema):
    """What became of a stored message."""

    sent: int = Field(description="Which of the sent messages, from 0.", examples=[0])
    id: str | None = Field(description="The entry it is stored under; null: it is not, for `reason`.", examples=["a1b2c3d4e5f60718"])  # fmt: skip
    added: list[str] = Field(description="Entries that were stored because of it.", examples=[[]])
    reason: str = Field(description="Stable code: stored, or why it is not.", examples=["stored"])
    changes: list[Json] = Field(description="What was cut of it for good, characters (UTF-16 units).", examples=[[{"rule": "persist_tool_result", "reason": "capped", "beforeChars": 150_000, "afterChars": 63_974}]])  # fmt: skip
    estimated_tokens: int = Field(description="Of what was stored for it, tokens (characters / 4).", examples=[12])  # fmt: skip
    billed_tokens: int | None = Field(description="What the provider counted for the call that it answers, prompt and answer, tokens; null without a usage.", examples=[1_280])  # fmt: skip


class LineDistance(CamelSchema):
    """How far the session is from a line."""

    name: str = Field(description="The line.", examples=["flush"])
    tokens: int = Field(description="Where it lies, tokens in its unit.", examples=[72_000])
    unit: str = Field(description="What is held against it.", examples=["billed prompt tokens"])
    distance: int | None = Field(description="Tokens until it is reached, negative behind it; null where nothing is known.", examples=[13_384])  # fmt: skip


class PressureOut(CamelSchema):
    """How full the window is."""

    window: int = Field(description="Of a run, tokens.", examples=[96_000])
    stored_total: int | None = Field(description="Tokens of the last run by its usage; null where nothing is known.", examples=[58_616])  # fmt: skip
    fresh: bool = Field(description="Whether nothing was compacted since.", examples=[True])
    fill: float | None = Field(description="Stored total as a share of the window.", examples=[0.61])  # fmt: skip
    lines: list[LineDistance] = Field(description="The distance to each line that is active.")


class AppendedOut(CamelSchema):
    """What was stored, how full the session is, what was decided."""

    head: str | None = Field(description="The id of the last entry now.", examples=["b2c3d4e5f6071829"])  # fmt: skip
    entries: int = Field(description="How many entries the session holds now.", examples=[18])
    estimated_tokens: int = Field(description="Of what was added, characters / 4.", examples=[24])
    receipts: list[ReceiptOut] = Field(description="What became of each message, in the order sent.")  # fmt: skip
    pressure: PressureOut = Field(description="How full the window is, by the last run's usage.")
    decisions: list[DecisionStage] = Field(description="What the rules decided about it, fired or not; stored too.")  # fmt: skip
    jobs: list[UUID] = Field(description="Jobs that do what has become due.", examples=[["0b9d2f64-8a3c-4c55-9d1e-6b1f2a7c9e10"]])  # fmt: skip
    event: int = Field(description="Number of the newest event.", examples=[17])


class PartOut(CamelSchema):
    """A part of the system prompt; parts before the first that changes are a stable cache prefix."""

    name: str = Field(description="What it is.", examples=["system_prompt"])
    text: str = Field(description="The part as it is to be sent.", examples=["You are brief."])
    stable: bool = Field(description="Whether it stays the same from call to call.", examples=[True])  # fmt: skip


class DueOut(CamelSchema):
    """What must happen, or is due behind a turn."""

    trigger: str | None = Field(description="Why a compaction is due.", examples=["budget"])
    tokens: int | None = Field(description="What was judged, tokens.", examples=[76_426])


class FlushTurnOut(CamelSchema):
    """The turn of a memory flush, for an agent that runs it itself."""

    system_prompt: str = Field(description="The system prompt of that turn.", examples=["Pre-compaction memory flush turn."])  # fmt: skip
    prompt: str = Field(description="Its prompt.", examples=["Store durable memories now."])
    target: str = Field(description="The file that the notes belong to.", examples=["memory/2026-12-01.md"])  # fmt: skip
    silent_reply: str = Field("NO_REPLY", description="The answer that stores nothing.", examples=["NO_REPLY"])  # fmt: skip


class PreparedOut(CamelSchema):
    """What to do now. Nothing was stored: the same head and prompt give the same answer."""

    action: Literal["send", "flush", "compact", "blocked", "done"] = Field(description="What to do: send the messages, wait for what must happen first, or give up.", examples=["send"])  # fmt: skip
    head: str | None = Field(description="The id of the last entry that this was judged on; null in an empty session.", examples=["a1b2c3d4e5f60718"])  # fmt: skip
    system: list[PartOut] = Field(description="Parts of the system prompt, in order.")
    messages: list[Json] | None = Field(description="What to send, in the caller's form; null when something must happen first.", examples=[[{"role": "user", "content": "hello"}]])  # fmt: skip
    changes: list[ChangeOut] = Field(description="Which of the messages a rule has changed, and how.")  # fmt: skip
    due: DueOut | None = Field(description="What must happen first, and why.")
    flush_turn: FlushTurnOut | None = Field(None, description="For an agent that runs its flush itself: the turn to run.")  # fmt: skip
    job: UUID | None = Field(None, description="The job that does what must happen first.", examples=["0b9d2f64-8a3c-4c55-9d1e-6b1f2a7c9e10"])  # fmt: skip
    reply: str | None = Field(description="What a blocked turn says to the user.", examples=[None])
    decisions: list[DecisionStage] = Field(description="All decisions on the way, fired or not.")


class ReportedOut(AppendedOut):
    """What a call left, and what follows."""

    action: Literal["send", "flush", "compact", "blocked", "done"] | None = Field(description="null: go on with the results of the tools that were asked for.", examples=["done"])  # fmt: skip
    due: DueOut | None = Field(description="The compaction that is due, and why.")
    job: UUID | None = Field(None, description="The job that does it, to wait for.", examples=["0b9d2f64-8a3c-4c55-9d1e-6b1f2a7c9e10"])  # fmt: skip
    reply: str | None = Field(description="What a blocked turn says to the user; it is stored.", examples=[None])  # fmt: skip
