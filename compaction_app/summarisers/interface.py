"""What a summariser is: it answers one model call of a compaction."""

from __future__ import annotations

from typing import Protocol

from compaction_app.engine.compaction.requests import ModelAnswer, ModelCall


class Summariser(Protocol):
    """Answers the model calls that a compaction makes.

    ``name`` is written into records. An error is a value: a ``Failure`` with the name and message the
    rules look at (spec compaction 1.5); what is raised instead ends the compaction.
    """

    @property
    def name(self) -> str: ...

    def summarise(self, call: ModelCall) -> ModelAnswer:
        """The summary of the call's messages, none for no text, or a ``Failure``."""
        ...
