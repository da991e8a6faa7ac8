"""What is no setting but decides which rules run: path, provider, model, version, workspace.

Not every path runs every mechanism (runs 1): only the reply pipeline of the gateway (``chat``) runs
preflight compaction and memory flush; ``agent`` and ``local`` runs go straight to the attempt; a
``cli`` backend keeps its own context.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from compaction_app.engine.pruning.experimental import ExperimentalConstants
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET, RuleSet

Path = Literal["chat", "agent", "local", "cli"]
PATHS: Final[tuple[Path, ...]] = get_args(Path)
PATH_TITLES: Final[Mapping[str, str]] = {
    "chat": "chat: messages through the gateway and its channels",
    "agent": "agent: openclaw agent through the gateway",
    "local": "local: openclaw agent --local",
    "cli": "cli: a command line backend",
}


@dataclass(frozen=True, slots=True)
class Circumstances:
    """``config`` is the rest of the user's ``openclaw.json``, as far as there is one.

    ``constants`` are already in ``rules``: they are those that were tried in place of the version's.
    """

    path: Path = "chat"
    provider: str = ""
    model: str = ""
    rules: RuleSet = DEFAULT_RULE_SET
    config: Mapping[str, Any] = field(default_factory=dict)
    owns_compaction: bool = False
    constants: ExperimentalConstants = field(default_factory=ExperimentalConstants)
