"""The keys of `openclaw.json` as data, by version (spec budgets 8.4, 8.5).

Types and bounds of settings that decide about contexts come from the policy, where they stand once.
Keys that are only known by name accept anything: what they hold is no matter of ours, but an unknown
key beside them makes the runtime refuse the whole file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from compaction_app.engine.config.agent_keys import AGENT, DEFAULTS
from compaction_app.engine.config.model_keys import PROVIDER
from compaction_app.engine.config.nodes import (
    Choice,
    ListOf,
    Node,
    Opaque,
    RecordOf,
    Strict,
    opaque,
)


def _root(provider: Strict, defaults: Strict, agent: Strict) -> Strict:
    models: dict[str, Node] = {
        "mode": Choice(("merge", "replace")),
        "providers": RecordOf(provider),
        **opaque("pricing bedrockDiscovery"),
    }
    agents: dict[str, Node] = {"defaults": defaults, "list": ListOf(agent)}
    return Strict(
        {
            **opaque(
                "$schema meta env wizard diagnostics logging cli crestodian update browser ui"
            ),
            **opaque("secrets auth acp accessGroups"),
            "models": Strict(models),
            "nodeHost": Opaque(),
            "agents": Strict(agents),
            **opaque(
                "tools bindings broadcast audio media messages commands approvals session cron hooks "
                "web channels discovery canvasHost talk tts gateway memory mcp skills plugins proxy "
                "surfaces transcripts commitments security telemetry worktrees policy"
            ),
        }
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


OPENCLAW_2026_5_28: Final = ConfigRules(_root(PROVIDER, DEFAULTS, AGENT), repeats_bounds=True)
OPENCLAW_2026_4_20: Final = ConfigRules(
    _root(
        replace(
            without(PROVIDER, ("contextWindow", "contextTokens", "maxTokens")),
            required=frozenset({"baseUrl", "models"}),
            further=None,
        ),
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
    repeats_bounds=False,
)
