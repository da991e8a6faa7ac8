"""Who makes a safeguard summary: a registered provider, or a model with credentials (spec compaction 3, 4 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from compaction_app.engine.compaction.failures import Failure, failure_kind
from compaction_app.engine.compaction.message_text import Message
from compaction_app.engine.compaction.requests import (
    NOT_REGISTERED,
    Credentials,
    CredentialsAnswer,
    ProviderCall,
    Steps,
)
from compaction_app.engine.compaction.safeguard_settings import SafeguardSettings
from compaction_app.engine.compaction.safeguard_source import SafeguardTask
from sessions_app.tokens import javascript as js

if TYPE_CHECKING:
    from compaction_app.engine.compaction.versions import CompactionRules

NO_MODEL = "Compaction safeguard could not resolve a summarization model."
NO_CREDENTIALS = "Compaction safeguard could not resolve request credentials for"

ProviderOutcome = Literal[
    "not_configured", "answered", "not_registered", "blank", "failed", "aborted"
]
Obstacle = Literal["no_model", "no_credentials"]


@dataclass(frozen=True, slots=True)
class Provided:
    """What came of asking the provider: its summary, or a failure that ends the compaction."""

    outcome: ProviderOutcome
    summary: str | None = None
    failure: Failure | None = None


def ask_provider(
    messages: Sequence[Message],
    previous_summary: str | None,
    settings: SafeguardSettings,
    structure: str,
    rules: CompactionRules,
) -> Steps[Provided]:
    """Ask the configured provider; anything but a text, an abort or a timeout leads to the model."""
    if not settings.provider:
        return Provided("not_configured")
    answer = yield ProviderCall(
        provider=settings.provider,
        messages=messages,
        instructions=structure,
        previous_summary=previous_summary,
        identifier_policy=settings.identifiers.policy,
        identifier_instructions=settings.identifiers.instructions,
    )
    if isinstance(answer, Failure):
        if failure_kind(answer, rules.failures) == "error":
            return Provided("failed")
        return Provided("aborted", failure=answer)
    if answer is NOT_REGISTERED:
        return Provided("not_registered")
    if isinstance(answer, str) and not js.is_blank(answer):
        return Provided("answered", answer)
    return Provided("blank")


def missing_means(task: SafeguardTask) -> Steps[tuple[Obstacle, str] | None]:
    """Why no model can be called, with the sentence shown for it; none when one can.

    Headers alone are credentials enough.
    """
    if task.model is None:
        return "no_model", NO_MODEL
    answer: CredentialsAnswer = yield Credentials()
    if answer.error is None and (answer.has_key or answer.has_headers):
        return None
    name = f"{task.model.get('provider')}/{task.model.get('id')}"
    if answer.error is None:
        return "no_credentials", f"{NO_CREDENTIALS} {name}."
    return "no_credentials", f"{NO_CREDENTIALS} {name}: {answer.error}"
