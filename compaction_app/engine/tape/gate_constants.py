"""What the gates read of a configuration, once a session."""

from __future__ import annotations

from dataclasses import dataclass

from compaction_app.engine.preflight import max_active_bytes
from compaction_app.engine.run_conditions import can_write_workspace, is_cli_provider
from compaction_app.engine.server_threshold import server_threshold
from compaction_app.engine.turn.setup import RunSetup


@dataclass(frozen=True, slots=True)
class GateConstants:
    server_threshold: int | None
    max_active_bytes: int | None
    is_cli_provider: bool
    can_write_workspace: bool


def gate_constants(setup: RunSetup) -> GateConstants:
    around, config, rules = setup.around, setup.config, setup.rules.preflight
    return GateConstants(
        server_threshold=server_threshold(
            config,
            around.provider,
            around.model,
            setup.rules.server_threshold,
            setup.lines.flush_window.tokens,
        ),
        max_active_bytes=max_active_bytes(config, rules) if rules is not None else None,
        is_cli_provider=is_cli_provider(config, around.provider),
        can_write_workspace=can_write_workspace(config),
    )
