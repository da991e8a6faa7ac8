"""What a live session's agent had beside the transcript: workspace files and memory files.

A recording that was imported has neither; what its own flushes wrote stands in its transcript.
"""

from __future__ import annotations

from collections.abc import Iterator

from compaction_app.agent_setup import AgentSetup, agent_setup
from compaction_app.engine.composition.agent_prompt import AgentTexts, agent_prompt
from compaction_app.engine.retention.cycles import Beside, BesideOf, nothing_beside
from compaction_app.memory import FlushOrigin
from compaction_app.models import MemoryNote
from sessions_app.models import Agent, Entry, Window
from sessions_app.workspace import files_at, snapshot_of_call

_FILES = ("files", "changing files")


def beside_of(window: Window) -> BesideOf:
    """For each compaction what stood beside the transcript then."""
    session = window.session
    agent = session.agent
    if agent is None or not session.is_live:
        return nothing_beside
    setup = agent_setup(agent)

    def beside(entry: int, before: int) -> Beside:
        origin = FlushOrigin(session, before).name
        notes = list(_notes(agent, window, entry, before))
        return Beside(
            workspace=tuple(_workspace(setup, window, entry)),
            notes=tuple((path, text) for path, text, _ in notes),
            cycle_files=tuple(dict.fromkeys(p for p, _, flush in notes if flush == origin)),
        )

    return beside


def _workspace(setup: AgentSetup, window: Window, entry: int) -> Iterator[str]:
    """The files as a call before the compaction was given them: chosen, in order, cut to their budgets."""
    snapshot = snapshot_of_call(window, entry)
    if snapshot is None:
        return
    around = setup.around
    texts = AgentTexts(files=files_at(snapshot))
    prompt = agent_prompt(texts, around.config, around.rules, window.session.key)
    yield from (part.text for part in prompt.parts if part.kind in _FILES)


def _notes(agent: Agent, window: Window, entry: int, before: int) -> Iterator[tuple[str, str, str]]:
    """File, text and flush of each note that stood in the agent's memory when the session was compacted.

    Of the session's own by their cycle; of other sessions by the clock.
    """
    at_ms = Entry.objects.filter(window=window, seq=entry).values_list("at_ms", flat=True).first()
    own = f"{window.session.uuid}:"
    found = MemoryNote.objects.filter(file__agent=agent).order_by("pk")
    for path, text, flush, created in found.values_list(
        "file__name", "text", "flush", "created_at"
    ):
        if flush.startswith(own):
            is_there = int(flush.removeprefix(own)) <= before
        else:
            is_there = at_ms is not None and created.timestamp() * 1_000 <= at_ms
        if is_there:
            yield path, text, flush
