"""May the checks before a turn run at all, for this provider and this session? (spec budgets 5.4, 5.5)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from compaction_app.engine.config_value import value_at
from sessions_app.tokens import javascript as js

PLUGIN_CLI_BACKENDS: Final = frozenset({"claude-cli", "codex-cli", "google-gemini-cli"})
"""Command line backends that come with plugins and need no configuration."""

WRITABLE: Final = "rw"
DEFAULT_ACCESS: Final = "none"
SANDBOX_OFF: Final = "off"


def is_cli_provider(config: object, provider: str) -> bool:
    """Whether the provider is a command line program, which keeps its own context."""
    name = js.norm(provider)
    configured = value_at(config, "agents", "defaults", "cliBackends")
    keys = configured if isinstance(configured, Mapping) else ()
    return name in PLUGIN_CLI_BACKENDS or any(js.norm(key) == name for key in keys)


def can_write_workspace(
    config: object, agent_id: str | None = None, *, is_main_session: bool = True
) -> bool:
    """Whether a session may write its workspace: it has no sandbox, or one with access "rw".

    An unset access is none, so a sandbox forbids writing unless it says otherwise.
    """
    mode = _sandbox(config, agent_id, "mode") or SANDBOX_OFF
    sandboxed = mode == "all" or (mode == "non-main" and not is_main_session)
    access = _sandbox(config, agent_id, "workspaceAccess") or DEFAULT_ACCESS
    return not sandboxed or access == WRITABLE


def _sandbox(config: object, agent_id: str | None, key: str) -> object:
    """A sandbox setting: the agent's own, else the default."""
    agents = value_at(config, "agents", "list")
    for agent in agents if isinstance(agents, list) and agent_id else ():
        if js.norm(value_at(agent, "id")) == js.norm(agent_id):
            own = value_at(agent, "sandbox", key)
            if own is not None:
                return own
    return value_at(config, "agents", "defaults", "sandbox", key)
