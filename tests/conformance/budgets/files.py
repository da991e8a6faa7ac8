"""Usage, the session index and transcripts (spec budgets 7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction_app.engine.rule_sets import RuleSet
from sessions_app import usage as usages
from sessions_app.usage import Usage
from tests.conformance.budgets.protocol import present

Args = dict[str, Any]


def encode_usage(usage: Usage | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    return present(
        input=usage.input,
        output=usage.output,
        cacheRead=usage.cache_read,
        cacheWrite=usage.cache_write,
        reasoningTokens=usage.reasoning,
        total=usage.total,
    )


def normalize(args: Args, rules: RuleSet) -> Any:
    usage = usages.normalize_usage(args["raw"], rules.usage)
    return {
        "usage": encode_usage(usage),
        "prompt": usages.prompt_tokens(usage),
        "nonzero": usages.has_nonzero_usage(usage),
    }


def derive(args: Args, rules: RuleSet) -> Any:
    usage = usages.read_usage(args.get("usage"), rules.usage)
    last_call = usages.read_usage(args.get("lastCallUsage"), rules.usage)
    known = args.get("promptTokens")
    return {
        "prompt": usages.prompt_tokens(usage),
        "context": usages.context_prompt_tokens(usage, last_call, known),
        "session": usages.session_total_tokens(usage, known),
        "nonzero": usages.has_nonzero_usage(usage),
    }


def accumulate(args: Args, rules: RuleSet) -> Any:
    calls = [usages.read_usage(call, rules.usage) for call in args["calls"]]
    summed = usages.accumulate_usage(calls)
    return {"total": encode_usage(summed.total), "last": encode_usage(summed.last)}


FUNCTIONS: dict[str, Callable[[Args, RuleSet], Any]] = {
    "usage.normalize": normalize,
    "usage.derive": derive,
    "usage.accumulate": accumulate,
}
