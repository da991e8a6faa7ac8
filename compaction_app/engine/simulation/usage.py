"""What a simulated call bills: the recorded figures where its context is the recorded one, else a rule.

Without more knowledge the recorded prompt grows or shrinks by what the context has more or less,
estimated and multiplied by the session's density. A scripted server's own rule can be given instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Final

from compaction_app.engine.simulation.recording import RecordedCall, Recording
from compaction_app.engine.turn.requests import Context, RunKind
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import MessageTokenRules, messages_tokens
from sessions_app.tokens.pressure import CJK_WEIGHT, string_weight
from sessions_app.transcripts.session_context import llm_messages, messages_of_path
from sessions_app.transcripts.usage import UsageRules, normalize_usage, prompt_tokens

Message = Mapping[str, Any]
LEAST_STEPS: Final = 5
LEAST_GROWTH: Final = 20
KEPT_WEIGHTS: Final = 50_000
"""Messages whose weight is remembered; each call may see copies of its own."""


@dataclass(frozen=True, slots=True)
class CallSituation:
    """A simulated call beside the recorded one that answers it."""

    run: RunKind
    context: Context
    recorded: RecordedCall
    usage: UsageRules


@dataclass(frozen=True, slots=True)
class Overhead:
    """Billed tokens that no message accounts for. They are off by ``spread`` at most: by what was taken
    off for the messages."""

    tokens: int
    spread: int


class MessageWeights:
    """Estimated tokens of messages, each measured once however many contexts it stands in."""

    def __init__(self, rules: MessageTokenRules) -> None:
        self._rules = rules
        self._known: dict[int, tuple[Message, int]] = {}

    def total(self, messages: Iterable[Message]) -> int:
        return sum(map(self._tokens, messages))

    def _tokens(self, message: Message) -> int:
        known = self._known.get(id(message))
        if known is None:  # the message is kept, so that its id stays its own
            if len(self._known) >= KEPT_WEIGHTS:
                self._known.clear()
            known = self._known[id(message)] = (message, messages_tokens((message,), self._rules))
        return known[1]


PromptRule = Callable[[CallSituation], float | None]
"""The billed prompt of a call whose context is not the recorded one; none where nothing is known."""


@dataclass(frozen=True, slots=True)
class ByDensity:
    """The recorded prompt, and the difference of the contexts at ``density`` tokens an estimated one."""

    weights: MessageWeights
    density: float = 1.0

    def __call__(self, call: CallSituation) -> float | None:
        billed = prompt_tokens(normalize_usage(_usage_of(call.recorded), call.usage))
        if billed is None:
            return None
        recorded = self.weights.total(messages_of_path(call.recorded.path))
        simulated = self.weights.total(call.context.messages)
        return max(0, round(billed + self.density * (simulated - recorded)))


@dataclass(frozen=True, slots=True)
class Scripted:
    """The rule of a scripted server: characters of everything sent by ``divisor``, rounded up, and one
    token for each CJK character.

    ``unsent_system_chars``: how much of the system prompt that the runtime reports is not sent.
    ``tool_chars`` and ``flush_tool_chars`` are the schemas of the tools of a turn and of a flush.
    """

    divisor: int = 4
    unsent_system_chars: int = 0
    tool_chars: int = 0
    flush_tool_chars: int = 0

    def __call__(self, call: CallSituation) -> float | None:
        texts = list(_texts(call.context.messages))
        cjk = sum(map(_cjk, texts))
        tools = self.flush_tool_chars if call.run == "flush" else self.tool_chars
        system = max(0, call.context.system_chars - self.unsent_system_chars)
        chars = system + tools + sum(map(js.utf16_len, texts)) - cjk
        return -(-chars // self.divisor) + cjk


def measured_density(recording: Recording, weights: MessageWeights, usage: UsageRules) -> float:
    """Billed tokens per estimated one: the median over the steps between calls, 1 below five steps."""
    calls = [call for turn in recording.turns for call in turn.calls]
    steps = []
    for before, after in pairwise(calls):
        billed = [prompt_tokens(normalize_usage(_usage_of(c), usage)) for c in (before, after)]
        between = _between(before, after)
        if billed[0] is None or billed[1] is None or between is None:
            continue
        grown = weights.total(between)
        if grown >= LEAST_GROWTH and billed[1] > billed[0]:
            steps.append((billed[1] - billed[0]) / grown)
    return median(steps) if len(steps) >= LEAST_STEPS else 1.0


def measured_overhead(
    recording: Recording, weights: MessageWeights, usage: UsageRules, density: float
) -> Overhead | None:
    """What the first billed call sent beyond its messages; none without usage.

    Of all calls it has the fewest messages, so that the density spoils its figure least.
    """
    for call in (call for turn in recording.turns for call in turn.calls):
        billed = prompt_tokens(normalize_usage(_usage_of(call), usage))
        if billed is not None:
            messages = density * weights.total(messages_of_path(call.path))
            return Overhead(round(max(0.0, billed - messages)), round(messages))
    return None


def _between(before: RecordedCall, after: RecordedCall) -> Sequence[Message] | None:
    """The messages by which one call's context is longer than the other's; none across a boundary."""
    new = after.lineage.between(before.parent, after.parent)
    if not new or any(entry.get("type") == "compaction" for entry in new):
        return None
    return messages_of_path(new)


def with_prompt(message: Message, prompt: float) -> Message:
    """An answer that bills another prompt; output stays, cached parts become plain input."""
    usage = message.get("usage")
    old = usage if isinstance(usage, Mapping) else {}
    output = old.get("output") or 0
    new = {**old, "input": prompt, "cacheRead": 0, "cacheWrite": 0, "totalTokens": prompt + output}
    return {**message, "usage": new}


def _usage_of(call: RecordedCall) -> Any:
    return call.entry["message"].get("usage")


def _texts(messages: Sequence[Message]) -> Iterable[str]:
    for message in llm_messages(messages):
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
        for block in blocks:
            if isinstance(block, Mapping) and isinstance(block.get("text"), str):
                yield block["text"]
            elif isinstance(block, Mapping) and block.get("type") == "toolCall":
                arguments = js.json_text(block.get("arguments"))
                yield f"{block.get('name')}{arguments}"


def _cjk(text: str) -> int:
    return (string_weight(text) - js.utf16_len(text)) // (CJK_WEIGHT - 1)
