"""Which limits of a configuration apply to an agent."""

from __future__ import annotations

import pytest

from compaction_app.engine.pruning.context_limits import context_limits, normal_agent_id


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        *(("Coder", "coder"), (" a b ", "a-b"), ("--x--", "x"), ("!!", "main"), ("", "main")),
        *((None, "main"), ("a" * 70, "a" * 64), ("_x", "_x"), ("日本", "main")),
    ],
)
def test_ids_are_compared_in_their_normal_form(given: object, normal: str) -> None:
    assert normal_agent_id(given) == normal


def test_an_agent_s_fields_override_the_defaults_one_by_one() -> None:
    config = {
        "agents": {
            "defaults": {"contextLimits": {"a": 1, "b": 2}},
            "list": [{"id": "x", "contextLimits": {"b": 3}}, {"id": "y"}],
        }
    }
    assert context_limits(config, "X") == {"a": 1, "b": 3}
    assert context_limits(config, "y") == context_limits(config, None) == {"a": 1, "b": 2}
