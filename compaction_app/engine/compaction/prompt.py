"""What a summariser reads: the conversation as text, the summary so far, the task (spec compaction 2).

The task is worded by us; the runtime asks for the same sections.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from compaction_app.engine.compaction.message_text import text_blocks
from compaction_app.engine.compaction.requests import ModelCall
from sessions_app.tokens import javascript as js
from sessions_app.transcripts.session_context import llm_messages

MAX_RESULT_CHARS = 2000
PromptKind = Literal["initial", "update", "turnPrefix"]

_SECTIONS = """Use these sections:

## Goal
## Constraints & Preferences
## Progress
### Done
### In Progress
### Blocked
## Key Decisions
## Next Steps
## Critical Context

Be brief, and keep exact file paths, names and error messages."""
TASKS: Mapping[PromptKind, str] = {
    "initial": "The messages above are a conversation to be summarised, so that another model can "
    f"take over the work from your summary alone.\n\n{_SECTIONS}",
    "update": "The messages above are new; the summary between the tags is what came before. Write "
    "one summary of both: preserve what still matters, add what is new, move finished items to Done, "
    f"and drop what is no longer relevant.\n\n{_SECTIONS}",
    "turnPrefix": "The messages above are the beginning of one long turn whose end is kept word for "
    "word. Summarise what was asked, what was done so far, and what is needed to understand the "
    "kept end.",
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt in three parts: what stands before the task, the task, and the caller's focus."""

    kind: PromptKind
    before: str
    task: str
    after: str

    @property
    def text(self) -> str:
        return js.concat((self.before, self.task, self.after))


def summary_prompt(call: ModelCall) -> Prompt:
    """The prompt of a model call."""
    before = f"<conversation>\n{serialise_conversation(call.messages)}\n</conversation>\n\n"
    kind: PromptKind = "turnPrefix" if call.turn_prefix else "initial"
    if call.previous_summary and not call.turn_prefix:
        kind = "update"
        before += f"<previous-summary>\n{call.previous_summary}\n</previous-summary>\n\n"
    after = f"\n\nAdditional focus: {call.instructions}" if call.instructions else ""
    return Prompt(kind, before, TASKS[kind], after)


def serialise_conversation(messages: Sequence[Mapping[str, Any]]) -> str:
    """The conversation as labelled paragraphs; results of tools are cut to 2000 characters."""
    return "\n\n".join(part for message in llm_messages(messages) for part in _parts(message))


def _parts(message: Mapping[str, Any]) -> Iterator[str]:
    content = message.get("content")
    match message.get("role"):
        case "user":
            text = content if isinstance(content, str) else js.concat(text_blocks(content))
            if text:
                yield f"[User]: {text}"
        case "assistant":
            yield from _answer_parts(content if isinstance(content, list) else [])
        case "toolResult":
            text = content if isinstance(content, str) else js.concat(text_blocks(content))
            if text:
                yield f"[Tool result]: {_shortened(text)}"


def _answer_parts(blocks: Sequence[Any]) -> Iterator[str]:
    typed = [(b.get("type"), b) for b in blocks if isinstance(b, Mapping)]
    thinking = [_string(b, "thinking") for kind, b in typed if kind == "thinking"]
    calls = [_call(b) for kind, b in typed if kind == "toolCall"]
    texts = text_blocks(blocks)
    if thinking:
        yield "[Assistant thinking]: " + "\n".join(thinking)
    if texts:
        yield "[Assistant]: " + "\n".join(texts)
    if calls:
        yield "[Assistant tool calls]: " + "; ".join(calls)


def _call(block: Mapping[str, Any]) -> str:
    arguments = block.get("arguments")
    given = arguments if isinstance(arguments, Mapping) else {}
    listed = (f"{key}={_json(given[key])}" for key in js.ordered_keys(given))
    return f"{_string(block, 'name')}({', '.join(listed)})"


def _json(value: Any) -> str:
    try:
        return js.json_text(value)
    except js.NoJson:
        return "[unserializable]"


def _string(block: Mapping[str, Any], key: str) -> str:
    value = block.get(key)
    return value if isinstance(value, str) else ""


def _shortened(text: str) -> str:
    rest = js.utf16_len(text) - MAX_RESULT_CHARS
    if rest <= 0:
        return text
    return f"{js.utf16_slice(text, 0, MAX_RESULT_CHARS)}\n\n[... {rest} more characters truncated]"
