"""What belongs together in a transcript: a tool call and its result, the files given once at the start.

The reader asks for every entry; what is missing or doubled becomes a problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sessions_app.importers.links import name_of
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.transcript import Entry, JsonObject, Problem

if TYPE_CHECKING:
    from sessions_app.importers.openclaw import ReaderState

BOOTSTRAP_MARK = "openclaw:bootstrap-context:full"
"""The custom entry that says the workspace files were given in full, once until a compaction."""


def orphans(state: ReaderState, entry: Entry) -> Iterator[Problem]:
    """Results without a call, and calls that the session went on without an answer to.

    A compaction may end a run between a call and its result, and a rewrite appends entries again:
    neither leaves an orphan behind.
    """
    message, role = entry.message, entry.role
    if entry.type == "compaction":
        state.open_calls = {}
    elif role in ("user", "assistant") and entry.mark != "copy":
        yield from unanswered(state)
    if role == "assistant":
        state.call_ids.update(call_ids(message))
        if entry.mark != "copy" and message.get("stopReason") not in ("error", "aborted"):
            state.open_calls |= dict.fromkeys(call_ids(message), entry.line)
    elif role == "toolResult":
        call = message.get("toolCallId")
        name = name_of(call) if isinstance(call, str) else ""
        state.open_calls.pop(name, None)
        if name not in state.call_ids:
            yield Problem(
                entry.line,
                "FILE_ORPHAN_RESULT",
                f"The tool result answers the call {call!r}, which is not in the file.",
            )


def unanswered(state: ReaderState) -> Iterator[Problem]:
    """The tool calls that no result answers although the session went on, or has ended."""
    calls, state.open_calls = state.open_calls, {}
    for call, line in calls.items():
        message = f"The tool call {call!r} was never answered. It was kept."
        yield Problem(line, "FILE_ORPHAN_CALL", message)


def second_bootstrap(state: ReaderState, entry: Entry) -> Iterator[Problem]:
    """Workspace files given in full twice without a compaction in between."""
    if entry.type == "compaction":
        state.is_bootstrapped = False
    elif entry.record.get("customType") == BOOTSTRAP_MARK and entry.mark != "copy":
        if state.is_bootstrapped:
            message = "The workspace files were given in full a second time. Both were kept."
            yield Problem(entry.line, "FILE_DUPLICATE_BOOTSTRAP", message)
        state.is_bootstrapped = True


def call_ids(message: JsonObject) -> Iterator[str]:
    """The ids of the tool calls in an assistant message."""
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, js.OBJECT) and block.get("type") in (
            "toolCall",
            "toolUse",
            "functionCall",
        ):
            identity = block.get("id")
            if isinstance(identity, str):
                yield name_of(identity)
