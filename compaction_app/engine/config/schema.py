"""The keys of `openclaw.json` as data, by version (spec budgets 8.4, 8.5).

Types and bounds of settings that decide about contexts come from the policy, where they stand once.
Keys that are only known by name accept anything: what they hold is no matter of ours, but an unknown
key beside them makes the runtime refuse the whole file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from compaction_app.engine.config.agent_keys import AGENT, COMPACTION, DEFAULTS
from compaction_app.engine.config.model_keys import PROVIDER
from compaction_app.engine.config.nodes import (
    Choice,
    Finding,
    Flag,
    ListOf,
    Node,
    Opaque,
    RecordOf,
    Strict,
    Text,
    opaque,
)
from compaction_app.engine.policy import BY_KEY, MODEL_KEYS


def _root(provider: Strict, agents: Strict) -> Strict:
    models: dict[str, Node] = {
        "mode": Choice(("merge", "replace")),
        "providers": RecordOf(provider),
        **opaque("pricing bedrockDiscovery"),
    }
    return Strict(
        {
            **opaque(
                "$schema meta env wizard diagnostics logging cli crestodian update browser ui"
            ),
            **opaque("secrets auth acp accessGroups"),
            "models": Strict(models),
            "nodeHost": Opaque(),
            "agents": agents,
            **opaque(
                "tools bindings broadcast audio media messages commands approvals session cron hooks "
                "web channels discovery canvasHost talk tts gateway memory mcp skills plugins proxy "
                "surfaces transcripts commitments security telemetry worktrees policy"
            ),
        }
    )


def _listed(defaults: Strict, agent: Strict) -> Strict:
    """Agents as a list, each with its id."""
    return Strict({"defaults": defaults, "list": ListOf(agent)})


def _some_agent(_name: str, agents: Mapping[str, Any]) -> list[Finding]:
    if agents.get("entries"):
        return []
    return [Finding("entries", "agents.entries must contain at least one configured agent")]


def _named(defaults: Strict, agent: Strict) -> Strict:
    """Agents by their ids; there has to be one."""
    return Strict(
        {"defaults": defaults, "entries": RecordOf(agent)},
        further=_some_agent,
        checks_despite_unknown=True,
    )


def without(node: Strict, keys: Iterable[str]) -> Strict:
    """The object without some of its keys; a dotted one names a key of an object inside."""
    fields = dict(node.fields)
    for key in keys:
        name, _, inner = key.partition(".")
        child = fields[name]
        if inner and isinstance(child, Strict):
            fields[name] = without(child, (inner,))
        else:
            del fields[name]
    return replace(node, fields=fields)


def _with(node: Strict, fields: Mapping[str, Node]) -> Strict:
    return replace(node, fields={**node.fields, **fields})


@dataclass(frozen=True, slots=True)
class ConfigRules:
    """A version's schema, and whether its messages repeat the bound in brackets."""

    schema: Strict
    repeats_bounds: bool

    @property
    def unread_settings(self) -> frozenset[str]:
        """The policy's settings below the agents' defaults that the version does not know."""
        agents = self.schema.fields["agents"]
        defaults = agents.fields["defaults"] if isinstance(agents, Strict) else agents
        below = (key for key in BY_KEY if key not in MODEL_KEYS)
        return frozenset(key for key in below if not _knows(defaults, key))


def _knows(node: Node, key: str) -> bool:
    """Whether a dotted key leads somewhere below a node."""
    for part in key.split("."):
        if not isinstance(node, Strict):
            return isinstance(node, Opaque)
        if part not in node.fields:
            return False
        node = node.fields[part]
    return True


_COMPACTION_2026_9: Final = _with(
    without(
        COMPACTION,
        (
            "reserveTokens",
            "reserveTokensFloor",
            "maxHistoryShare",
            "customInstructions",
            "identifierInstructions",
            "truncateAfterCompaction",
            "memoryFlush.prompt",
            "memoryFlush.systemPrompt",
        ),
    ),
    {"identifierPolicy": Choice(("strict", "off")), "enabled": Flag(), "thinkingLevel": Text()},
)
OPENCLAW_2026_5_28: Final = ConfigRules(
    _root(PROVIDER, _listed(DEFAULTS, AGENT)), repeats_bounds=True
)
OPENCLAW_2026_4_20: Final = ConfigRules(
    _root(
        replace(
            without(PROVIDER, ("contextWindow", "contextTokens", "maxTokens")),
            required=frozenset({"baseUrl", "models"}),
            further=None,
        ),
        _listed(
            _with(
                without(
                    DEFAULTS,
                    (
                        "runRetries",
                        "compaction.truncateAfterCompaction",
                        "compaction.maxActiveTranscriptBytes",
                        "compaction.midTurnPrecheck",
                        "compaction.memoryFlush.model",
                    ),
                ),
                {"contextInjection": Choice(("always", "continuation-skip"))},
            ),
            without(
                AGENT,
                (
                    "contextInjection",
                    "bootstrapMaxChars",
                    "bootstrapTotalMaxChars",
                    "contextTokens",
                    "runRetries",
                ),
            ),
        ),
    ),
    repeats_bounds=False,
)
OPENCLAW_2026_9: Final = ConfigRules(
    _root(
        _with(
            without(PROVIDER, ("contextWindow", "contextTokens", "maxTokens")),
            {"baseUrl": Text()},
        ),
        _named(
            _with(
                without(
                    DEFAULTS,
                    (
                        "bootstrapPromptTruncationWarning",
                        "timeFormat",
                        "contextTokens",
                        "runRetries",
                        "contextLimits.toolResultMaxChars",
                        "compaction",
                        *(
                            f"contextPruning.{key}"
                            for key in (
                                "keepLastAssistants",
                                "softTrimRatio",
                                "hardClearRatio",
                                "minPrunableToolChars",
                                "softTrim",
                            )
                        ),
                    ),
                ),
                {"compaction": _COMPACTION_2026_9},
            ),
            replace(without(AGENT, ("id", "contextTokens", "runRetries")), required=frozenset()),
        ),
    ),
    repeats_bounds=True,
)
