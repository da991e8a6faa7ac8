"""What the API says about the context at a call."""

from __future__ import annotations

from typing import Any, Literal

from ninja import Field

from sessions_app.schemas import CamelSchema


class SystemPartOut(CamelSchema):
    """A part of what stands in front of the messages."""

    title: str = Field(description="What it is.", examples=["AGENTS.md"])
    chars: int | None = Field(description="Characters sent.", examples=[4_200])
    raw: int | None = Field(description="Characters of the file before it was cut.", examples=[14_000])  # fmt: skip
    tokens: int | None = Field(description="Estimate, tokens (characters / 4).", examples=[1_050])
    exact: int | None = Field(description="By the model's vocabulary, tokens.", examples=[1_103])
    note: str = Field(description="What was done to it, empty where nothing was.", examples=["cut: its own limit"])  # fmt: skip


class CommandOut(CamelSchema):
    """What the runtime answers to a command, in its own words."""

    command: str = Field(description="As it was asked.", examples=["/context list"])
    text: str = Field(description="The answer, several lines.", examples=["Usage: 12k in / 1.2k out"])  # fmt: skip
    known: list[str] = Field(description="The commands that are answered.", examples=[["/status"]])


class AgreementOut(CamelSchema):
    """What was assembled beside what the provider billed."""

    state: Literal["agrees", "parts", "unknown"] = Field(
        description="agrees: within 15 % of the billed prompt, or 200 tokens.", examples=["agrees"]
    )
    counted: int | None = Field(description="Assembled, tokens: by the vocabulary where all are known.", examples=[12_053])  # fmt: skip
    billed: int | None = Field(description="The prompt that was billed, tokens.", examples=[12_480])
    text: str = Field(description="Both, and how far they are apart.", examples=["unknown: a part is unknown"])  # fmt: skip


class SystemOut(CamelSchema):
    """System prompt and tools."""

    known: Literal["agent", "agent_now", "report", "bills", "nothing"] = Field(description="Where this is known from: the agent at the call or as it is now, the runtime's report " "of its last run, what the bills show beyond the messages, or nowhere.", examples=["agent"])  # fmt: skip
    tokens: int | None = Field(description="Estimate, tokens; null where unknown.", examples=[4_120])  # fmt: skip
    parts: list[SystemPartOut] = Field(description="Its parts, in order.")


class ContextChangeOut(CamelSchema):
    """What a rule did to a message of this call."""

    rule: str = Field(description="The rule.", examples=["soft_trim"])
    reason: str = Field(description="Stable code: why.", examples=["old_tool_result"])
    before: int = Field(description="Characters before the rule.", examples=[60_000])
    after: int = Field(description="Characters after it, with what the rule wrote.", examples=[3_087])  # fmt: skip


class ContextMessageOut(CamelSchema):
    """One message of the request."""

    position: int = Field(description="Its place among the messages, from 0.", examples=[4])
    kind: str = Field(description="summary, user, assistant, tool result or other.", examples=["tool result"])  # fmt: skip
    tool: str | None = Field(description="The tool it is of; null for another message.", examples=["read"])  # fmt: skip
    entries: list[int] = Field(description="Numbers of the entries it comes from; none: added by the runtime.", examples=[[17]])  # fmt: skip
    chars_before: int | None = Field(description="Characters of text as stored.", examples=[60_000])
    chars: int = Field(description="Characters of text as sent.", examples=[3_087])
    tokens: int = Field(description="Estimate, tokens.", examples=[772])
    exact: int | None = Field(description="By the session's vocabulary, tokens.", examples=[801])
    since_last_call: Literal["same", "added", "changed"] | None = Field(description="Null where the call before is unknown.", examples=["added"])  # fmt: skip
    excerpt: str = Field(description="Its beginning.", examples=["total 48 drwxr-xr-x"])
    changes: list[ContextChangeOut] = Field(description="What rules did to it, in order.")


class BilledOut(CamelSchema):
    """What the provider reported, tokens; null where it reported nothing."""

    prompt: int | None = Field(description="The whole prompt.", examples=[12_400])
    cache_read: int | None = Field(description="Of it, read from the provider's cache.", examples=[11_000])  # fmt: skip
    cache_write: int | None = Field(description="Of it, written to the cache.", examples=[900])
    output: int | None = Field(description="The answer.", examples=[230])


class PrefixOut(CamelSchema):
    """What of the call before is repeated word for word from the beginning."""

    messages: int = Field(description="How many messages are the same from the beginning.", examples=[38])  # fmt: skip
    tokens: int = Field(description="Estimate, tokens.", examples=[10_900])
    broken_at: int | None = Field(description="Position of the first message that differs; null where this call only adds.", examples=[38])  # fmt: skip
    why: str | None = Field(description="The rule or the event that broke it; null where this call only adds.", examples=["soft_trim"])  # fmt: skip


class ClearedOut(CamelSchema):
    """The anchors of results that rules cut for the call, and those of them that stand nowhere in it."""

    anchors: int = Field(description="Different ones in the originals.", examples=[14])
    lost: int = Field(description="Those that stand nowhere in the request.", examples=[9])
    items: list[dict[str, Any]] = Field(description="The lost, the gravest first, with entry, block and characters; 50 at most.", examples=[[]])  # fmt: skip


class ContextOut(CamelSchema):
    """The request of one recorded call as the rules assemble it from what was recorded."""

    call: int = Field(description="Number of the call on the newest branch, from 1.", examples=[61])
    calls: int = Field(description="How many there are.", examples=[433])
    turn: int | None = Field(description="Its turn in the audit; null without an audit.", examples=[12])  # fmt: skip
    run: Literal["turn", "flush"] = Field(description="An ordinary turn, or that of a memory flush.", examples=["turn"])  # fmt: skip
    reading: Literal["audit"] = Field(description="The rules on the recorded state; nothing takes effect.", examples=["audit"])  # fmt: skip
    problem: str | None = Field(description="Why there is no request.", examples=[None])
    answer: int = Field(description="Number of the entry that answers the call.", examples=[122])
    system: SystemOut = Field(description="What stands in front of the messages.")
    messages: list[ContextMessageOut] = Field(description="The messages, in order.")
    tokens: int | None = Field(description="Messages by estimate, tokens.", examples=[10_950])
    exact: int | None = Field(description="Messages by the session's vocabulary, tokens.", examples=[11_320])  # fmt: skip
    billed: BilledOut = Field(description="What the provider counted.")
    agreement: AgreementOut = Field(description="What was assembled beside what was billed.")
    left_out: list[int] = Field(description="Entries of the context that are not sent.", examples=[[3]])  # fmt: skip
    removed: list[int] = Field(description="Entries that the call before had sent and this one does not.", examples=[[]])  # fmt: skip
    cleared: ClearedOut | None = Field(description="What the call no longer saw of results that were trimmed or cleared; null where none was.")  # fmt: skip
    prefix: PrefixOut | None = Field(description="What a provider's cache can repeat; null where the call before is unknown.")  # fmt: skip
