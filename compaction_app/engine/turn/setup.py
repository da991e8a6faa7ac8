"""What all turns of a session share: rules, policy, lines, sizes that no transcript tells, new ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.config_value import provider_entries, value_at
from compaction_app.engine.lines import Lines, lines_of
from compaction_app.engine.policy import Policy
from compaction_app.engine.policy_config import config_with_policy, policy_from_config
from compaction_app.engine.pruning.cache_ttl_settings import (
    CacheTtlSettings,
    cache_ttl_settings,
    context_pruning,
)
from compaction_app.engine.pruning.caps import live_max_chars, session_max_chars
from compaction_app.engine.pruning.eligibility import cache_ttl_eligible
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.turn.order import TurnOrder
from sessions_app.tokens import javascript as js

KEEP_RECENT: str = "compaction.keepRecentTokens"


@dataclass(frozen=True, slots=True)
class SystemSizes:
    """Characters of the system prompt, 0 where unknown, and what a flush turn's lacks of it.

    A flush turn knows only two tools, so the lines of the others are missing from its prompt.
    ``tool_chars`` are those of the tools' schemas, and of the flush turn's, where they are known.
    """

    chars: int = 0
    left_out_by_flush: int = 0
    tool_chars: int = 0
    flush_tool_chars: int = 0


@dataclass(frozen=True, slots=True)
class RunSetup:
    """Made by :func:`run_setup`; ``configured_keep`` is ``keepRecentTokens`` where somebody set it.

    ``tool_cap_chars`` is a run's cap of one tool result, ``stored_cap_chars`` the session's.
    """

    around: Circumstances
    policy: Policy
    lines: Lines
    config: Mapping[str, Any]
    order: TurnOrder
    system: SystemSizes
    new_ids: Iterator[str]
    configured_keep: object
    tool_cap_chars: float
    stored_cap_chars: float
    pruning: CacheTtlSettings | None
    pruning_eligible: bool
    plain_call_ids: bool = False

    @property
    def rules(self) -> RuleSet:
        return self.around.rules


def run_setup(
    policy: Policy, around: Circumstances, system: SystemSizes, new_ids: Iterator[str]
) -> RunSetup:
    """The setup of a session whose policy may differ from that of its configuration."""
    rules = around.rules
    config = config_with_policy(
        policy, around.provider, around.model, around.config, rules.config.unread_settings
    )
    lines = lines_of(policy, around)
    api = model_api(around.config, around.provider)
    eligible = cache_ttl_eligible(around.provider, around.model, rules, api)
    return RunSetup(
        around=around,
        policy=policy,
        lines=lines,
        config=config,
        order=rules.turn.orders[around.path],
        system=system,
        new_ids=new_ids,
        configured_keep=configured_keep(policy, around),
        tool_cap_chars=live_max_chars(lines.window, config, None, rules.pruning.caps),
        stored_cap_chars=session_max_chars(lines.window, config, None, rules.pruning.caps),
        pruning=cache_ttl_settings(
            context_pruning(config),
            rules.pruning.cache_ttl.durations,
            only_basics=rules.pruning.cache_ttl.only_basics,
        ),
        pruning_eligible=eligible.fired,
        plain_call_ids=api in rules.turn.plain_call_ids,
    )


def configured_keep(policy: Policy, around: Circumstances) -> int | None:
    """``keepRecentTokens`` where the file sets it or the policy has another value; none where nobody did."""
    own = policy_from_config(around.config, around.provider, around.model)
    changed = policy.keep_recent_tokens != own.policy.keep_recent_tokens
    return policy.keep_recent_tokens if changed or KEEP_RECENT in own.explicit else None


def model_api(config: Mapping[str, Any], provider: str) -> str | None:
    """The API that a provider's entry names."""
    for key, entry in provider_entries(config):
        if js.norm(key) == js.norm(provider):
            api = value_at(entry, "api")
            return api if isinstance(api, str) else None
    return None
