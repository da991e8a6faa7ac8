"""One attempt of a run: the checks before the prompt, then call after call until the model is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from compaction_app.engine.inner_trigger import overflow_mark_after
from compaction_app.engine.overflow import classify_overflow
from compaction_app.engine.pruning.cache_touch import CACHE_TTL_ENTRY, last_cache_touch_ms
from compaction_app.engine.pruning.persist import capped_for_storage
from compaction_app.engine.pruning.projecting import without_lost
from compaction_app.engine.pruning.projection import (
    ProjectionState,
    marker_data,
    restored_marker,
    restored_state,
)
from compaction_app.engine.pruning.truncate import tool_result_text_chars
from compaction_app.engine.turn.attempt_stages import (
    ANSWERED,
    BEFORE_PROMPT,
    ENDED,
    AttemptEnd,
)
from compaction_app.engine.turn.calling import CallPreparation, prepare_call
from compaction_app.engine.turn.compacting import truncate_session
from compaction_app.engine.turn.history import attempt_history, stamped, with_plain_call_ids
from compaction_app.engine.turn.live_size import stand_in
from compaction_app.engine.turn.record import CallRecord
from compaction_app.engine.turn.requests import Context, ModelAnswer, ModelCall, Moment, Steps
from compaction_app.engine.turn.runtime_event import runtime_context
from compaction_app.engine.turn.work import message_of
from sessions_app.transcripts.session_context import messages_of_path
from sessions_app.transcripts.usage import Usage, normalize_usage, prompt_tokens

if TYPE_CHECKING:
    from compaction_app.engine.turn.run import ModelRun

Message = Mapping[str, Any]


class Attempt:
    """The context in memory: ``base`` from the session, ``news`` since the prompt.

    ``since`` is what the session holds of an earlier attempt, from the prompt on, where that is not sent
    a second time.
    """

    def __init__(self, run: ModelRun) -> None:
        self.run, self.work = run, run.work
        self.base: list[Message] = []
        self.since: list[Message] = []
        self.news: list[Message] = []
        self.compacted = False
        self.overflow_attempted = False
        self.touched_ms: float | None = None
        self.fence: int | None = None
        self.projection = ProjectionState()
        self.called = False

    def carry_out(self) -> Steps[AttemptEnd]:
        """The whole attempt, its last stages included."""
        end = yield from self._until_end()
        for stage in self.work.setup.order.ended:
            yield from ENDED[stage](self)
        return replace(end, compacted=self.compacted)

    def _until_end(self) -> Steps[AttemptEnd]:
        setup = self.work.setup
        yield from self.load()
        self.note_touch()
        self.projection = without_lost(self.projection, self.base)
        self.fence = len(self.base)
        for stage in setup.order.attempt:
            end = yield from BEFORE_PROMPT[stage](self)
            if end is not None:
                return end
        yield from self.run.store_prompt()
        self.news = [*self.told(), *(self.since or [self._prompt()])]
        return (yield from self.talk())

    def _prompt(self) -> Message:
        stored = message_of(self.run.message)
        return {**stored, "content": with_text(stored.get("content"), self.run.sent)}

    def note_touch(self) -> None:
        """When the provider's cache was last used, as the session tells."""
        setup = self.work.setup
        self.touched_ms = last_cache_touch_ms(
            self.work.state.entries,
            setup.rules.pruning.cache_touch,
            provider=setup.around.provider,
            model_id=setup.around.model,
        )
        self.projection = restored_state(self.work.state.branch)

    def told(self) -> list[Message]:
        """What the runtime tells the model beside the prompt; a flush turn is told nothing."""
        return (
            runtime_context(self.work.queued, self.work.rules.turn.events)
            if self.run.kind == "turn"
            else []
        )

    def load(self) -> Steps[None]:
        """The history as the session holds it, without an answer that failed last."""
        now = yield Moment("entry")
        stored = list(messages_of_path(self.work.state.branch))
        while stored and failed(stored[-1]):
            stored.pop()
        if self.work.prompt_once and self.run.prompt_stored:
            stored, self.since = since_prompt(stored)
        self.base = attempt_history(stored, self.work.rules, now)
        if self.work.rules.turn.stamps_history and self.work.setup.around.path == "chat":
            self.base = stamped(self.base)
        if self.work.setup.plain_call_ids:
            self.base = with_plain_call_ids(self.base)

    def talk(self) -> Steps[AttemptEnd]:
        """Model calls until an answer without tool calls, or until something stops them."""
        while True:
            prepared = yield from self._prepare()
            if prepared.error is not None:
                route = prepared.mid_turn.route if prepared.mid_turn else None
                reason = route or "context_over_limit"
                self.work.fired("guard", None, None, reason, prepared.guard)
                if route == "truncate_tool_results_only":
                    rewritten = yield from truncate_session(self.work)
                    self.run.results_cut = rewritten.truncated
                    return AttemptEnd(
                        "handled" if rewritten.truncated else "overflow", prepared.error
                    )
                return AttemptEnd("overflow", prepared.error, route)
            answer = yield from self._call(prepared)
            if answer is None:
                return AttemptEnd("unanswered")
            if answer.results or answer.goes_on:
                continue
            end = yield from self.answered(message_of(answer.message))
            if end is not None:
                return end

    def _prepare(self) -> Steps[CallPreparation]:
        now = yield Moment("call")
        prepared = CallPreparation(
            work=self.work,
            messages=[*self.base, *self.news],
            now_ms=now,
            system_text=stand_in(self.run.system_chars),
            touched_ms=self.touched_ms,
            fence=self.fence,
            projection=self.projection,
            is_first=not self.called,
        )
        prepare_call(prepared)
        self.touched_ms, self.fence = prepared.touched_ms, prepared.fence
        self.projection, self.called = prepared.projection, True
        if prepared.error is None and "remembered_results" in self.work.setup.order.call:
            yield from self._remember()
        return prepared

    def _remember(self) -> Steps[None]:
        """Write down in which form the tool results are shown, where that is news to the session."""
        setup, told = self.work.setup, restored_marker(self.work.state.branch)
        data = marker_data(self.projection)
        is_pruning = setup.pruning is not None and setup.pruning_eligible
        if is_pruning and data != told and (told is not None or data["frozenToolResults"]):
            yield from self.work.append(
                {"type": "custom", "customType": CACHE_TTL_ENTRY, "data": data}
            )

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
        identity = answer.message.get("id") if answer else None
        work.called(CallRecord(self.run.kind, work.next_call, context, message, identity))
        if answer is None or message is None:
            return None
        self.run.usages.append(usage or Usage())
        for item in (answer.message, *map(self._stored, answer.results)):
            if work.rules.turn.stores_failures or not failed(message_of(item)):
                yield from work.append_message(item)
            self.news.append(message_of(item))
        self.overflow_attempted = overflow_mark_after(self.overflow_attempted, message)
        return answer

    def _stored(self, result: Message) -> Message:
        """A tool result as the session stores it: over the cap it is cut for good."""
        message, cap = message_of(result), self.work.setup.stored_cap_chars
        persist = self.work.rules.pruning.persist
        if tool_result_text_chars(message, persist.truncation) <= cap:
            return result
        cut = capped_for_storage(message, cap, persist)
        return cut if message is result else {**result, "message": cut}

    def answered(self, message: Message) -> Steps[AttemptEnd | None]:
        """The stages after the last answer; none when the runtime goes on after its own compaction."""
        for stage in self.work.setup.order.answered:
            again = yield from ANSWERED[stage](self, message)
            if again:
                return None
        error = message.get("errorMessage") if message.get("stopReason") == "error" else None
        if isinstance(error, str):
            verdict = classify_overflow(self.work.rules.overflow, self.work.rules.id, error)
            if verdict.likely:
                return AttemptEnd("overflow", error)
        return AttemptEnd("answered")


def since_prompt(messages: list[Message]) -> tuple[list[Message], list[Message]]:
    """A stored history as what stood before its last prompt, and what came from there on.

    Where a compaction has summarised the prompt, the second begins with what it kept; it is empty where
    nothing of the turn is left.
    """
    places = [at for at, message in enumerate(messages) if message.get("role") == "user"]
    start = max(places, default=0)
    if not places:
        while start < len(messages) and messages[start].get("role") == "compactionSummary":
            start += 1
    return messages[:start], messages[start:]


def failed(message: Message) -> bool:
    """Whether a message is an answer that ended in an error."""
    return message.get("role") == "assistant" and message.get("stopReason") == "error"


def with_text(content: Any, text: str) -> Any:
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
