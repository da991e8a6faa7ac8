"""What the agent's tools did: which files they touched, which of them failed and were left so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compaction_app.engine.compaction.message_text import Message
from compaction_app.engine.compaction.tool_failures import tool_failures
from compaction_app.engine.retention.file_actions import (
    CHANGES,
    COMMAND_KEYS,
    PATH_KEYS,
    first_of,
)
from compaction_app.engine.wording.sentences import clipped
from sessions_app.transcripts.measures import CALL_TYPES

MAX_FILES = 60
MAX_OBJECT = 120
"""Characters of the command, path or address a call was about."""

CHANGED, READ = " (changed)", " (read)"

_OBJECT_KEYS = (*PATH_KEYS, *COMMAND_KEYS, "url", "query", "pattern", "action")


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The last touched files, the latest first, each marked as changed or read; failures from old to new."""

    files: tuple[str, ...]
    failures: tuple[str, ...]


def tool_use(messages: Sequence[Message]) -> ToolUse:
    """A failure counts until the same tool succeeds with the same object."""
    about: dict[str, tuple[str, str]] = {}
    files: dict[str, str] = {}
    for call in _calls(messages):
        name, arguments = str(call.get("name") or ""), call.get("arguments")
        given = arguments if isinstance(arguments, Mapping) else {}
        identity = call.get("id")
        if isinstance(identity, str):
            about[identity] = (name, first_of(given, _OBJECT_KEYS))
        if path := first_of(given, PATH_KEYS):
            changed = CHANGES.search(name) is not None or files.pop(path, "") == CHANGED
            files[path] = CHANGED if changed else READ
    touched = [path + how for path, how in reversed(files.items())]
    return ToolUse(tuple(touched[:MAX_FILES]), tuple(_failures(messages, about)))


def _failures(messages: Sequence[Message], about: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    places: dict[str, int] = {}
    succeeded: dict[tuple[str, str], int] = {}
    for index, message in enumerate(messages):
        call = message.get("toolCallId")
        if message.get("role") != "toolResult" or not isinstance(call, str):
            continue
        places[call] = index
        if message.get("isError") is not True and call in about:
            succeeded[about[call]] = index
    for failure in tool_failures(messages):
        subject = about.get(failure.tool_call_id, (failure.tool_name, ""))
        if succeeded.get(subject, -1) < places[failure.tool_call_id]:
            what = f"{failure.tool_name} {clipped(subject[1], MAX_OBJECT)}".strip()
            meta = f" ({failure.meta})" if failure.meta else ""
            yield f"{what}{meta}: {failure.summary}"


def _calls(messages: Sequence[Message]) -> Iterator[Mapping[str, Any]]:
    for message in messages:
        content = message.get("content")
        if message.get("role") == "assistant" and isinstance(content, list):
            for block in content:
                if isinstance(block, Mapping) and block.get("type") in CALL_TYPES:
                    yield block
