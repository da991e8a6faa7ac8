"""One attempt of a run: the checks before the prompt, then call after call until the model is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from compaction_app.engine.inner_trigger import (
    RunState,
    check_inner_trigger,
    latest_compaction_ms,
    overflow_mark_after,
)
from compaction_app.engine.overflow import classify_overflow
from compaction_app.engine.pruning.cache_touch import cache_touch_marker, last_cache_touch_ms
from compaction_app.engine.pruning.history_images import prune_history_images
from compaction_app.engine.pruning.persist import capped_for_storage
from compaction_app.engine.pruning.recovery import truncate_for_prompt
from compaction_app.engine.pruning.truncate import tool_result_text_chars
from compaction_app.engine.routing import OVERFLOW_TEXT, Prompt, route_prompt
from compaction_app.engine.turn.calling import CallPreparation, prepare_call
from compaction_app.engine.turn.compacting import CompactionAsk, compact, truncate_session
from compaction_app.engine.turn.history import attempt_history
from compaction_app.engine.turn.record import CallRecord
from compaction_app.engine.turn.requests import Context, ModelAnswer, ModelCall, Moment, Steps
from compaction_app.engine.turn.runtime_event import runtime_context
from compaction_app.engine.turn.work import message_of
from sessions_app.session_context import context_of_path
from sessions_app.usage import Usage, normalize_usage, prompt_tokens

if TYPE_CHECKING:
    from compaction_app.engine.turn.run import ModelRun

Message = Mapping[str, Any]
EndKind = Literal["answered", "unanswered", "handled", "overflow"]


@dataclass(frozen=True, slots=True)
class AttemptEnd:
    """How an attempt ended.

    ``handled``: the session was cut and the prompt is tried again. ``overflow`` with its ``error``:
    recovery decides. ``checked``: the pre-prompt check said so; ``route`` what it wants.
    ``compacted``: the attempt compacted by itself.
    """

    kind: EndKind
    error: str | None = None
    route: str | None = None
    checked: bool = False
    compacted: bool = False


class Attempt:
    """The context in memory: ``base`` from the session, ``news`` since the prompt."""

    def __init__(self, run: ModelRun) -> None:
        self.run, self.work = run, run.work
        self.base: list[Message] = []
        self.news: list[Message] = []
        self.compacted = False
        self.overflow_attempted = False
        self.rewritten_before = False
        self.touched_ms: float | None = None
        self.fence: int | None = None

    def carry_out(self) -> Steps[AttemptEnd]:
        """The whole attempt, its last stages included."""
        end = yield from self._until_end()
        for stage in self.work.setup.order.ended:
            yield from _ENDED[stage](self)
        return replace(end, compacted=self.compacted)

    def _until_end(self) -> Steps[AttemptEnd]:
        setup = self.work.setup
        yield from self._load()
        self.touched_ms = last_cache_touch_ms(
            self.work.state.entries,
            setup.rules.pruning.cache_touch,
            provider=setup.around.provider,
            model_id=setup.around.model,
        )
        self.fence = len(self.base)
        for stage in setup.order.attempt:
            end = yield from _BEFORE[stage](self)
            if end is not None:
                return end
        yield from self.run.store_prompt()
        stored = message_of(self.run.message)
        self.news = [
            *self._told(),
            {**stored, "content": _with_text(stored.get("content"), self.run.sent)},
        ]
        return (yield from self._talk())

    def _told(self) -> list[Message]:
        """What the runtime tells the model beside the prompt; a flush turn is told nothing."""
        return runtime_context(self.work.queued) if self.run.kind == "turn" else []

    def _load(self) -> Steps[None]:
        """The history as the session holds it, without an answer that failed last."""
        now = yield Moment("entry")
        stored = list(context_of_path(self.work.state.branch()).messages)
        while stored and _failed(stored[-1]):
            stored.pop()
        self.base = attempt_history(stored, self.work.rules, now)

    def _talk(self) -> Steps[AttemptEnd]:
        """Model calls until an answer without tool calls, or until something stops them."""
        while True:
            prepared = yield from self._prepare()
            if prepared.error is not None:
                route = prepared.mid_turn.route if prepared.mid_turn else None
                self.work.fired("guard", None, None, prepared.error)
                if route == "truncate_tool_results_only":
                    yield from truncate_session(self.work)
                    return AttemptEnd("handled")
                return AttemptEnd("overflow", prepared.error, route)
            answer = yield from self._call(prepared)
            if answer is None:
                return AttemptEnd("unanswered")
            if answer.results or answer.goes_on:
                continue
            end = yield from self._answered(message_of(answer.message))
            if end is not None:
                return end

    def _prepare(self) -> Steps[CallPreparation]:
        now = yield Moment("call")
        prepared = CallPreparation(
            work=self.work,
            messages=[*self.base, *self.news],
            now_ms=now,
            system_text=_text_of(self.run.system_chars),
            touched_ms=self.touched_ms,
            fence=self.fence,
        )
        prepare_call(prepared)
        self.touched_ms, self.fence = prepared.touched_ms, prepared.fence
        return prepared

    def _call(self, prepared: CallPreparation) -> Steps[ModelAnswer | None]:
        work = self.work
        context = Context(
            stored=(*self.base, *self.news),
            messages=tuple(prepared.messages),
            system_chars=self.run.system_chars,
            changes=tuple(prepared.changes),
        )
        answer: ModelAnswer | None = yield ModelCall(
            self.run.kind, work.next_call, context, work.state
        )
        message = message_of(answer.message) if answer else None
        usage = normalize_usage(message.get("usage"), work.rules.usage) if message else None
        sent = prompt_tokens(usage)
        if prepared.pruned:
            work.fired("prune", None, None, "cache_ttl_pruning", after=sent)
        if self.run.results_cut:
            self.run.results_cut = False
            work.fired("truncate", None, None, "stored_results_shorter", after=sent)
        work.called(CallRecord(self.run.kind, work.next_call, context, message))
        if answer is None or message is None:
            return None
        self.run.usages.append(usage or Usage())
        for item in (answer.message, *map(self._stored, answer.results)):
            yield from work.append_message(item)
            self.news.append(message_of(item))
        self.overflow_attempted = overflow_mark_after(self.overflow_attempted, message)
        return answer

    def _stored(self, result: Message) -> Message:
        """A tool result as the session stores it: over the cap it is cut for good."""
        message, cap = message_of(result), self.work.setup.stored_cap_chars
        if tool_result_text_chars(message) <= cap:
            return result
        cut = capped_for_storage(message, cap, self.work.rules.pruning.persist)
        return cut if message is result else {**result, "message": cut}

    def _answered(self, message: Message) -> Steps[AttemptEnd | None]:
        """The stages after the last answer; none when the runtime goes on after its own compaction."""
        for stage in self.work.setup.order.answered:
            again = yield from _ANSWERED[stage](self, message)
            if again:
                return None
        error = message.get("errorMessage") if message.get("stopReason") == "error" else None
        if isinstance(error, str):
            verdict = classify_overflow(self.work.rules.overflow, self.work.rules.id, error)
            if verdict.likely:
                return AttemptEnd("overflow", error)
        return AttemptEnd("answered")

    def check_prompt(self) -> Steps[AttemptEnd | None]:
        """The pre-prompt check, on an unpruned copy of the history (spec budgets 4.5)."""
        setup, work = self.work.setup, self.work
        if setup.rules.routing is None:
            return None
        copy = truncate_for_prompt(
            self.base, setup.lines.window, setup.rules.pruning.recovery, setup.tool_cap_chars
        )
        route = route_prompt(
            setup.rules.routing,
            setup.rules.pruning.recovery,
            setup.rules.id,
            Prompt([*copy.messages, *self._told()], self.run.sent, _text_of(self.run.system_chars)),
            setup.lines.window,
            setup.lines.check_budget.reserve,
            setup.tool_cap_chars,
        )
        work.note("pre_prompt_check", route.decision)
        if route.route == "fits":
            return None
        estimate, budget = route.estimated_prompt_tokens, route.budget.prompt
        if route.route == "truncate_tool_results_only":
            work.fired("truncate", estimate, budget, route.route, route.decision)
            rewritten = yield from truncate_session(work)
            if rewritten.truncated:
                self.run.results_cut = True
                return AttemptEnd("handled")
            return AttemptEnd("overflow", OVERFLOW_TEXT, "compact_only", checked=True)
        work.fired("guard", estimate, budget, route.route, route.decision)
        return AttemptEnd("overflow", OVERFLOW_TEXT, route.route, checked=True)

    def trigger_before_prompt(self) -> Steps[AttemptEnd | None]:
        """The runtime's own trigger, on the last answer of the history."""
        last = next((m for m in reversed(self.base) if m.get("role") == "assistant"), None)
        if last is not None:
            yield from self.trigger(last, skip_aborted=False)
        return None

    def trigger(self, answer: Message, *, skip_aborted: bool = True) -> Steps[bool]:
        """Whether the runtime compacts by itself, and does it; true when the prompt is sent again."""
        setup, work = self.work.setup, self.work
        line = setup.lines.named("inner_threshold")
        around = setup.around
        trigger = check_inner_trigger(
            setup.rules.inner_trigger,
            setup.rules.id,
            answer,
            RunState(
                settings=replace(setup.lines.settings, enabled=line.active),
                model={
                    "provider": around.provider,
                    "id": around.model,
                    "contextWindow": setup.lines.window,
                },
                messages=(*self.base, *self.news),
                latest_compaction_ms=latest_compaction_ms(work.state.branch()),
                overflow_attempted=self.overflow_attempted,
            ),
            skip_aborted=skip_aborted,
        )
        work.note("inner_trigger", trigger.decision)
        self.overflow_attempted = trigger.overflow_attempted
        if not trigger.compacts:
            return False
        kind = "overflow_compaction" if trigger.retry else "threshold_compaction"
        ask = CompactionAsk("inner_overflow" if trigger.retry else "inner_threshold")
        made = yield from compact(work, ask)
        reason = made.outcome if made.message is None else made.message
        work.fired(kind, work.total_before, line.tokens, reason, trigger.decision)  # type: ignore[arg-type]
        self.run.incomplete = made.decision.outcome == "incomplete"
        if made.outcome == "compacted":
            self.run.inner_compactions += 1
            self.compacted = True
            yield from self._load()
            self.news = []
        return trigger.retry and made.outcome == "compacted"

    def touch_cache(self) -> Steps[None]:
        """The marker that tells when the provider's cache was last used."""
        setup = self.work.setup
        now = yield Moment("entry")
        touch = cache_touch_marker(
            setup.config,
            setup.around.provider,
            setup.around.model,
            setup.rules,
            now,
            eligible=setup.pruning_eligible,
            compacted=self.compacted,
        )
        self.work.note("cache_touch", touch.decision)
        if touch.data is not None:
            kind = {"type": "custom", "customType": "openclaw.cache-ttl", "data": dict(touch.data)}
            yield from self.work.append(kind)

    def clean_images(self) -> Steps[AttemptEnd | None]:
        """Old images taken out of the history for good, where the version does so once an attempt."""
        yield from ()
        clean = prune_history_images(self.base, self.work.rules.pruning.history_images)
        self.base = list(clean.messages)
        return None


