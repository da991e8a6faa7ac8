"""A simulation's inputs from what lies in files: transcripts, configuration, index entry.

What a transcript does not hold (system prompt, what a channel puts before a prompt) comes from the
report that the runtime keeps in the index; without one it counts nothing, and ``notes`` say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from compaction_app.engine.circumstances import Circumstances, Path
from compaction_app.engine.config_value import value_at
from compaction_app.engine.policy import Policy, with_changes
from compaction_app.engine.policy_config import policy_from_config
from compaction_app.engine.rule_sets import RuleSet
from compaction_app.engine.simulation.driver import (
    Answers,
    Envelope,
    SimulatedTurn,
    Summarise,
    folded,
    simulate,
    stand_in_summary,
)
from compaction_app.engine.simulation.recording import (
    RecordedTurn,
    Recording,
    read_recording,
)
from compaction_app.engine.simulation.summaries import given_summaries
from compaction_app.engine.simulation.usage import (
    ByDensity,
    MessageWeights,
    Overhead,
    PromptRule,
    measured_density,
    measured_overhead,
)
from compaction_app.engine.summary_sizes import AS_KNOWN, Source, SummaryChoice
from compaction_app.engine.turn.requests import KnownSummary
from compaction_app.engine.turn.setup import RunSetup, SystemSizes, run_setup
from sessions_app.importers.openclaw import Reader
from sessions_app.importers.records import Record
from sessions_app.tokens import javascript as js
from sessions_app.tokens.message_tokens import CHARS_PER_TOKEN
from sessions_app.transcripts.timestamps import epoch_ms
from sessions_app.transcripts.transcript import Entry, Transcript

STAMP_CHARS: Final = 27
"""A time stamp before a prompt: ``[Tue 2026-12-01 01:08 UTC] ``."""

FLUSH_TOOLS: Final = frozenset({"read", "write"})
TOOL_LINE_CHARS: Final = {"exec": 65}
"""Characters of a tool's line in the system prompt, where known; a flush turn's prompt lacks them."""

LONG_ID_TAIL: Final = "-0000-4000-8000-000000000000"
TOOL_FRAME_CHARS: Final = len('{"name":"","description":"","parameters":}')

FIRST_NEW_ID: Final = 1 << 31

AGENT_KEYS: Final = (":subagent:", ":explicit:")

NO_REPORT: Final = (
    "No system prompt report and no usage: the pre-prompt check counts the system prompt as nothing, so "
    "that its estimates are too low by about a quarter of the prompt's characters, times 1.2."
)
MEASURED: Final = (
    "No system prompt report: what the first call billed beyond its messages, {tokens:,} tokens, "
    "stands for the system prompt, plus or minus {spread:,} tokens."
)


@dataclass(frozen=True, slots=True)
class SessionFiles:
    """One session: its transcripts, oldest first, and what was found beside them; ``store_version`` is
    the version that wrote the store they come from."""

    transcripts: tuple[Transcript, ...]
    config: Mapping[str, Any]
    index: Mapping[str, Any]
    key: str = ""
    store_version: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What a session is, whatever policy it is run under: its recording, its entry in the index, its
    own policy, the bytes of its header line, and what of its settings was not accepted."""

    session_id: str
    recording: Recording
    index: Mapping[str, Any]
    own_policy: Policy
    header_bytes: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants: rules, path (none: the session's own), settings changed by key, and how large
    simulated summaries are."""

    rules: RuleSet
    path: Path | None = None
    changes: Mapping[str, Any] | None = None
    summary: SummaryChoice = AS_KNOWN


@dataclass(frozen=True, slots=True)
class SimulationInputs:
    """Everything a simulation needs; ``own_policy``: nothing was changed against the files. ``summaries``
    are what simulated compactions are given, ``summary_source`` where those come from."""

    session_id: str
    recording: Recording
    setup: RunSetup
    envelope: Envelope
    rule: PromptRule
    header_bytes: int
    own_policy: bool
    summarise: Summarise
    notes: tuple[str, ...]
    summary_source: Source
    summaries: tuple[KnownSummary, ...]


def what_if(inputs: SimulationInputs) -> list[SimulatedTurn]:
    """The whole session under the inputs' policy, decisions taking effect."""
    return list(what_if_turns(inputs))


def what_if_turns(inputs: SimulationInputs) -> Iterator[SimulatedTurn]:
    """The same, turn by turn, for whoever wants to stop at one."""
    recording = inputs.recording
    answers = Answers(
        setup=inputs.setup,
        rule=inputs.rule,
        summaries=iter(inputs.summaries),
        flushes=iter(recording.flushes),
        own_policy=inputs.own_policy,
        summarise=inputs.summarise,
    )
    return simulate(recording, answers, inputs.envelope, inputs.header_bytes)


def simulation_inputs(
    files: SessionFiles,
    asked: Asked,
    rule: PromptRule | None = None,
    summarise: Summarise = stand_in_summary,
) -> SimulationInputs:
    """The inputs of one session.

    Raises:
        PolicyError: for changes that the policy does not take.
    """
    first = files.transcripts[0]
    recording = read_recording(joined_entries(files.transcripts))
    provider, model = _model(files, recording)
    around = Circumstances(
        path=asked.path or path_of_key(files.key),
        provider=provider,
        model=model,
        rules=asked.rules,
        config=files.config,
    )
    read = policy_from_config(files.config, provider, model, asked.rules.materialize.snapshot_mode)
    own = _with_window(read.policy, files.index)
    policy = with_changes(own, asked.changes or {})
    return inputs_under(
        policy,
        around,
        Known(
            session_id=first.header.id if first.header else "",
            recording=recording,
            index=files.index,
            own_policy=own,
            header_bytes=len(first.header.raw) + 1 if first.header else 0,
            problems=read.problems,
        ),
        rule,
        summarise,
        asked.summary,
    )


def inputs_under(
    policy: Policy,
    around: Circumstances,
    known: Known,
    rule: PromptRule | None = None,
    summarise: Summarise = stand_in_summary,
    summary: SummaryChoice = AS_KNOWN,
) -> SimulationInputs:
    """The inputs of a session that is known already, under any policy and circumstances."""
    recording = known.recording
    report = value_at(known.index, "systemPromptReport")
    weights = MessageWeights(around.rules.message_tokens)
    density = measured_density(recording, weights, around.rules.usage)
    system, note = _system(report, around.rules), ""
    if not system.chars:
        overhead = measured_overhead(recording, weights, around.rules.usage, density)
        system, note = _measured_system(overhead)
    setup = run_setup(policy, around, system, _new_ids(around.rules))
    source, summaries = given_summaries(recording.summaries, summary, setup.lines, policy)
    return SimulationInputs(
        session_id=known.session_id,
        recording=recording,
        setup=setup,
        envelope=envelope_of(report, recording, around),
        rule=rule or ByDensity(weights, density),
        header_bytes=known.header_bytes,
        own_policy=policy == known.own_policy,
        summarise=summarise,
        notes=(*known.problems, *((note,) if note else ())),
        summary_source=source,
        summaries=summaries,
    )


def joined_entries(transcripts: Sequence[Transcript]) -> tuple[Entry, ...]:
    """The entries of a session whose file was rotated, each once, as if it were one file."""
    if len(transcripts) == 1:
        return transcripts[0].entries
    seen: set[str] = set()
    records = []
    for entry in (entry for transcript in transcripts for entry in transcript.entries):
        if entry.id not in seen:
            seen.add(entry.id)
            records.append(Record(entry.line, dict(entry.record), entry.raw))
    return tuple(item for item in Reader().read(records) if isinstance(item, Entry))


def _new_ids(rules: RuleSet) -> Iterator[str]:
    """Ids like the runtime's, from where the numbers of old files, which have no ids, do not come."""
    tail = LONG_ID_TAIL if rules.turn.long_ids else ""
    return (f"{number:08x}{tail}" for number in count(FIRST_NEW_ID))


def path_of_key(key: str) -> Path:
    """The path that a session's key gives away; a session without a key is taken for a chat.

    Subagents and sessions that ``openclaw agent`` was given an id for run without a reply pipeline.
    """
    return "agent" if any(part in key for part in AGENT_KEYS) else "chat"


def _model(files: SessionFiles, recording: Recording) -> tuple[str, str]:
    """Provider and model: those of the index, else of the last recorded answer."""
    index = files.index
    given = (index.get("modelProvider"), index.get("model"))
    if all(isinstance(name, str) and name for name in given):
        return str(given[0]), str(given[1])
    calls = [call.entry["message"] for turn in recording.turns for call in turn.calls]
    last = calls[-1] if calls else {}
    return str(last.get("provider") or ""), str(last.get("model") or "")


def _with_window(policy: Policy, index: Mapping[str, Any]) -> Policy:
    """The window of the last run stands in where the configuration lists none."""
    window = index.get("contextTokens")
    if policy.context_window is None and isinstance(window, int) and window > 0:
        return with_changes(policy, {"contextWindow": window})
    return policy


def _system(report: Any, rules: RuleSet) -> SystemSizes:
    chars = value_at(report, "systemPrompt", "chars")
    tools = value_at(report, "tools", "entries")
    names = [value_at(tool, "name") for tool in tools] if isinstance(tools, list) else []
    lines = sum(TOOL_LINE_CHARS.get(str(n), 0) for n in names if n not in FLUSH_TOOLS)
    left_out = rules.turn.flush_lacks or lines
    sizes = _tool_chars(tools if isinstance(tools, list) else [])
    of_flush = _tool_chars([tool for tool in tools or () if value_at(tool, "name") in FLUSH_TOOLS])
    return SystemSizes(chars if isinstance(chars, int) else 0, left_out, sizes, of_flush)


def _tool_chars(tools: Sequence[Any]) -> int:
    """Characters of the tools as JSON; what a description escapes is not in the report."""
    sizes = [[value_at(tool, key) for key in ("summaryChars", "schemaChars")] for tool in tools]
    names = [str(value_at(tool, "name")) for tool in tools]
    if not tools or not all(isinstance(size, int) for row in sizes for size in row):
        return 0
    return sum(map(len, names)) + sum(map(sum, sizes)) + (TOOL_FRAME_CHARS + 1) * len(tools) + 1


def _measured_system(overhead: Overhead | None) -> tuple[SystemSizes, str]:
    """A system prompt of the size that the bills show, and how sure that is."""
    if overhead is None:
        return SystemSizes(), NO_REPORT
    note = MEASURED.format(tokens=overhead.tokens, spread=overhead.spread)
    return SystemSizes(overhead.tokens * CHARS_PER_TOKEN), note


def envelope_of(report: Any, recording: Recording, around: Circumstances) -> Envelope:
    """What the last reported prompt had beyond the text that is stored; only channels add anything."""
    if around.path != "chat":
        return Envelope()
    if around.rules.turn.stamps_history:
        return Envelope(STAMP_CHARS, folds=False)
    chars = value_at(report, "currentTurn", "promptChars")
    made = epoch_ms(value_at(report, "generatedAt"))
    turns = [turn for turn in recording.turns if turn.kind == "message" and _before(turn, made)]
    if not isinstance(chars, int) or not turns:
        return Envelope()
    extra = max(0, chars - js.utf16_len(folded(turns[-1].text)))
    return Envelope(extra, STAMP_CHARS if extra >= STAMP_CHARS else 0)


def _before(turn: RecordedTurn, moment_ms: int | None) -> bool:
    """Whether a report of that moment can be about the turn, or about one after it."""
    sent = epoch_ms(turn.entry["message"].get("timestamp"))
    return moment_ms is None or sent is None or sent <= moment_ms
