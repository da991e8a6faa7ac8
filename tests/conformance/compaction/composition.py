"""What goes into a context (spec compaction 5)."""

from __future__ import annotations

from typing import Any

from compaction_app.engine.composition import (
    bootstrap_files,
    bootstrap_limits,
    bootstrap_report,
    bootstrap_trim,
    cache_boundary,
    context_injection,
    file_selection,
    policy_digest,
    project_context,
    skills,
)
from compaction_app.engine.rule_sets import RuleSet
from tests.conformance.compaction.protocol import SHORT_TEXT, compact_text

Args = dict[str, Any]


def _trim(args: Args, rules: RuleSet) -> Any:
    found = bootstrap_trim.trim_file(
        args["content"], args["fileName"], args["maxChars"], rules.composition.trim
    )
    return {
        "content": compact_text(found.content),
        "truncated": found.truncated,
        "maxChars": found.max_chars,
        "originalLength": found.original_length,
    }


def _digest(args: Args, _: RuleSet) -> Any:
    found = policy_digest.policy_digest(args["content"], args["budget"])
    return {"text": found.text, "omittedLines": found.omitted_lines}


def _files(given: list[Any]) -> list[bootstrap_files.WorkspaceFile]:
    return [
        bootstrap_files.WorkspaceFile(
            f["name"], f.get("path") or "", f.get("content"), bool(f.get("missing"))
        )
        for f in given
    ]


def _inject(args: Args, rules: RuleSet) -> bootstrap_files.Injection:
    opts = args.get("opts") or args
    return bootstrap_files.inject_files(
        _files(args["files"]),
        opts.get("maxChars"),
        opts.get("totalMaxChars"),
        rules.composition.limits,
        rules.composition.trim,
    )


def _build(args: Args, rules: RuleSet) -> Any:
    found = _inject({"opts": {}, **args}, rules)
    return {
        "files": [
            {
                "path": file.path,
                "length": len(file.content),
                "content": compact_text(file.content, SHORT_TEXT),
            }
            for file in found.files
        ],
        "warnings": list(found.warnings),
    }


def _limits(args: Args, rules: RuleSet) -> Any:
    found = bootstrap_limits.bootstrap_limits(
        args.get("cfg"), args.get("agentId"), rules.composition.limits
    )
    return {
        "maxChars": found.max_chars,
        "totalMaxChars": found.total_max_chars,
        "warning": found.warning,
    }


def _report(args: Args, rules: RuleSet) -> Any:
    injected = _inject(args, rules).files
    stats = bootstrap_report.file_stats(_files(args["files"]), injected)
    found = bootstrap_report.analyse(stats, args["maxChars"], args["totalMaxChars"])
    warning = bootstrap_report.bootstrap_warning(
        found,
        args.get("mode", rules.composition.limits.warning),
        args.get("seenSignatures") or (),
        args.get("previousSignature"),
        args.get("maxFiles"),
        names_agents_file=rules.composition.trim.digests_policy,
    )
    return {
        "stats": [_stats(file) for file in stats],
        "totals": {
            "rawChars": found.raw_chars,
            "injectedChars": found.injected_chars,
            "truncatedChars": found.truncated_chars,
            "bootstrapMaxChars": found.max_chars,
            "bootstrapTotalMaxChars": found.total_max_chars,
            "nearLimitRatio": bootstrap_report.NEAR_LIMIT_RATIO,
        },
        "hasTruncation": bool(found.truncated),
        "totalNearLimit": found.total_near_limit,
        "near": list(found.near),
        "truncated": [[file.stats.name, list(file.causes)] for file in found.truncated],
        "warning": {
            "signature": warning.signature,
            "warningShown": warning.shown,
            "lines": list(warning.lines),
            "warningSignaturesSeen": list(warning.seen),
        },
    }


def _stats(file: bootstrap_report.FileStats) -> Any:
    return {
        "name": file.name,
        "path": file.path,
        "missing": file.missing,
        "rawChars": file.raw_chars,
        "injectedChars": file.injected_chars,
        "truncated": file.truncated,
    }


