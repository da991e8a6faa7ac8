"""Will the runtime take this ``openclaw.json`` at all? (spec budgets 8.1, 8.2)"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from compaction_app.engine.config.references import references, without_includes
from compaction_app.engine.config.schema import ConfigRules
from compaction_app.engine.config.syntax import ConfigSyntaxError, parse_config
from compaction_app.engine.config.validate import Issue, validate_config
from compaction_app.engine.diagnose.finding import Finding, Numbers
from compaction_app.engine.setting import showable

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
    return ReadConfig(value, (*_issues(value, rules), *_references(value)))


def _unreadable(fault: str, numbers: Numbers, line: int | None) -> ReadConfig:
    consequence = f"{fault} The runtime does not start with it, and nothing of it is used."
    return ReadConfig({}, (Finding("CONFIG_INVALID", consequence, numbers, line=line),), fault)


def _issues(config: Mapping[str, Any], rules: ConfigRules) -> Iterator[Finding]:
    issues = validate_config(without_includes(config), rules)
    parts = [reference.path for reference in references(config) if reference.is_include]
    for issue in [issue for issue in issues if not _is_elsewhere(issue, parts)][:MOST_ISSUES]:
        for key in issue.unknown_keys:
            path = showable(f"{issue.path}.{key.key}" if issue.path else key.key)
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
            path = showable(issue.path) or "openclaw.json"
            yield Finding(
                "CONFIG_INVALID",
                f"{path}: {issue.message}. The runtime does not start with it.",
                {"path": path, "problem": issue.message},
            )


def _is_elsewhere(issue: Issue, included: list[str]) -> bool:
    """Whether what is missing may stand in a file that is included there."""
    is_missing = issue.message.endswith("received undefined") or "must declare" in issue.message
    holder = issue.path.rpartition(".")[0]
    return is_missing and any(part in (holder, issue.path, "") for part in included)


def _references(config: Mapping[str, Any]) -> Iterator[Finding]:
    """Files and variables that the runtime puts in before it reads anything."""
    found = list(references(config))
    for reference in [each for each in found if each.is_include][:MOST_ISSUES]:
        place, name = showable(reference.path) or "openclaw.json", showable(reference.name)
        yield Finding(
            "CONFIG_INCLUDE",
            f"{place} takes in the file {name}, which was not looked at: what it sets is "
            "not known here.",
            {"path": place, "file": name},
        )
    variables = {each.name: showable(each.path) for each in found if not each.is_include}
    if variables:
        names = ", ".join(sorted(variables))
        yield Finding(
            "CONFIG_ENV",
            f"Values come from the environment ({names}), whose content is not known here.",
            {"variables": names, "paths": ", ".join(sorted(set(variables.values())))},
        )
