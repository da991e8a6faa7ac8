"""What a transcript's branch puts before the model, and how each message is worded for it.

Two steps (spec budgets 7.4): the entries of the path become messages, with the last compaction in
place of what it summarised; the messages become what a model understands, which is only user,
assistant and tool result messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessions_app.tokens import javascript as js
from sessions_app.transcripts.json_lines import Json
from sessions_app.transcripts.loading import LoadedTranscript, UnreadableTranscript
from sessions_app.transcripts.timestamps import epoch_ms

COMPACTION_PREFIX: Final = (
    "The conversation history before this point was compacted into the following summary:"
    "\n\n<summary>\n"
)
COMPACTION_SUFFIX: Final = "\n</summary>"
BRANCH_PREFIX: Final = (
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
)
BRANCH_SUFFIX: Final = "</summary>"
THINKING_OFF: Final = "off"

_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class ModelRef:
    """The model in use at the leaf, as recorded; a part is None where the record has none."""

    provider: Json
    model_id: Json


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The messages of the branch, and the model and thinking level in force at its leaf."""

    messages: tuple[Json, ...] = ()
    thinking_level: Json = THINKING_OFF
    model: ModelRef | None = None


def session_context(transcript: LoadedTranscript) -> SessionContext:
    """The context at the transcript's leaf.

    Raises:
        UnreadableTranscript: for a message entry without a message, and for a summary or custom
            message whose timestamp names no moment.
    """
    return context_of_path(transcript.path_to(transcript.leaf))


def context_of_path(path: Sequence[Json]) -> SessionContext:
    """The context of a path of entries from the root to a leaf; raises as `session_context`."""
    thinking: Json = THINKING_OFF
    model: ModelRef | None = None
    compaction_at = -1
    for position, entry in enumerate(path):
        match _kind(entry):
            case "thinking_level_change":
                thinking = entry.get("thinkingLevel")
            case "model_change":
                model = ModelRef(entry.get("provider"), entry.get("modelId"))
            case "message":
                message = _message(entry)
                if isinstance(message, dict) and message.get("role") == "assistant":
                    model = ModelRef(message.get("provider"), message.get("model"))
            case "compaction":
                compaction_at = position
    return SessionContext(tuple(_messages(path, compaction_at)), thinking, model)


def messages_of_path(path: Sequence[Json]) -> tuple[Json, ...]:
    """The messages of `context_of_path` alone: nothing in front of what the last compaction kept is read."""
    at = next((n for n in range(len(path) - 1, -1, -1) if _kind(path[n]) == "compaction"), -1)
    return tuple(_messages(path, at))


def _messages(path: Sequence[Json], compaction_at: int) -> list[Json]:
    if compaction_at < 0:
        return [message for entry in path for message in _contribution(entry)]
    compaction = path[compaction_at]
    kept_id = compaction.get("firstKeptEntryId", _MISSING)
    first_kept = compaction_at
    for position, entry in enumerate(path[:compaction_at]):
        if isinstance(entry, dict) and _same(entry.get("id", _MISSING), kept_id):
            first_kept = position
            break
    summary = _present(
        role="compactionSummary",
        summary=compaction.get("summary", _MISSING),
        tokensBefore=compaction.get("tokensBefore", _MISSING),
        timestamp=_moment(compaction),
    )
    rest = [*path[first_kept:compaction_at], *path[compaction_at + 1 :]]
    return [summary, *(message for entry in rest for message in _contribution(entry))]


def _contribution(entry: Json) -> list[Json]:
    match _kind(entry):
        case "message":
            return [_message(entry)]
        case "custom_message":
            fields = {
                key: entry.get(key, _MISSING)
                for key in ("customType", "content", "display", "details")
            }
            return [_present(role="custom", **fields, timestamp=_moment(entry))]
        case "branch_summary" if js.is_truthy(entry.get("summary")):
            return [
                _present(
                    role="branchSummary",
                    summary=entry["summary"],
                    fromId=entry.get("fromId", _MISSING),
                    timestamp=_moment(entry),
                )
            ]
    return []


def llm_messages(messages: Iterable[Json]) -> list[Json]:
    """The messages as a model gets them; roles it does not know are left out.

    Raises:
        UnreadableTranscript: for a message that is null.
    """
    return [worded for message in messages if (worded := llm_message(message)) is not None]


def llm_message(message: Json) -> Json | None:
    """One message as a model gets it, or None when it is left out; raises as `llm_messages`."""
    if message is None:
        raise UnreadableTranscript("a message that is null")
    if not isinstance(message, dict):
        return None
    match message.get("role"):
        case "user" | "assistant" | "toolResult":
            return message
        case "custom":
            content = message.get("content", _MISSING)
            return _user(_text_block(content) if isinstance(content, str) else content, message)
    text = rendered_text(message)
    left_out = message.get("role") == "bashExecution" and js.is_truthy(
        message.get("excludeFromContext")
    )
    return None if text is None or left_out else _user(_text_block(text), message)


def rendered_text(message: Mapping[str, Any]) -> str | None:
    """What a model reads of a summary or of a command; none for other messages."""
    match message.get("role"):
        case "compactionSummary":
            return COMPACTION_PREFIX + _text(message, "summary") + COMPACTION_SUFFIX
        case "branchSummary":
            return BRANCH_PREFIX + _text(message, "summary") + BRANCH_SUFFIX
        case "bashExecution":
            return bash_execution_text(message)
    return None


def bash_execution_text(message: Mapping[str, Any]) -> str:
    """What a model reads of a command that the user ran beside the conversation."""
    text = f"Ran `{_text(message, 'command')}`\n"
    output = _text(message, "output") if js.is_truthy(message.get("output")) else ""
    text += f"```\n{output}\n```" if output else "(no output)"
    exit_code = message.get("exitCode")
    if js.is_truthy(message.get("cancelled")):
        text += "\n\n(command cancelled)"
    elif exit_code is not None and (exit_code is False or exit_code != 0):
        text += f"\n\nCommand exited with code {_text(message, 'exitCode')}"
    if js.is_truthy(message.get("truncated")) and js.is_truthy(message.get("fullOutputPath")):
        text += f"\n\n[Output truncated. Full output: {_text(message, 'fullOutputPath')}]"
    return text


def _user(content: Json, message: Mapping[str, Any]) -> dict[str, Any]:
    return _present(role="user", content=content, timestamp=message.get("timestamp", _MISSING))


def _text_block(text: str) -> list[Json]:
    return [{"type": "text", "text": text}]


def _text(message: Mapping[str, Any], key: str) -> str:
    """A field inside a sentence; anything but a text is a malformed record, shown as JSON."""
    value = message.get(key, _MISSING)
    if value is _MISSING:
        return "undefined"
    try:
        return value if isinstance(value, str) else js.json_text(value)
    except js.NoJson as error:
        raise UnreadableTranscript(f"{key} is nested too deeply") from error


def _kind(entry: Json) -> Json:
    return entry.get("type") if isinstance(entry, dict) else None


def _message(entry: Mapping[str, Any]) -> Json:
    message = entry.get("message")
    if message is None:
        raise UnreadableTranscript("a message entry without a message", entry.get("id"))
    return message


def _moment(entry: Mapping[str, Any]) -> int:
    moment = epoch_ms(entry.get("timestamp"))
    if moment is None:
        raise UnreadableTranscript("a timestamp that names no moment", entry.get("id"))
    return moment


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other and not isinstance(one, list | dict)


def _present(**fields: Json) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not _MISSING}
