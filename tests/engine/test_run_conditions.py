"""Whether the checks before a turn may run at all."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.run_conditions import can_write_workspace, is_cli_provider
from compaction_app.engine.server_threshold import server_threshold


def defaults(**fields: Any) -> dict[str, Any]:
    return {"agents": {"defaults": fields}}


def test_command_line_providers_are_known_by_name_or_by_configuration() -> None:
    assert is_cli_provider({}, " Claude-CLI ")
    assert is_cli_provider(defaults(cliBackends={"Acme": {}}), "acme")
    assert not is_cli_provider(defaults(cliBackends=["acme"]), "acme")


@pytest.mark.parametrize(
    ("sandbox", "main", "writable"),
    [
        (None, True, True),
        ({"mode": "off"}, False, True),
        ({"mode": "all"}, True, False),
        ({"mode": "all", "workspaceAccess": "ro"}, True, False),
        ({"mode": "all", "workspaceAccess": "rw"}, True, True),
        ({"mode": "non-main"}, True, True),
        ({"mode": "non-main"}, False, False),
    ],
)
def test_a_sandbox_forbids_writing_unless_it_says_otherwise(
    sandbox: Any, main: bool, writable: bool
) -> None:
    assert can_write_workspace(defaults(sandbox=sandbox), is_main_session=main) is writable


def test_an_agents_sandbox_goes_before_the_default() -> None:
    config = defaults(sandbox={"mode": "all"})
    config["agents"]["list"] = [{"id": "Ops", "sandbox": {"workspaceAccess": "rw"}}]
    assert can_write_workspace(config, "ops")
    assert not can_write_workspace(config, "other")


def test_the_most_specific_server_threshold_that_fits_decides() -> None:
    model = {"id": "g", "params": {"responsesCompactThreshold": 2.9}}
    config: dict[str, Any] = {
        "models": {"providers": {"OpenAI": {"models": [model]}}},
        **defaults(params={"responsesCompactThreshold": -1}),
    }
    assert server_threshold(config, "openai", "g") == 2
    config["agents"]["defaults"]["models"] = {
        "openai/g": {"params": {"responsesServerCompaction": False}}
    }
    assert server_threshold(config, "openai", "g") is None


def test_other_providers_must_be_switched_on() -> None:
    config = defaults(params={"responsesCompactThreshold": 9})
    assert server_threshold(config, "acme", "g") is None
    config["agents"]["defaults"]["params"]["responsesServerCompaction"] = True
    assert server_threshold(config, "acme", "g") == 9
    assert server_threshold(config, None, "g") is None