_BEFORE: Final[Mapping[str, Callable[[Attempt], Steps[AttemptEnd | None]]]] = {
    "pre_prompt_check": Attempt.check_prompt,
    "inner_trigger_before_prompt": Attempt.trigger_before_prompt,
    "stored_history_images": Attempt.clean_images,
}
_ANSWERED: Final[Mapping[str, Callable[[Attempt, Message], Steps[bool]]]] = {
    "inner_trigger": Attempt.trigger,
}
_ENDED: Final[Mapping[str, Callable[[Attempt], Steps[None]]]] = {
    "cache_touch": Attempt.touch_cache,
}


def _failed(message: Message) -> bool:
    return message.get("role") == "assistant" and message.get("stopReason") == "error"


def _text_of(chars: int) -> str:
    """A text of that size: it stands for a system prompt that is known by its size alone."""
    return "x" * chars


def _with_text(content: Any, text: str) -> Any:
    """The content of the prompt in the form in which it is sent."""
    if isinstance(content, str):
        return text
    blocks = list(content) if isinstance(content, list) else []
    first = next((i for i, b in enumerate(blocks) if _is_text(b)), None)
    if first is None:
        return [{"type": "text", "text": text}, *blocks]
    blocks[first] = {**blocks[first], "text": text}
    return blocks


def _is_text(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "text"
