"""The changes of ``openclaw.json`` that the findings ask for, each as edits of the file.

A change that would make the file worse (a problem that it did not have before) is not proposed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from compaction_app.engine.config.edits import Edit, Place, Put, Remove, Rename, applied, value_of
from compaction_app.engine.config.references import without_includes
from compaction_app.engine.config.validate import Issue, UnknownKey, validate_config
from compaction_app.engine.config_value import provider_entries
from compaction_app.engine.diagnose import Finding, Subject, findings
from compaction_app.engine.lines import lines_of
from compaction_app.engine.policy import BY_KEY, MODEL_KEYS, Policy, PolicyError, with_changes
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.setting import BadValue
from sessions_app.tokens import javascript as js

DEFAULTS: Final = ("agents", "defaults")
CAUSES: Final = ("WINDOW", "COMPACTS_FROM", "RESERVE", "TRIGGER", "SOFT", "KEEP", "FLUSH")
"""The beginnings of codes in the order in which they are cured: what moves lines comes first."""
MOST_ROUNDS: Final = 2
_SAME: Final = object()
_VAGUE: Final = ("enabled", "mode", "model", "provider", "prompt", "id", "name")
"""Keys that mean something else in every object: none of them is moved to another one."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One change: ``key`` names it, ``code`` the finding that asks for it, ``words`` what it does.

    ``settings`` are the settings it changes, by key, as a what-if takes them.
    """

    key: str
    code: str
    words: str
    edits: tuple[Edit, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)


def corrections(
    config: Mapping[str, Any], subjects: Sequence[Subject], rules: RuleSet
) -> list[Correction]:
    """What to change, faults of the file first; nothing that the file says already.

    The subjects are judged again after every change, causes before effects, so that the changes fit
    together: a reserve that was made smaller moves the line that a flush has to stay below.
    """
    issues = _issues(config, rules)
    proposed = {each.key: each for each in _of_issues(config, issues)}
    for key, (code, value) in _settled(subjects).items():
        around = subjects[0].around
        each = _of_setting(config, code, key, value, around.provider, around.model)
        if each is not None:
            proposed[key] = each
    return [each for each in proposed.values() if not _worse(config, each, issues, rules)]


def _settled(subjects: Sequence[Subject]) -> dict[str, tuple[str, Any]]:
    """The settings that cure what can be cured, with the code that asked last; by key."""
    wanted: dict[str, tuple[str, Any]] = {}
    heard: Counter[str] = Counter()
    while (found := _next(subjects, heard)) is not None:
        heard[found.code] += 1
        wanted |= {key: (found.code, value) for key, value in found.fix.items()}
        subjects = [_changed(subject, found.fix) for subject in subjects]
    return wanted


def _next(subjects: Sequence[Subject], heard: Counter[str]) -> Finding | None:
    """The first cause that still asks for a change; each code is heard twice at most."""
    asking = [
        finding
        for subject in subjects
        for finding in findings(subject)
        if heard[finding.code] < MOST_ROUNDS and _changes(subject.policy, finding.fix)
    ]
    return min(asking, key=_rank, default=None)


def _rank(finding: Finding) -> int:
    order = [number for number, start in enumerate(CAUSES) if finding.code.startswith(start)]
    return order[0] if order else len(CAUSES)


def _changes(policy: Policy, fix: Mapping[str, Any]) -> bool:
    try:
        return bool(fix) and with_changes(policy, fix) != policy
    except PolicyError:
        return False


def _changed(subject: Subject, fix: Mapping[str, Any]) -> Subject:
    policy = with_changes(subject.policy, fix)
    return replace(subject, policy=policy, lines=lines_of(policy, subject.around))


def edits_of(chosen: Iterable[Correction]) -> list[Edit]:
    return [edit for each in chosen for edit in each.edits]


def _issues(config: Any, rules: RuleSet) -> list[Issue]:
    return validate_config(without_includes(config), rules.config)


def _worse(
    config: Mapping[str, Any], each: Correction, issues: list[Issue], rules: RuleSet
) -> bool:
    before = {(issue.path, issue.message) for issue in issues}
    after = _issues(applied(config, each.edits), rules)
    return bool({(issue.path, issue.message) for issue in after} - before - _lists(issues, after))


def _lists(before: list[Issue], after: list[Issue]) -> set[tuple[str, str]]:
    """Lists of unknown keys that only became shorter."""
    known = {issue.path: {key.key for key in issue.unknown_keys} for issue in before}
    return {
        (issue.path, issue.message)
        for issue in after
        if issue.unknown_keys
        and {key.key for key in issue.unknown_keys} <= known.get(issue.path, set())
    }


def _of_setting(
    config: Mapping[str, Any], code: str, key: str, value: Any, provider: str, model: str
) -> Correction | None:
    place = place_in(config, key, provider, model)
    if place is None:
        return None
    now = value_of(config, place)
    if now == value and type(now) is type(value):
        return None
    if value is None:
        return Correction(key, code, f"{key}: {_shown(now)} → unset", (Remove(place),), {key: None})
    if now is None and value == BY_KEY[key].default:
        return None
    before = _shown(now) if now is not None else f"unset ({_shown(BY_KEY[key].default)})"
    words = f"{key}: {before} → {_shown(value)}"
    return Correction(key, code, words, (Put(place, value),), {key: value})


def place_in(config: Mapping[str, Any], key: str, provider: str, model: str) -> Place | None:
    """Where the file holds a setting or would; none for a model that it does not list."""
    if key not in MODEL_KEYS:
        return (*DEFAULTS, *key.split("."))
    for name, entry in provider_entries(config):
        if js.norm(name) != js.norm(provider):
            continue
        for number, listed in enumerate(_list(entry)):
            if isinstance(listed, Mapping) and listed.get("id") == model:
                return ("models", "providers", name, "models", number, key)
    return None


def _list(entry: Any) -> list[Any]:
    models = entry.get("models") if isinstance(entry, Mapping) else None
    return models if isinstance(models, list) else []


def _of_issues(config: Mapping[str, Any], issues: list[Issue]) -> Iterator[Correction]:
    for issue in issues:
        place = place_of_path(config, issue.path)
        if place is None:
            continue
        for key in issue.unknown_keys:
            yield _unknown_key(config, place, issue.path, key)
        if not issue.unknown_keys and place:
            yield _bad_value(config, place, issue)


def _unknown_key(
    config: Mapping[str, Any], place: Place, path: str, unknown: UnknownKey
) -> Correction:
    """Give a key the name it was meant to have, move it where it belongs, else take it out."""
    here = (*place, unknown.key)
    shown = f"{path}.{unknown.key}" if path else unknown.key
    parent, _, name = (unknown.nearest or "").rpartition(".")
    if unknown.nearest and parent == path and value_of(config, (*place, name)) is None:
        words = f"{shown}: renamed to {name}"
        return Correction(shown, "CONFIG_UNKNOWN_KEY", words, (Rename(here, name),))
    to = tuple(unknown.nearest.split(".")) if unknown.nearest else ()
    movable = bool(to) and not {"[]", "<id>"} & set(to) and to[-1] not in _VAGUE
    if movable and value_of(config, to) is None:
        words = f"{shown}: moved to {unknown.nearest}"
        edits = (Remove(here), Put(to, value_of(config, here)))
        return Correction(shown, "CONFIG_UNKNOWN_KEY", words, edits)
    words = f"{shown}: taken out, there is no such key"
    return Correction(shown, "CONFIG_UNKNOWN_KEY", words, (Remove(here),))


def _bad_value(config: Mapping[str, Any], place: Place, issue: Issue) -> Correction:
    """The value that was meant where a setting can tell, else none at all."""
    now = value_of(config, place)
    name = ".".join(str(part) for part in place[2:])
    setting = BY_KEY.get(name) if place[:2] == DEFAULTS else None
    key = name if setting else issue.path
    meant: Any = _SAME
    if setting is not None and now not in (None, ""):
        try:
            meant = setting.read(now)
        except BadValue:
            meant = _SAME
    if meant is _SAME or isinstance(meant, tuple):
        words = f"{issue.path}: taken out, {_shown(now)} is not accepted"
        return Correction(key, "CONFIG_INVALID", words, (Remove(place),))
    words = f"{key}: {_shown(now)} → {_shown(meant)}"
    return Correction(key, "CONFIG_INVALID", words, (Put(place, meant),))


def place_of_path(config: Any, path: str) -> Place | None:
    """The place that a dotted path means; keys may hold dots themselves."""
    if not path:
        return ()
    if isinstance(config, list):
        first, _, rest = path.partition(".")
        if not first.isdecimal() or int(first) >= len(config):
            return None
        inner = place_of_path(config[int(first)], rest)
        return None if inner is None else (int(first), *inner)
    for key in config if isinstance(config, Mapping) else ():
        if path == key:
            return (key,)
        if path.startswith(f"{key}."):
            inner = place_of_path(config[key], path[len(key) + 1 :])
            if inner is not None:
                return (key, *inner)
    return None


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "unset"}[value]
    return f"{value:,}" if isinstance(value, int | float) else repr(value)[:80]
