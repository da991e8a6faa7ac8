"""Silent replies (spec budgets 5.10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compaction_app.engine import silent_reply as silent
from compaction_app.engine.rule_sets import RuleSet

Args = dict[str, Any]


def every_question(args: Args, rules: RuleSet) -> Any:
    text, token = args.get("text"), args.get("token", silent.SILENT_TOKEN)
    return {
        "exact": silent.is_silent_text(text, rules.silent_reply, token),
        "envelope": silent.is_silent_envelope(text, token),
        "reasoning": silent.is_silent_reasoning(text, rules.silent_reply, token),
        "payload": silent.is_silent(text, rules.silent_reply, token),
        "prefix": silent.may_become_silent(text, token),
        "leadingAttached": silent.starts_with_glued_token(text, token),
        "strippedTrailing": text and silent.strip_trailing_token(text, token, rules.silent_reply),
        "strippedLeading": text and silent.strip_leading_tokens(text, token),
    }


FUNCTIONS: dict[str, Callable[[Args, RuleSet], Any]] = {"silent.all": every_question}
