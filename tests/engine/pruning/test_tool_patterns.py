"""Which tools' results may be pruned."""

from __future__ import annotations

from typing import Any

import pytest

from compaction_app.engine.pruning.tool_patterns import prunable_tools


@pytest.mark.parametrize(
    ("tools", "name", "prunable"),
    [
        ({}, "read", True),
        (None, None, True),
        ({"allow": []}, "read", True),
        ({"allow": [" "]}, "read", True),
        ({"allow": "read"}, "exec", True),
        ({"allow": ["Exec"]}, " exec ", True),
        ({"allow": ["exec"]}, "exec2", False),
        ({"allow": ["exec"]}, None, False),
        ({"deny": ["browser*"]}, "browser_click", False),
        ({"allow": ["*"], "deny": ["read"]}, "read", False),
        ({"allow": ["web.*"]}, "web.fetch", True),
        ({"allow": ["web.*"]}, "webxfetch", False),
        ({"allow": ["*e*t"]}, "exec_text", True),
        ({"allow": ["a*b"]}, "a\nb", False),
        ({"allow": ["*"]}, "a\nb", True),
        ({"deny": [7, None]}, "7", True),
    ],
)
def test_patterns(tools: Any, name: object, prunable: bool) -> None:
    assert prunable_tools(tools)(name) is prunable
