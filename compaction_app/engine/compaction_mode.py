"""Who compacts, and for how long? The effective mode, and when the runtime's own trigger is off.

(spec budgets 3, profiles 1.4, 3, 4)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from compaction_app.engine.budget import CompactionSettings
from compaction_app.engine.config_value import value_at
from compaction_app.engine.decision import Decision, Step
from compaction_app.engine.endpoint import ZAI_NATIVE, endpoint_class
from sessions_app.tokens import javascript as js

Mode = Literal["default", "safeguard"]

MAX_TIMEOUT_MS: Final = 2_147_000_000
_SILENT_OVERFLOW_PREFIXES: Final = ("z-ai/", "openrouter/z-ai/", "glm-")
_SWITCH_FORMULA: Final = {
    True: "ownsCompaction or mode is safeguard or silentOverflow",
    False: "ownsCompaction",
}


@dataclass(frozen=True, slots=True)
class CompactionModeRules:
    """What differs by version.

    ``safeguard_replaces_trigger``: safeguard mode and models that overflow silently switch the inner
    trigger off, too. ``zero_timeout_is_default``: a timeout that rounds down to 0 is no timeout.
    ``safeguard_drops_overrides``: with the trigger the run loses its configured reserve (runs 3.2).
    """

    safeguard_replaces_trigger: bool
    timeout_ms: int
    zero_timeout_is_default: bool
    safeguard_drops_overrides: bool = True


OPENCLAW_2026_3: Final = CompactionModeRules(False, 300_000, False)
OPENCLAW_2026_4_20: Final = CompactionModeRules(False, 900_000, False)
OPENCLAW_2026_5_28: Final = CompactionModeRules(True, 900_000, True)
OPENCLAW_2026_9: Final = CompactionModeRules(True, 180_000, True, safeguard_drops_overrides=False)


def effective_mode(config: object) -> Mode:
    """``safeguard`` when a summarising provider or that mode is set, otherwise ``default``.

    An unset mode is ``default``, as in the running gateway; loading a file for other purposes may have
    filled in ``safeguard`` before.
    """
    compaction = value_at(config, "agents", "defaults", "compaction")
    if js.is_truthy(value_at(compaction, "provider")):
        return "safeguard"
    return "safeguard" if value_at(compaction, "mode") == "safeguard" else "default"


def overflows_silently(provider: object, model: object, base_url: object) -> bool:
    """Whether the endpoint is known to cut a prompt that is too long instead of refusing it."""
    if js.norm(provider) == "zai" or endpoint_class(base_url) == ZAI_NATIVE:
        return True
    return isinstance(model, str) and model.lower().startswith(_SILENT_OVERFLOW_PREFIXES)


def inner_trigger_switch(
    rules: CompactionModeRules,
    rule_set: str,
    *,
    engine_owns_compaction: object = None,
    mode: object = None,
    silent_overflow: object = None,
) -> Decision:
    """Whether the runtime's own auto-compaction is switched off; applied again after every reload."""
    reason = "inner_trigger_on"
    if engine_owns_compaction is True:
        reason = "context_engine_owns_compaction"
    elif rules.safeguard_replaces_trigger and mode == "safeguard":
        reason = "safeguard_mode"
    elif rules.safeguard_replaces_trigger and silent_overflow is True:
        reason = "silent_overflow_model"
    off = reason != "inner_trigger_on"
    return Decision(
        rule="inner_trigger_switch",
        fired=off,
        outcome="off" if off else "on",
        reason=reason,
        rule_set=rule_set,
        inputs={
            "ownsCompaction": engine_owns_compaction is True,
            "mode": mode if isinstance(mode, str) else None,
            "silentOverflow": silent_overflow is True,
        },
        steps=(Step("off", _SWITCH_FORMULA[rules.safeguard_replaces_trigger], off, ""),),
    )


def prompt_reserve_source(
    runtime: CompactionSettings, applied: CompactionSettings, *, safeguard_switched_off: bool
) -> int | float:
    """The reserve that the pre-prompt check of a run starts from.

    Switching the inner trigger off for safeguard mode saves the runtime's settings and thereby drops
    what the configuration had overridden: then the runtime's own reserve (16384) holds.
    """
    return (runtime if safeguard_switched_off else applied).reserve_tokens


def compaction_timeout_ms(rules: CompactionModeRules, config: object) -> int:
    """How long one compaction may take, milliseconds."""
    seconds = value_at(config, "agents", "defaults", "compaction", "timeoutSeconds")
    if not js.is_finite(seconds) or not seconds > 0:
        return rules.timeout_ms
    milliseconds = min(int(js.floor(seconds)) * 1000, MAX_TIMEOUT_MS)
    if milliseconds == 0 and rules.zero_timeout_is_default:
        return rules.timeout_ms
    return milliseconds
