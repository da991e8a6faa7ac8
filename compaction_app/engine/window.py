"""Which window does a model have, and who says so? The chain of sources for a provider and a model.

One chain serves the memory flush, the preflight check, the status pages and the reply budget (spec
budgets 1.4); a run itself asks other sources, see ``run_window``. Every answer carries its trace: each
source asked in order, what it said and whether that decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from compaction_app.engine import anthropic_window, window_cache
from compaction_app.engine.config_value import first_number, models_of, provider_entries
from compaction_app.engine.decision import Decision, Scalar, Step
from sessions_app.tokens import javascript as js

DEFAULT_CONTEXT_TOKENS: Final = 200_000

Verdict = Literal["wins", "silent", "ignored", "caps", "does_not_cap"]

# How provider names were folded (spec profiles 3 and 4 say that they were, not which).
ALIASES_2026_3: Final[Mapping[str, str]] = MappingProxyType(
    {
        "z.ai": "zai",
        "z-ai": "zai",
        "opencode-zen": "opencode",
        "qwen": "qwen-portal",
        "kimi-code": "kimi-coding",
        "bedrock": "amazon-bedrock",
        "aws-bedrock": "amazon-bedrock",
        "bytedance": "volcengine",
        "doubao": "volcengine",
    }
)
ALIASES_2026_4_20: Final[Mapping[str, str]] = MappingProxyType(
    {
        "modelstudio": "qwen",
        "qwencloud": "qwen",
        "z.ai": "zai",
        "z-ai": "zai",
        "opencode-zen": "opencode",
        "opencode-go-auth": "opencode-go",
        "kimi-code": "kimi",
        "kimi-coding": "kimi",
        "bedrock": "amazon-bedrock",
        "aws-bedrock": "amazon-bedrock",
        "bytedance": "volcengine",
        "doubao": "volcengine",
    }
)


@dataclass(frozen=True, slots=True)
class ChainRules:
    """What differs by version (spec profiles 1.4, 3, 4).

    ``model_fields``: the fields of a configured model, in order; ``provider_fields``: those of its
    provider, which then also answer for models that are not listed.
    """

    aliases: Mapping[str, str]
    model_fields: tuple[str, ...]
    provider_fields: tuple[str, ...]
    million: anthropic_window.MillionWindowRules


OPENCLAW_2026_3: Final = ChainRules(
    ALIASES_2026_3, window_cache.WINDOW_ONLY, (), anthropic_window.OPENCLAW_2026_3
)
OPENCLAW_2026_4_20: Final = ChainRules(
    ALIASES_2026_4_20, window_cache.BOTH, (), anthropic_window.OPENCLAW_2026_3
)
OPENCLAW_2026_5_28: Final = ChainRules(
    MappingProxyType({}),
    window_cache.BOTH,
    window_cache.BOTH,
    anthropic_window.OPENCLAW_2026_5_28,
)

OPENCLAW_2026_9: Final = ChainRules(
    MappingProxyType({}), window_cache.BOTH, (), anthropic_window.OPENCLAW_2026_9
)


@dataclass(frozen=True, slots=True)
class WindowStep:
    """One source asked: ``said`` is its raw answer, ``None`` where it had none."""

    source: str
    said: Scalar
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class WindowResolution:
    """A window in tokens, the source that decided, and every source asked on the way.

    ``tokens`` is ``None`` when no source knew. ``reference_tokens`` is the window before a cap.
    """

    tokens: int | float | None
    source: str | None
    trace: tuple[WindowStep, ...]
    reference_tokens: int | float | None = None

    def decision(self, rule_set: str, chain: str) -> Decision:
        """The resolution as a decision: the steps are the sources in the order asked.

        ``chain`` says who asked: ``flush``, ``run``, ``reply`` or ``status``.
        """
        return Decision(
            rule="context_window",
            fired=self.tokens is not None,
            outcome=self.source or "unknown",
            reason="window_resolved" if self.source else "window_not_known",
            rule_set=rule_set,
            inputs={
                "chain": chain,
                "tokens": self.tokens,
                "referenceTokens": self.reference_tokens,
            },
            steps=tuple(Step(step.source, step.verdict, step.said) for step in self.trace),
        )


@dataclass(frozen=True, slots=True)
class WindowRequest:
    """What is asked: a model, maybe its provider, the configuration, and the ends of the chain."""

    config: object
    model: str | None
    provider: str | None = None
    override: object = None
    fallback: int | float | None = None


@dataclass(frozen=True, slots=True)
class ModelRef:
    provider: str
    model: str


def fold_provider(rules: ChainRules, provider: str) -> str:
    """The provider's name as it is compared: trimmed, lower-cased, and an alias by its proper name."""
    name = js.norm(provider)
    return rules.aliases.get(name, name)


