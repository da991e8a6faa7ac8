"""The silent turn of a memory flush: the model reads and appends, and what it says aloud is suppressed.

A model that is offered no tools writes its note as its answer. With no model at all the summariser
writes the note.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from compaction_app.call_log import ended
from compaction_app.engine.compaction.failures import Failure
from compaction_app.engine.compaction.requests import ModelCall
from compaction_app.engine.silent_reply import (
    SILENT_TOKEN,
    SilentRules,
    is_silent,
    strip_leading_tokens,
    strip_trailing_token,
)
from compaction_app.step_log import StepLog
from compaction_app.summarisers.asking import Asked, ask
from compaction_app.summarisers.chat import ChatModel, ChatReply, ChatRequest, Tool, ToolUse
from compaction_app.summarisers.interface import Summariser
from sessions_app.tokens import javascript as js

MAX_ROUNDS: Final = 8
MAX_NOTE_CHARS: Final = 50_000
MAX_OUTPUT_TOKENS: Final = 4_096
NOTE_TOKENS: Final = 4_000
"""What an extractive note may weigh; a summariser takes four fifths of it."""

_PATH = {"type": "string", "description": "path below the workspace"}
READ: Final = Tool(
    "read",
    "Read a file of the workspace or of the memory.",
    {"type": "object", "properties": {"path": _PATH}, "required": ["path"]},
)
WRITE: Final = Tool(
    "write",
    "Append text to the memory file of the day. What the file holds already stays.",
    {
        "type": "object",
        "properties": {"path": _PATH, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)


class FlushFailed(Exception):
    """The model gave no answer; the text says why."""


@dataclass(slots=True)
class Dialogue:
    """What came of a flush turn: the notes in order, what was said aloud, and every message."""

    notes: list[str] = field(default_factory=list)
    reply: str = ""
    messages: list[dict[str, Any]] = field(default_factory=list)


class HeldBack:
    """Streamed text on its way out: nothing of it leaves while it may still turn out to be silence, nor
    anything that begins with the token."""

    def __init__(self, out: Callable[[str], None]) -> None:
        self._out = out
        self._held = ""
        self._open = False

    def add(self, piece: str) -> None:
        if self._open:
            self._out(piece)
            return
        self._held += piece
        lead = js.trim_start(self._held).upper()
        if SILENT_TOKEN.startswith(lead) or lead.startswith(SILENT_TOKEN):
            return
        self._open = True
        self._out(self._held)
        self._held = ""


def converse(
    model: ChatModel,
    messages: Sequence[Mapping[str, Any]],
    system: str,
    path: str,
    files: Callable[[str], str | None],
    rules: SilentRules,
    log: StepLog,
    *,
    takes_tools: bool,
) -> Dialogue:
    """Run the turn on a model, which may write to ``path`` alone; ``files`` reads any file by name.

    Raises:
        FlushFailed: when the model did not answer.
    """
    done = Dialogue()
    tools: tuple[Tool, ...] = (READ, WRITE) if takes_tools else ()
    limit = min(MAX_OUTPUT_TOKENS, model.endpoint.max_output or MAX_OUTPUT_TOKENS)
    for number in range(1, MAX_ROUNDS + 1):
        said = [*messages, *done.messages]
        reply, tools = _answer(model, ChatRequest(said, limit, system, tools), log, number)
        done.messages.append(_assistant(model, reply))
        if not reply.calls:
            break
        for call in reply.calls:
            answer, failed = _carry_out(call, path, files, done.notes)
            done.messages.append(_result(call, answer, failed))
    if reply.calls:
        log.warn(f"the model still called tools after {MAX_ROUNDS} rounds")
    text = spoken(reply.text, rules)
    if not tools and text:
        done.notes.append(text[:MAX_NOTE_CHARS])
    elif text:
        done.reply = text
    return done


def summarised(
    summariser: Summariser, messages: Sequence[Mapping[str, Any]], heading: str, log: StepLog
) -> Dialogue:
    """The note of a summariser that cannot be talked to.

    Raises:
        FlushFailed: when it failed.
    """
    if not messages:
        return Dialogue()
    call = ModelCall(messages, NOTE_TOKENS)
    row = log.calls.begin(
        {"kind": "note", "messages": len(messages), "summariser": summariser.name}
    )
    try:
        with log.calls.making(row):
            answer = summariser.summarise(call)
    except Exception as error:  # a plug-in may raise anything
        answer = Failure(type(error).__name__, str(error))
    ended(row, answer)
    log.advise(row)
    log.point("answered")
    if isinstance(answer, Failure):
        raise FlushFailed(answer.message)
    text = js.trim(answer or "")
    return Dialogue(notes=[f"{heading}\n\n{text}"] if text else [])


def spoken(text: str, rules: SilentRules) -> str:
    """What is left of an answer that is not for nobody: without the token at its ends."""
    if is_silent(text, rules):
        return ""
    return strip_trailing_token(strip_leading_tokens(text))


def _answer(
    model: ChatModel, request: ChatRequest, log: StepLog, number: int
) -> tuple[ChatReply, tuple[Tool, ...]]:
    """The answer of one round, and the tools the model really takes: a server that refuses a first
    request with tools is asked again without."""
    asked = _asked(model, request, log, number)
    refused = asked.tries[-1].outcome == "refused" and asked.tries[-1].status == 400
    if refused and request.tools and number == 1:
        log.warn("the model was refused with tools; it is asked again without them")
        request = ChatRequest(request.messages, request.max_output, request.system)
        asked = _asked(model, request, log, number)
    if isinstance(asked.answer, Failure):
        log.check()  # a job that is stopped says so, and not what its model said of it
        log.advise(log.calls.rows[-1])
        raise FlushFailed(asked.answer.message)
    return asked.answer, request.tools


def _asked(model: ChatModel, request: ChatRequest, log: StepLog, number: int) -> Asked:
    log.step("asking", f"round {number}: asks {model.name}", number - 1, MAX_ROUNDS)
    chars = sum(len(str(message.get("content", ""))) for message in request.messages)
    row = log.calls.begin(
        {
            "kind": "flush",
            "messages": len(request.messages),
            "promptChars": chars + len(request.system),
            "tools": [tool.name for tool in request.tools],
            "summariser": model.name,
        }
    )
    heard: list[str] = []
    with log.calls.making(row):
        asked = ask(model, request, log.stopped, HeldBack(heard.append).add)
        log.calls.asked(asked)
    answer = asked.answer
    ended(row, answer if isinstance(answer, Failure) else answer.text)
    if any(heard):
        log.hold.note(f"the model spoke aloud: {sum(map(len, heard)):,} characters")
    log.point("answered")
    return asked


def _carry_out(
    call: ToolUse, path: str, files: Callable[[str], str | None], notes: list[str]
) -> tuple[str, bool]:
    """The result of a tool, and whether it is an error."""
    wanted = str(call.arguments.get("path", "")).removeprefix("./").lstrip("/")
    if call.name == READ.name:
        text = files(wanted)
        if wanted == path and notes:
            text = (text or "") + "".join(f"{note}\n" for note in notes)
        return (text, False) if text is not None else (f"There is no file {wanted!r}.", True)
    if call.name != WRITE.name:
        return f"There is no tool {call.name!r}.", True
    if wanted != path:
        return f"Only {path} can be written to; every other file is read-only.", True
    content = call.arguments.get("content")
    if not isinstance(content, str) or js.is_blank(content):
        return "content must be the text to append.", True
    if len(content) > MAX_NOTE_CHARS:
        return f"A note may have {MAX_NOTE_CHARS:,} characters; write less.", True
    notes.append(js.trim_end(content))
    return f"Appended {len(content):,} characters to {path}.", False


def _assistant(model: ChatModel, reply: ChatReply) -> dict[str, Any]:
    """The answer as a transcript stores it."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    blocks += [
        {"type": "toolCall", "id": c.id, "name": c.name, "arguments": dict(c.arguments)}
        for c in reply.calls
    ]
    usage = reply.usage
    read = usage.cache_read or 0
    counted = {
        "input": (usage.prompt or 0) - read,
        "output": usage.output or 0,
        "cacheRead": read,
        "cacheWrite": 0,
        "totalTokens": (usage.prompt or 0) + (usage.output or 0),
    }
    return {
        "role": "assistant",
        "content": blocks,
        "provider": "contextlab",
        "model": model.name,
        "usage": counted,
        "stopReason": "toolUse" if reply.calls else "stop",
    }


def _result(call: ToolUse, text: str, failed: bool) -> dict[str, Any]:
    return {
        "role": "toolResult",
        "toolCallId": call.id,
        "toolName": call.name,
        "content": [{"type": "text", "text": text}],
        "isError": failed,
    }
