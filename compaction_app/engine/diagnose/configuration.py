"""Will the runtime take this ``openclaw.json`` at all? (spec budgets 8.1, 8.2)"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.config.schema import ConfigRules
from compaction_app.engine.config.syntax import ConfigSyntaxError, parse_config
from compaction_app.engine.config.validate import validate_config
from compaction_app.engine.diagnose.finding import Finding, Numbers

MOST_ISSUES: Final = 20


@dataclass(frozen=True, slots=True)
class ReadConfig:
    """The configuration, empty where it cannot be read, and the findings about it.

    ``fault`` says why it cannot be read, "" when it can; it quotes no value of the file.
    """

    config: Mapping[str, Any]
    findings: tuple[Finding, ...]
    fault: str = ""


def read_config(text: str, rules: ConfigRules) -> ReadConfig:
    """Read and judge the text of a file; never raises."""
    try:
        value = parse_config(text)
    except ConfigSyntaxError as error:
        numbers: Numbers = {
            "line": error.line,
            "column": error.column,
            "problem": error.problem,
        }
        return _unreadable(f"openclaw.json is not valid JSON5: {error}.", numbers, error.line)
    if not isinstance(value, dict):
        return _unreadable("openclaw.json holds no object.", {}, None)
    return ReadConfig(value, tuple(_issues(value, rules)))


def _unreadable(fault: str, numbers: Numbers, line: int | None) -> ReadConfig:
    consequence = f"{fault} The runtime does not start with it, and nothing of it is used."
    return ReadConfig({}, (Finding("CONFIG_INVALID", consequence, numbers, line=line),), fault)


def _issues(config: Mapping[str, Any], rules: ConfigRules) -> Iterator[Finding]:
    for issue in validate_config(config, rules)[:MOST_ISSUES]:
        for key in issue.unknown_keys:
            path = f"{issue.path}.{key.key}" if issue.path else key.key
            numbers = {"path": path}
            if key.nearest:
                numbers["nearest"] = key.nearest
            meant = f" did you mean {key.nearest!r}?" if key.nearest else ""
            yield Finding(
                "CONFIG_UNKNOWN_KEY",
                f"{path} is no key. The runtime does not start with it, and nothing of the file is "
                f"used;{meant}".rstrip(";"),
                numbers,
            )
        if not issue.unknown_keys:
            path = issue.path or "openclaw.json"
            yield Finding(
                "CONFIG_INVALID",
                f"{path}: {issue.message}. The runtime does not start with it.",
                {"path": path, "problem": issue.message},
            )
