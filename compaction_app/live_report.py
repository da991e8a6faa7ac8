"""Messages and calls of a live session on their way into the store, with the decisions around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from compaction_app import decisions, webhooks
from compaction_app.engine.overflow import classify_overflow
from compaction_app.engine.pruning.persist import is_transcript_only
from compaction_app.engine.recovery_limits import recover_from_timeout
from compaction_app.engine.turn.attempt import failed
from compaction_app.engine.turn.record import StageRecord
from compaction_app.engine.turn.setup import RunSetup
from compaction_app.engine.turn.state import SessionState
from compaction_app.live_state import LiveSession, load_window
from compaction_app.live_steps import Basis, record_step, stages_made
from compaction_app.models import Decision, LiveStep
from compaction_app.next_step import Next, NothingToSend, next_step
from compaction_app.run_memory import RunMemory, ended, memory_of, with_memory
from compaction_app.session_guard import ends_run, guard_of
from sessions_app.models import Session
from sessions_app.transcripts.session_index import total_tokens
from sessions_app.transcripts.usage import normalize_usage, prompt_tokens
from sessions_app.writer import Writer
from sessions_app.writing import Appended, LiveState, Receipt

Message = Mapping[str, Any]
CACHE_STAGE: Final = "cache_ttl_pruning"
SOME_PROMPT: Final = {"type": "message", "id": "0", "message": {"role": "user", "content": ""}}


@dataclass(frozen=True, slots=True)
class Reported:
    """What a request left: what became of its messages, what follows (none: the agent sends what comes
    next, such as the results of the tools it was asked for), all decisions that were stored, the session with
    its entry in the index as it is now, and under which setup all this was."""

    appended: Appended
    next: Next | None
    stages: tuple[StageRecord, ...]
    session: Session
    index: Message
    setup: RunSetup


class Report:
    """What one request writes, under the session's lock."""

    def __init__(self, writer: Writer, setup: RunSetup) -> None:
        self.writer, self.setup = writer, setup
        self.guard = guard_of(setup)
        self.first = writer.window.entry_count
        self.receipts: list[Receipt] = []
        self.stages: list[StageRecord] = []
        self.last: Message | None = None
        self.calls = 0
        self.blocked: Next | None = None
        self.pruned = False
        self.kept: LiveStep | None = None

    def take(self, sent: Sequence[Message], answer: Sequence[Message]) -> None:
        """Store one call, with the decisions that led to it between its prompt and its answer."""
        prompt = sent[-1] if sent and sent[-1]["role"] == "user" else None
        self.pruned, self.blocked, self.kept = False, None, None
        self.store(sent[:-1] if prompt is not None else sent)
        step = None
        if prompt is not None or ((answer or not sent) and memory_of(self.writer.state).is_open):
            step = self._decide(prompt, is_called=bool(answer))
        self.store([] if prompt is None else [prompt])
        if prompt is not None and self.kept is not None:
            self._refer_to(prompt, self.receipts[-1])
        if step is not None and step.action == "blocked" and not answer:
            self._block(step)
        if self.pruned:
            memory = replace(memory_of(self.writer.state), touched_ms=self.writer.now_ms)
            self.writer.state = with_memory(self.writer.state, memory)
        self.store(answer)

    def store(self, messages: Sequence[Message]) -> None:
        """Append messages as the session guard wants them."""
        if messages:
            made = len(memory_of(self.writer.state).usages)
            self.calls = _calls_of_turn(messages, made)
            self.receipts += self.writer.append(messages, self.guard).receipts
            self.last = messages[-1]

    def timed_out(self) -> None:
        """The call that was reported last ran into its time limit (spec budgets 6.4)."""
        memory, rules = memory_of(self.writer.state), self.setup.rules
        usages = [normalize_usage(usage, rules.usage) for usage in memory.usages]
        sent = next((n for n in map(prompt_tokens, reversed(usages)) if n is not None), None)
        tokens = sent if sent is not None else total_tokens(self.writer.state.index) or 0
        window = self.setup.lines.window
        judged = recover_from_timeout(rules.run_recovery, rules.id, memory.counters, tokens, window)
        stage = StageRecord(judged.rule, "turn", 1, len(usages), judged)
        self.stages.append(stage)
        decisions.record(
            self.writer.session,
            [decisions.Made(memory.turn, stage)],
            reading=Decision.Reading.LIVE,
            window=self.writer.window,
            policy=decisions.policy_record(self.setup.policy, self.setup.around),
        )
        if judged.fired:
            spent = memory.timeout_compactions + 1
            memory = replace(memory, timed_out=round(tokens), timeout_compactions=spent)
            self.writer.state = with_memory(self.writer.state, memory)

    def follow(self) -> Next | None:
        """What follows: the stages behind a last answer, or the recovery from an error."""
        if self.blocked is not None:
            return self.blocked
        last = self.last
        if (
            last is None
            or not self.receipts[-1].id
            or is_transcript_only(last)
            or not (ends_run(last) or failed(last))
        ):
            return None
        memory = memory_of(self.writer.state)
        reopened = replace(memory, is_open=True, calls_before=self.calls - len(memory.usages))
        try:
            step = self._by_the_answer_alone(last, reopened)
            if step is None:
                leaves = ends_run(last)
                step = self._step(self._loaded(), reopened, leaves_compaction=leaves)
        except NothingToSend:  # an answer that no prompt came before
            return None
        basis = self._basis(with_memory(self.writer.state, reopened))
        leaving = {"leavesCompaction": ends_run(last)}
        self._keep(step.stages, memory.turn, LiveStep.Kind.ANSWER, basis, leaving)
        if ends_run(last):
            self.writer.append_entries(step.added)
            self.writer.state = replace(self.writer.state, index=step.state.index)
            return step
        self._recover(memory, step)
        rules, error = self.setup.rules, last.get("errorMessage")
        if classify_overflow(rules.overflow, rules.id, str(error)).likely:
            overflow = {"next": step.action, "reply": step.reply, "turn": memory.turn}
            webhooks.tell(self.writer, "overflow", overflow)
        return step

    def told(self, sent: int, step: Next | None) -> Reported:
        """The request's answer; ``sent`` is how many messages of it get a receipt."""
        return Reported(
            next=step,
            stages=tuple(self.stages),
            session=self.writer.session,
            index=self.writer.state.index,
            setup=self.setup,
            appended=Appended(
                receipts=tuple(self.receipts[:sent]),
                head=self.writer.head,
                first_seq=self.first,
                entries=self.writer.window.entry_count,
                tokens=sum(receipt.tokens for receipt in self.receipts),
                event=self.writer.session.last_event,
            ),
        )

    def _by_the_answer_alone(self, answer: Message, memory: RunMemory) -> Next | None:
        """The stages behind an answer whose usage says everything that they judge, so that nothing of
        the session has to be read; none where more is to be done than to note that nothing is."""
        usage = normalize_usage(answer.get("usage"), self.setup.rules.usage)
        if failed(answer) or "timestamp" in answer or not (memory.turn and prompt_tokens(usage)):
            return None
        entries = (SOME_PROMPT, {"type": "message", "id": "1", "parentId": "0", "message": answer})
        state = SessionState(entries=entries, branch=entries, index=self.writer.state.index)
        step = next_step(
            self.setup,
            state,
            memory,
            self.writer.head,
            self.writer.now_ms,
            leaves_compaction=True,
        )
        is_quiet = step.compaction is None and not step.added and not self.setup.order.replied
        return step if is_quiet else None

    def _recover(self, memory: RunMemory, step: Next) -> None:
        """Keep what the recovery has spent, the branch of a truncation, and the reply of a blocked turn."""
        if step.action == "blocked":
            self.writer.append_entries(step.replies)
            memory = ended(memory)
        elif step.action == "compact" and memory.timed_out is None:
            memory = replace(memory, overflow_compactions=memory.overflow_compactions + 1)
        elif step.rewritten:
            self.writer.append_entries(step.rewritten)
            memory = replace(memory, truncations=memory.truncations + 1, retries=True)
        self.writer.state = with_memory(self.writer.state, memory)

    def _block(self, step: Next) -> None:
        """Store what the user of a blocked turn is told, as the runtime does."""
        self.blocked = step
        self.writer.append_entries(step.replies)
        memory = ended(memory_of(self.writer.state))
        self.writer.state = with_memory(self.writer.state, memory)

    def _decide(self, prompt: Message | None, *, is_called: bool) -> Next | None:
        loaded = self._loaded()
        memory = memory_of(loaded.memory)
        step = self._step(loaded, memory, prompt)
        if not is_called and step.action != "blocked":
            return None  # it is judged again before its call
        asked = {} if prompt is None else {"prompt": {"message": prompt}}
        turn = memory.turn + (prompt is not None)
        self._keep(step.stages, turn, LiveStep.Kind.CALL, self._basis(self.writer.state), asked)
        self.pruned = any(s.stage == CACHE_STAGE and s.decision.fired for s in step.stages)
        if step.rewritten:
            again = [{"type": "message", "message": step.moved}] if step.moved else []
            self.writer.append_entries([*step.rewritten, *again])
        return step

    def _loaded(self) -> LiveSession:
        return load_window(self.writer.window, self.setup.rules, self.writer.state)

    def _step(
        self,
        loaded: LiveSession,
        memory: RunMemory,
        prompt: Message | None = None,
        leaves_compaction: bool = False,
    ) -> Next:
        return next_step(
            self.setup,
            loaded.state,
            memory,
            loaded.head,
            self.writer.now_ms,
            prompt,
            leaves_compaction=leaves_compaction,
        )

    def _basis(self, memory: LiveState) -> Basis:
        window, now_ms = self.writer.window, self.writer.now_ms
        return Basis(
            window.entry_count, window.content_bytes, self.writer.head or "", memory, now_ms
        )

    def _keep(
        self,
        stages: Iterable[StageRecord],
        turn: int,
        kind: LiveStep.Kind,
        basis: Basis,
        asked: Mapping[str, Any],
    ) -> None:
        found = tuple(stages)
        self.stages += found
        made = stages_made(turn, found)
        self.kept = record_step(self.writer.window, self.setup, made, kind, basis, asked)

    def _refer_to(self, prompt: Message, receipt: Receipt) -> None:
        """The prompt is stored as it was judged: what is kept of the decisions names its entry."""
        if self.kept is not None and receipt.id and not receipt.changes:
            prompt_entry = {"entry": receipt.id, "hadTime": "timestamp" in prompt}
            self.kept.asked = {**self.kept.asked, "prompt": prompt_entry}
            self.kept.save(update_fields=["asked"])


def _calls_of_turn(messages: Sequence[Message], before: int) -> int:
    """How many calls the turn has made behind these messages, which come after ``before`` calls of it."""
    roles = [message["role"] for message in messages]
    if "user" in roles:
        before, roles = 0, roles[len(roles) - roles[::-1].index("user") :]
    return before + roles.count("assistant")
