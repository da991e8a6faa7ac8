"""The summariser's levels and its instructions (spec compaction 1.4, 1.5, 3.5, 3.7)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.compaction import instructions, summarise
from compaction_app.engine.compaction.instructions import IdentifierPolicy
from compaction_app.engine.compaction.quality import REQUIRED_SECTIONS
from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.compaction.driver import Driver, data_blocks
from tests.conformance.compaction.protocol import compact_text

Args = dict[str, Any]
RESERVE_TOKENS = 16384


def policy(given: Any) -> IdentifierPolicy:
    given = given or {}
    return IdentifierPolicy(given.get("identifierPolicy"), given.get("identifierInstructions"))


def _task(params: Args) -> summarise.SummaryTask:
    optional = {
        "parts": params.get("parts"),
        "min_messages_for_stages": params.get("minMessagesForSplit"),
    }
    return summarise.SummaryTask(
        messages=params["messages"],
        max_chunk_tokens=params["maxChunkTokens"],
        context_window=params["contextWindow"],
        reserve_tokens=RESERVE_TOKENS,
        previous_summary=params.get("previousSummary"),
        custom_instructions=params.get("customInstructions"),
        identifiers=policy(params.get("summarizationInstructions")),
        **{key: value for key, value in optional.items() if value is not None},
    )


def _summarize(args: Args, rules: RuleSet) -> Any:
    task = _task(args["params"])
    driver = Driver(task.messages, args["script"])
    level = {
        "chunks": summarise.summarise_chunks,
        "fallback": summarise.summarise_with_fallback,
        "stages": summarise.summarise_in_stages,
    }[args["level"]]
    run = driver.run(level(task, rules.compaction))
    if run.summary is not None:
        return {"result": compact_text(run.summary), **driver.record()}
    error = {"name": run.failure.name, "message": run.failure.message}
    if run.partial is not None:
        error["partialSummary"] = compact_text(run.partial)
    return {"error": error, **driver.record()}


def _effective(args: Args, rules: RuleSet) -> Any:
    return instructions.effective_instructions(
        args.get("customInstructions"),
        policy(args.get("instructions")),
        rules.compaction.instructions,
    )


def _structure(args: Args, _: RuleSet) -> Any:
    text = instructions.structure_instructions(
        args.get("customInstructions"), policy(args.get("instructions"))
    )
    lines = text.split("\n")
    return {
        "sections": [section for section in REQUIRED_SECTIONS if section in lines],
        "blocks": [
            {"label": label, "text": compact_text(body)} for label, body in data_blocks(text)
        ],
    }


def _custom(args: Args, _: RuleSet) -> Any:
    text = instructions.resolve_custom_instructions(args.get("event"), args.get("runtime"))
    return {"default": True} if text == instructions.DEFAULT_CUSTOM else compact_text(text)


FUNCTIONS = {
    "summarize": _summarize,
    "buildCompactionSummarizationInstructions": _effective,
    "structureInstructions": _structure,
    "wrapUntrustedInstructionBlock": lambda a, _: instructions.data_block(a["label"], a["text"]),
    "resolveCompactionInstructions": _custom,
}
