"""How a fact stands in a summary: as it was, in another form, or something like it that is not it."""

from __future__ import annotations

from random import Random
from typing import Final

from compaction_app.engine.retention.anchors import IDENTIFIERS, AnchorKind
from compaction_app.planting.plant import Plant

FRAMES: Final = (
    "- {x}", "## Notes\nThe session was about {x}.\nNone.", "1. first\n2. {x}\n3. third", "Known so far: {x}", "{x}",
    "## Exact identifiers\n- {x}\n- other", "* seen: {x} (earlier)", "摘要：{x}", "> {x}",
)  # fmt: skip
_OTHERS: Final = {
    "invoices": "payroll", "ledger": "payroll", "harbor": "payroll", "billing": "payroll", "quartz": "payroll",
    "willow": "payroll", "importer": "payroll", "tenants": "payroll", "exports": "payroll", "mailer": "payroll",
    "crawler": "payroll", "planner": "payroll", "archive": "payroll", "journal": "payroll", "vouchers": "payroll",
    "catalog": "payroll", "legacy_orders": "payroll",
}  # fmt: skip
_WIDE: Final = {code - 0xFEE0: code for code in range(0xFF01, 0xFF5F)}
Made = tuple[str, bool]
"""A text for a summary, and whether the fact stands in it."""


def summaries_of(plant: Plant, random: Random) -> list[Made]:
    """Summaries with the fact as it was, in another form, and with what only resembles it."""
    assert plant.text is not None
    made = [(plant.text, True), *_other_forms(plant.kind, plant.text, random)]
    return [(random.choice(FRAMES).replace("{x}", text), stands) for text, stands in made]


def _other_forms(kind: AnchorKind, text: str, random: Random) -> list[Made]:
    if kind in IDENTIFIERS or kind == "file_action":
        return [*_forms_of_name(kind, text), (_other_name(kind, text), False)]
    reworded = f"**{text[:1].lower()}{text[1:].rstrip('.。')}**"
    return [
        (reworded, True),
        (text.replace(" ", "  ").replace(".", " ."), True),
        (_about_another(text), False),
        ("The user asked for several things, and they were done.", False),
    ]


def _forms_of_name(kind: AnchorKind, text: str) -> list[Made]:
    match kind:
        case "path" | "file_action":
            parts = text.replace("\\", "/").split("/")
            shorter = "/".join(parts[-2:]) if len(parts) > 2 else text
            is_file = "." in parts[-1]
            return [(shorter, True)] * is_file + [(f"`{text}`", True)]
        case "uuid":
            return [(text.swapcase(), True)]
        case "hash":
            digits = text.rpartition(":")[2]
            return [(digits[:12], True)] if _is_mixed(digits[:12]) else [(digits, True)]
        case "url":
            return [(text.rstrip("/") + "/", True)] if "?" not in text and "#" not in text else []
        case "host_port":
            return [(text.upper(), True)]
        case "version":
            return [(text.removeprefix("v") if text.count(".") > 1 else text, True)]
        case "ticket":
            return [(text.translate(_WIDE), True)] if "-" in text else [(f"{text},", True)]
        case "quantity":
            return [(text.replace(",", ""), True), (f"({text})", True)]
    return []


def _is_mixed(digits: str) -> bool:
    return any(c.isdigit() for c in digits) and any(c.isalpha() for c in digits)


def _other_name(kind: AnchorKind, text: str) -> str:
    """Another of the same kind that differs in little."""
    if kind in ("path", "file_action"):
        return f"other/place/{'un' + text.replace(chr(92), '/').split('/')[-1].lstrip('.')}"
    if kind == "hash":
        digits = text.rpartition(":")[2]
        return ("0" if digits[0] != "0" else "1") + digits[1:]
    for at in range(len(text) - 1, -1, -1):
        if text[at].isdigit():
            changed = str((int(text[at]) + 1) % 10)
            return f"{text[:at]}{changed if changed != '0' else '7'}{text[at + 1 :]}"
    return f"{text.rstrip('/')}x"


def _about_another(text: str) -> str:
    """The same sentence about something else."""
    for name, other in _OTHERS.items():
        if name in text:
            return text.replace(name, other)
    return f"{text[:5]} something else"