def model_ref(rules: ChainRules, provider: str | None, model: str | None) -> ModelRef | None:
    """Provider and model of a request; without a provider the model is split at its first slash."""
    name = js.trim(model or "")
    if not name:
        return None
    if js.norm(provider):
        return ModelRef(js.norm(provider), name)
    left, _, right = name.partition("/")
    left, right = fold_provider(rules, left), js.trim(right)
    return ModelRef(left, right) if left and right else None


def resolve_window(
    rules: ChainRules, cache: window_cache.Cache, request: WindowRequest
) -> WindowResolution:
    """The window by the first source that knows one (spec budgets 1.4, steps 1 to 7).

    ``agents.defaults.contextTokens`` is no source here; callers pass it as ``override`` or not at
    all. Values are taken as they are, without rounding.
    """
    return first_answer(_sources(rules, cache, request))


def first_answer(steps: Iterable[WindowStep]) -> WindowResolution:
    """Ask the sources in order until one wins."""
    trace: list[WindowStep] = []
    for step in steps:
        trace.append(step)
        if step.verdict == "wins" and js.is_number(step.said):
            return WindowResolution(step.said, step.source, tuple(trace))
    return WindowResolution(None, None, tuple(trace))


def positive(source: str, said: object) -> WindowStep:
    """A source that counts when it gives a number above 0."""
    if js.is_number(said):
        return WindowStep(source, said, "wins" if said > 0 else "ignored")
    return WindowStep(source, None, "silent" if said is None else "ignored")


def present(source: str, said: int | float | None) -> WindowStep:
    """A source that counts whatever number it gives."""
    return WindowStep(source, said, "silent" if said is None else "wins")


def _sources(
    rules: ChainRules, cache: window_cache.Cache, request: WindowRequest
) -> Iterator[WindowStep]:
    yield positive("contextTokensOverride", request.override)
    ref = model_ref(rules, request.provider, request.model)
    explicit = bool(js.norm(request.provider))
    if ref and (explicit or rules.million.opt_in):
        million = anthropic_window.has_million_window(
            rules.million, request.config, ref.provider, ref.model
        )
        yield present("anthropic1m", rules.million.window_tokens if million else None)
    if ref and explicit:
        yield from _configured(rules, request.config, ref)
    qualified = None
    if ref and "/" not in ref.model:
        qualified = f"{fold_provider(rules, ref.provider)}/{ref.model}"
    # The provider as given: blanks are no provider, yet they put the qualified key first.
    if request.provider and qualified:
        yield _cached(cache, qualified)
    if request.model:
        yield _cached(cache, request.model)
    if not request.provider and qualified:
        yield _cached(cache, qualified)
    yield present("fallbackContextTokens", request.fallback)


def _cached(cache: window_cache.Cache, key: str) -> WindowStep:
    return present(f"cache[{key}]", cache.get(key))


def _configured(rules: ChainRules, config: object, ref: ModelRef) -> Iterator[WindowStep]:
    """Entries of the provider under its own name, then those that mean it by an alias."""
    folded = fold_provider(rules, ref.provider)

    def is_own(key: str) -> bool:
        return js.norm(key) == ref.provider

    def is_alias(key: str) -> bool:
        return not is_own(key) and fold_provider(rules, key) == folded

    yield from _scan(rules, config, ref.model, is_own)
    yield from _scan(rules, config, ref.model, is_alias)


def _scan(
    rules: ChainRules, config: object, model: str, matches: Callable[[str], bool]
) -> Iterator[WindowStep]:
    for key, provider in provider_entries(config):
        if not matches(key):
            continue
        for listed in models_of(provider):
            if listed.get("id") == model:
                said = first_number(listed, rules.model_fields)
                yield positive(f"models.providers.{key}.models[{model}]", said)
        if rules.provider_fields:
            yield positive(f"models.providers.{key}", first_number(provider, rules.provider_fields))