def _attempt(args: Args, rules: RuleSet) -> Any:
    mode = context_injection.injection_mode(
        {"agents": {"defaults": {"contextInjection": args.get("contextInjectionMode")}}},
        None,
    )
    bootstrap, kind = args.get("bootstrapMode"), args.get("bootstrapContextRunKind")
    asked = context_injection.asks_for_marker(mode, bootstrap, kind)
    found = context_injection.context_injection(
        mode, bootstrap, kind, args.get("bootstrapContextMode"), args["completed"], rules
    )
    injects = found.decision.fired
    return {
        "bootstrapFiles": ["b"] if injects else [],
        "contextFiles": ["c"] if injects else [],
        "isContinuationTurn": found.is_continuation,
        "shouldRecordCompletedBootstrapTurn": found.records_marker,
        "asked": int(asked),
        "resolved": int(injects),
    }


def _boundary(args: Args, _: RuleSet) -> Any:
    text = args["text"]
    split = cache_boundary.split_at_boundary(text)
    return {
        "split": split and {"stablePrefix": split.stable, "dynamicSuffix": split.dynamic},
        "stripped": cache_boundary.without_boundary(text),
        "prepended": cache_boundary.with_addition(text, args["addition"]),
    }


def _order(args: Args, _: RuleSet) -> Any:
    found = project_context.order_context_files(args["paths"])
    return {
        "ordered": list(found.ordered),
        "stable": list(found.stable),
        "dynamic": list(found.dynamic),
    }


def _section(args: Args, _: RuleSet) -> Any:
    files = [bootstrap_files.InjectedFile(f["path"], f["content"]) for f in args["files"]]
    return project_context.project_context_section(files, args["heading"], dynamic=args["dynamic"])


def _mode(args: Args, rules: RuleSet) -> Any:
    return context_injection.bootstrap_mode(
        pending=bool(args.get("bootstrapPending")),
        run_kind=args.get("runKind"),
        is_primary=bool(args.get("isPrimaryRun")),
        is_interactive=bool(args.get("isInteractiveUserFacing")),
        has_file_access=bool(args.get("hasBootstrapFileAccess")),
        is_canonical_workspace=bool(args.get("isCanonicalWorkspace")),
        rules=rules.composition.injection,
    )


def _skills(given: list[Any]) -> list[skills.Skill]:
    return [skills.Skill(s["name"], s.get("description") or "", s["filePath"]) for s in given]


def _select(args: Args, rules: RuleSet) -> Any:
    given = _skills(args["skills"])
    found = skills.select_skills(given, args.get("config"), args.get("agentId"), rules.id)
    return {
        "kept": len(found.skills),
        "last": found.skills[-1].name if found.skills else None,
        "truncated": found.truncated,
        "compact": found.compact,
        "fullChars": skills.skills_chars(given, compact=False),
        "compactChars": skills.skills_chars(given, compact=True),
    }


def _format(args: Args, _: RuleSet) -> Any:
    given = _skills(args["skills"])
    return {
        name: {
            "chars": skills.skills_chars(given, compact=compact),
            "body": skills.skills_list(given, compact=compact),
        }
        for name, compact in (("full", False), ("compact", True))
    }


FUNCTIONS = {
    "trimBootstrapContent": _trim,
    "buildAgentsPolicyDigest": _digest,
    "clampToBudget": lambda a, _: bootstrap_trim.clamp(a["content"], a["budget"]),
    "buildBootstrapContextFiles": _build,
    "resolveBootstrapLimits": _limits,
    "bootstrapReport": _report,
    "appendBootstrapPromptWarning": lambda a, _: bootstrap_report.with_warning(
        a["prompt"], a["lines"], (a.get("options") or {}).get("preserveExactPrompt")
    ),
    "bootstrapSignaturesSeen": lambda a, _: list(bootstrap_report.signatures_seen(a.get("report"))),
    "filterBootstrapFilesForSession": lambda a, _: [
        f.name for f in file_selection.files_for_session(_files(a["files"]), a.get("sessionKey"))
    ],
    "applyContextModeFilter": lambda a, _: [
        f.name
        for f in file_selection.files_for_mode(
            _files(a["files"]), a.get("contextMode"), a.get("runKind")
        )
    ],
    "resolveContextInjectionMode": lambda a, _: context_injection.injection_mode(
        a.get("config"), a.get("agentId")
    ),
    "hasCompletedBootstrapTurn": lambda a, _: context_injection.has_completed_bootstrap(
        a.get("text") or ""
    ),
    "resolveAttemptBootstrapContext": _attempt,
    "resolveBootstrapMode": _mode,
    "cacheBoundary": _boundary,
    "sortContextFiles": _order,
    "buildProjectContextSection": _section,
    "applySkillsPromptLimits": _select,
    "formatSkills": _format,
    "compactHomePath": lambda a, _: skills.home_relative(a["filePath"], a["homes"]),
}
