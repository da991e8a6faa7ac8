"""What the API says about the context at a call."""

from __future__ import annotations

from typing import Literal

from ninja import Field

from sessions_app.schemas import CamelSchema


class SystemPartOut(CamelSchema):
    """A part of what stands in front of the messages."""

    title: str = Field(examples=["AGENTS.md"])
    chars: int | None = Field(description="Characters sent.", examples=[4_200])
    raw: int | None = Field(description="Characters of the file before it was cut.")
    tokens: int | None = Field(description="Estimate, tokens (characters / 4).")
    exact: int | None = Field(description="By the model's vocabulary, tokens.")
    note: str


class SystemOut(CamelSchema):
    """System prompt and tools."""

    known: Literal["agent", "agent_now", "report", "bills", "nothing"] = Field(
        description="Where this is known from: the agent at the call or as it is now, the runtime's report "
        "of its last run, what the bills show beyond the messages, or nowhere."
    )
    tokens: int | None = Field(description="Estimate, tokens; null where unknown.")
    parts: list[SystemPartOut]


class ContextChangeOut(CamelSchema):
    """What a rule did to a message of this call."""

    rule: str = Field(examples=["soft_trim"])
    reason: str = Field(examples=["old_tool_result"])
    before: int = Field(description="Characters before the rule.")
    after: int = Field(description="Characters after it, with what the rule wrote.")


class ContextMessageOut(CamelSchema):
    """One message of the request."""

    position: int = Field(description="Its place among the messages, from 0.")
    kind: str = Field(description="summary, user, assistant, tool result or other.")
    tool: str | None
    entries: list[int] = Field(description="Numbers of the entries it comes from; none: added by the runtime.")  # fmt: skip
    chars_before: int | None = Field(description="Characters of text as stored.")
    chars: int = Field(description="Characters of text as sent.")
    tokens: int = Field(description="Estimate, tokens.")
    exact: int | None = Field(description="By the session's vocabulary, tokens.")
    since_last_call: Literal["same", "added", "changed"] | None = Field(description="Null where the call before is unknown.")  # fmt: skip
    excerpt: str
    changes: list[ContextChangeOut]


class BilledOut(CamelSchema):
    """What the provider reported, tokens; null where it reported nothing."""

    prompt: int | None
    cache_read: int | None
    cache_write: int | None
    output: int | None


class PrefixOut(CamelSchema):
    """What of the call before is repeated word for word from the beginning."""

    messages: int
    tokens: int = Field(description="Estimate, tokens.")
    broken_at: int | None = Field(description="Position of the first message that differs; null where this call only adds.")  # fmt: skip
    why: str | None


class ContextOut(CamelSchema):
    """The request of one recorded call as the rules assemble it from what was recorded."""

    call: int = Field(description="Number of the call on the newest branch, from 1.")
    calls: int = Field(description="How many there are.")
    turn: int | None = Field(description="Its turn in the audit; null without an audit.")
    run: Literal["turn", "flush"]
    reading: Literal["audit"] = Field(description="The rules on the recorded state; nothing takes effect.")  # fmt: skip
    problem: str | None = Field(description="Why there is no request.")
    answer: int = Field(description="Number of the entry that answers the call.")
    system: SystemOut
    messages: list[ContextMessageOut]
    tokens: int | None = Field(description="Messages by estimate, tokens.")
    exact: int | None = Field(description="Messages by the session's vocabulary, tokens.")
    billed: BilledOut
    left_out: list[int] = Field(description="Entries of the context that are not sent.")
    removed: list[int] = Field(description="Entries that the call before had sent and this one does not.")  # fmt: skip
    prefix: PrefixOut | None
