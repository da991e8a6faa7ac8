"""Which entries a compaction takes (spec compaction 2)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.compaction import cut
from compaction_app.engine.rule_sets import RuleSet
from sessions_app.tokens.message_tokens import message_tokens

Args = dict[str, Any]


def _cut_point(args: Args, rules: RuleSet) -> Any:
    entries = args["entries"]
    found = cut.find_cut_point(
        entries,
        args.get("startIndex", 0),
        args.get("endIndex", len(entries)),
        args["keepRecentTokens"],
        lambda i: message_tokens(entries[i]["message"], rules.message_tokens),
    )
    return {
        "firstKeptEntryIndex": found.first_kept_index,
        "turnStartIndex": found.turn_start_index,
        "isSplitTurn": found.is_split_turn,
    }


FUNCTIONS = {
    "findCutPoint": _cut_point,
    "findValidCutPoints": lambda a, _: list(
        cut.valid_cut_points(a["entries"], a["startIndex"], a["endIndex"])
    ),
    "findTurnStartIndex": lambda a, _: cut.find_turn_start(
        a["entries"], a["entryIndex"], a["startIndex"]
    ),
}
