"""The keys below `agents` (spec budgets 8.4, 8.5): the defaults, and what one agent may have.

The order is the runtime's, because its messages come in that order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from compaction_app.engine.config.nodes import (
    FROM_ZERO,
    POSITIVE,
    Choice,
    Finding,
    Flag,
    Node,
    Number,
    Opaque,
    Strict,
    Text,
    node_of,
    opaque,
)
from compaction_app.engine.policy import BY_KEY
from sessions_app.tokens import javascript as js


def _shared(prefix: str, names: str) -> dict[str, Node]:
    """Nodes of the policy's settings below a prefix, in the order given."""
    return {name: node_of(BY_KEY[f"{prefix}.{name}"]) for name in names.split()}


def _retries_in_order(_name: str, retries: Mapping[str, Any]) -> list[Finding]:
    least, most = retries.get("min"), retries.get("max")
    if js.is_number(least) and js.is_number(most) and most < least:
        return [Finding("max", "max must be greater than or equal to min")]
    return []


CONTEXT_LIMITS: Final = Strict(
    {
        "memoryGetMaxChars": Number(minimum=1, maximum=250_000),
        "memoryGetDefaultLines": Number(minimum=1, maximum=5_000),
        **_shared("contextLimits", "toolResultMaxChars postCompactionMaxChars"),
    }
)
RUN_RETRIES: Final = Strict(
    {"base": POSITIVE, "perProfile": FROM_ZERO, "min": POSITIVE, "max": POSITIVE},
    further=_retries_in_order,
)
CONTEXT_INJECTION: Final = Choice(("always", "continuation-skip", "never"))

COMPACTION: Final = Strict(
    {
        **_shared(
            "compaction",
            "mode provider reserveTokens keepRecentTokens reserveTokensFloor maxHistoryShare "
            "customInstructions identifierPolicy identifierInstructions recentTurnsPreserve",
        ),
        "qualityGuard": Strict(_shared("compaction.qualityGuard", "enabled maxRetries")),
        "midTurnPrecheck": Strict(_shared("compaction.midTurnPrecheck", "enabled")),
        "postIndexSync": Choice(("off", "async", "await"), is_option=True),
        **_shared("compaction", "postCompactionSections model timeoutSeconds"),
        "memoryFlush": Strict(
            _shared(
                "compaction.memoryFlush",
                "enabled model softThresholdTokens forceFlushTranscriptBytes prompt systemPrompt",
            )
        ),
        **_shared("compaction", "truncateAfterCompaction maxActiveTranscriptBytes notifyUser"),
    }
)
CONTEXT_PRUNING: Final = Strict(
    {
        **_shared(
            "contextPruning",
            "mode ttl keepLastAssistants softTrimRatio hardClearRatio minPrunableToolChars",
        ),
        "tools": Strict(_shared("contextPruning.tools", "allow deny")),
        "softTrim": Strict(_shared("contextPruning.softTrim", "maxChars headChars tailChars")),
        "hardClear": Strict(_shared("contextPruning.hardClear", "enabled placeholder")),
    }
)
DEFAULTS: Final = Strict(
    {
        **opaque(
            "params agentRuntime embeddedHarness model imageModel imageGenerationModel "
            "videoGenerationModel musicGenerationModel voiceModel utilityModel "
            "mediaGenerationAutoProviderFallback pdfModel pdfMaxBytesMb pdfMaxPages models workspace "
            "skills silentReply silentReplyRewrite repoRoot promptOverlays systemPromptOverride "
            "additionalSystemPrompt skipBootstrap skipOptionalBootstrapFiles"
        ),
        "contextInjection": CONTEXT_INJECTION,
        "bootstrapMaxChars": POSITIVE,
        "bootstrapTotalMaxChars": POSITIVE,
        "experimental": Opaque(),
        "bootstrapPromptTruncationWarning": Choice(("off", "once", "always")),
        "userTimezone": Text(),
        "startupContext": Opaque(),
        "contextLimits": CONTEXT_LIMITS,
        "timeFormat": Choice(("auto", "12", "24")),
        **opaque("envelopeTimezone envelopeTimestamp envelopeElapsed"),
        "contextTokens": node_of(BY_KEY["contextTokens"]),
        **opaque("cliBackends memorySearch"),
        "contextPruning": CONTEXT_PRUNING,
        "llm": Opaque(),
        "compaction": COMPACTION,
        **opaque(
            "embeddedPi embeddedAgent thinkingDefault verboseDefault toolProgressDetail "
            "reasoningDefault fastModeDefault elevatedDefault blockStreamingDefault "
            "blockStreamingBreak blockStreamingChunk blockStreamingCoalesce humanDelay tts "
            "timeoutSeconds mediaMaxMb imageMaxDimensionPx imageQuality typingIntervalSeconds "
            "typingMode heartbeat"
        ),
        "runRetries": RUN_RETRIES,
        "maxConcurrent": POSITIVE,
        **opaque("subagents sandbox"),
    }
)
AGENT: Final = Strict(
    {
        "id": Text(),
        "default": Flag(),
        **opaque(
            "name description workspace agentDir systemPromptOverride promptOverlays agentRuntime "
            "embeddedHarness model models thinkingDefault verboseDefault toolProgressDetail "
            "reasoningDefault fastModeDefault skills skillsLimits"
        ),
        "contextInjection": CONTEXT_INJECTION,
        "bootstrapMaxChars": POSITIVE,
        "bootstrapTotalMaxChars": POSITIVE,
        "experimental": Opaque(),
        "memorySearch": Opaque(),
        "contextLimits": CONTEXT_LIMITS,
        "contextTokens": POSITIVE,
        "runRetries": RUN_RETRIES,
        **opaque(
            "humanDelay tts heartbeat identity groupChat subagents embeddedPi embeddedAgent sandbox "
            "params tools runtime blockStreamingDefault blockStreamingBreak blockStreamingChunk "
            "blockStreamingCoalesce cliBackends startupContext"
        ),
    },
    required=frozenset({"id"}),
)
