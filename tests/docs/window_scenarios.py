"""The page of what each chain answers, case by case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from compaction_app.engine.config.materialize import materialize
from compaction_app.engine.config_value import value_at
from compaction_app.engine.purpose_window import status_window
from compaction_app.engine.rule_sets import RULE_SETS, RuleSet
from compaction_app.engine.run_window import resolve_run_window
from compaction_app.engine.window import WindowRequest, WindowResolution
from compaction_app.engine.window_cache import build_cache
from tests.docs.tables import table

HEAD: Final = (
    "case", "A: flush, preflight", "B: run, compaction, pruning", "C: status", "reply budget",
)  # fmt: skip

INTRODUCTION: Final = """# Which window wins, case by case

What each chain answers and which source decided ([how the chains ask](context-window.md)). This page is
computed: `python -m tests.docs` writes it, and a test fails when it and the engine disagree.

- *Provider window*: `models.providers.<p>.contextWindow`, beside the models.
- *Listed*: an entry of `models.providers.<p>.models`, with its own `contextWindow` where one is given.
- *contextTokens*: `agents.defaults.contextTokens`.
- *Real window*: what the model registry and the runtime's own model object say.
- *Loaded*: the file as the runtime loads it, which gives a listed model without a window 200,000.

Column C takes the status message of 2026.5.28 for every version.
"""


@dataclass(frozen=True, slots=True)
class Scenario:
    """``real`` is the window that the registry and the runtime know; none where they know none."""

    title: str
    entry: Mapping[str, Any] = field(default_factory=dict)
    context_tokens: int | None = None
    real: int | None = None
    loaded: bool = False
    provider: str = "acme"
    model: str = "m"


def listed(window: int | None, model: str = "m") -> dict[str, Any]:
    own = {} if window is None else {"contextWindow": window}
    return {"models": [{"id": model, "name": model, **own}]}


SCENARIOS: Final = (
    Scenario("nothing known"),
    Scenario("provider window 64,000 only", {"contextWindow": 64_000}),
    Scenario(
        "provider window 64,000, listed without window",
        {"contextWindow": 64_000, **listed(None)},
    ),
    Scenario(
        "the same, loaded",
        {"contextWindow": 64_000, **listed(None)},
        loaded=True,
    ),
    Scenario("listed 96,000", listed(96_000)),
    Scenario("real window 128,000, not listed", real=128_000),
    Scenario("listed 96,000, real window 32,000", listed(96_000), real=32_000),
    Scenario("contextTokens 64,000 only, no window known", context_tokens=64_000),
    Scenario("contextTokens 64,000 only, real window 32,000", context_tokens=64_000, real=32_000),
    Scenario("contextTokens 64,000 only, real window 128,000", context_tokens=64_000, real=128_000),
    Scenario("contextTokens 64,000, listed 32,000", listed(32_000), context_tokens=64_000),
    Scenario("contextTokens 64,000, listed 96,000", listed(96_000), context_tokens=64_000),
    Scenario(
        "Anthropic claude-opus-4-6, listed 200,000",
        listed(200_000, "claude-opus-4-6"),
        provider="anthropic",
        model="claude-opus-4-6",
    ),
    Scenario(
        "the same with contextTokens 64,000",
        listed(200_000, "claude-opus-4-6"),
        context_tokens=64_000,
        provider="anthropic",
        model="claude-opus-4-6",
    ),
)


def page() -> str:
    parts = [INTRODUCTION]
    for rules in reversed(RULE_SETS.values()):
        rows = [(scenario.title, *map(shown, answers(rules, scenario))) for scenario in SCENARIOS]
        parts.append(f"## {rules.id}\n\n{table(HEAD, rows)}")
    return "\n".join(parts)


def answers(rules: RuleSet, scenario: Scenario) -> tuple[WindowResolution, ...]:
    config = config_of(rules, scenario)
    known = {} if scenario.real is None else {"contextWindow": scenario.real}
    discovered = [{"id": scenario.model, "provider": scenario.provider, **known}] if known else []
    cache = build_cache(rules.window_cache, config.get("models"), discovered)
    request = WindowRequest(config, scenario.model, scenario.provider)
    cap = value_at(config, "agents", "defaults", "contextTokens")
    chain = rules.window_chain
    run = resolve_run_window(rules.run_window, config, scenario.provider, scenario.model, known)
    active = run.tokens or 0
    return (
        rules.purpose_window.flush(chain, cache, request, cap),
        run,
        status_window(chain, cache, request, active, defaults=cap),
        rules.purpose_window.reply(chain, cache, request, cap),
    )


def config_of(rules: RuleSet, scenario: Scenario) -> dict[str, Any]:
    config: dict[str, Any] = {"models": {"providers": {scenario.provider: dict(scenario.entry)}}}
    if scenario.context_tokens is not None:
        config["agents"] = {"defaults": {"contextTokens": scenario.context_tokens}}
    return materialize(config, rules.materialize) if scenario.loaded else config


def shown(found: WindowResolution) -> str:
    return f"{found.tokens:,} `{found.source}`"
