"""What a context engine must bring along, and what it may ask of its host (spec compaction 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessions_app.tokens import javascript as js

REQUIRED_METHODS = ("ingest", "assemble", "compact")
EMBEDDED_CAPABILITIES = (
    "bootstrap",
    "assemble-before-prompt",
    "after-turn",
    "maintain",
    "compact",
    "runtime-llm-complete",
)
CLI_CAPABILITIES = ("bootstrap", "after-turn", "maintain")


@dataclass(frozen=True, slots=True)
class EngineShape:
    """An engine as far as rules look at it: what it says of itself, and its methods by name."""

    info: Any
    methods: frozenset[str]

    @property
    def id(self) -> Any:
        return self.info.get("id") if isinstance(self.info, Mapping) else None


@dataclass(frozen=True, slots=True)
class EngineFailure:
    """An error an engine or its factory raised.

    ``rejected_keys`` are parameters it did not know; ``signal_aborted``: the call was being aborted.
    """

    name: str
    message: str
    rejected_keys: tuple[str, ...] = ()
    signal_aborted: bool = False


def contract_violation(engine_id: str, built: object) -> str | None:
    """What is wrong with what a factory returned; none when it is a context engine."""
    if not isinstance(built, EngineShape):
        return (
            f'Context engine "{engine_id}" factory returned {js.json_text(built)} instead of a '
            "ContextEngine object."
        )
    problems = _info_problems(built.info)
    problems += [f"missing {m}()" for m in REQUIRED_METHODS if m not in built.methods]
    if not problems:
        return None
    return (
        f'Context engine "{engine_id}" factory returned an invalid ContextEngine: '
        f"{', '.join(problems)}."
    )


def _info_problems(info: Any) -> list[str]:
    if not isinstance(info, Mapping):
        return ["missing info"]
    return [f"missing info.{key}" for key in ("id", "name") if not js.norm(info.get(key))]


def missing_capabilities(info: Any, operation: str, capabilities: Sequence[str]) -> tuple[str, ...]:
    """What the engine requires for the operation and the host lacks: then the run is refused."""
    requirements = info.get("hostRequirements") if isinstance(info, Mapping) else None
    needs = requirements.get(operation) if isinstance(requirements, Mapping) else None
    required = needs.get("requiredCapabilities") if isinstance(needs, Mapping) else None
    listed = required if isinstance(required, list) else []
    return tuple(capability for capability in listed if capability not in capabilities)
