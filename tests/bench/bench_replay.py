"""What-ifs of long sessions: on the numbers of their entries, as the session page does it, and exactly.

Processor time, the best of several runs, once the arrays are loaded. The exact replay is held against
turns on real messages over one session, which those take seconds for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from compaction_app.engine.circumstances import Circumstances
from compaction_app.engine.policy import Policy
from compaction_app.engine.replay import replay
from compaction_app.engine.rule_sets import DEFAULT_RULE_SET
from compaction_app.engine.simulation.inputs import (
    Asked,
    SessionFiles,
    SimulationInputs,
    simulation_inputs,
    what_if,
)
from compaction_app.engine.simulation.usage import ByDensity
from compaction_app.engine.tape.recorded import recorded_rows
from compaction_app.engine.tape.row import RowMaker
from compaction_app.engine.tape.script import script_of
from compaction_app.engine.tape.session import replay_session
from sessions_app.importers import read_transcript
from sessions_app.transcripts.columns import columns_of_entries
from sessions_app.transcripts.measures import measure as measure_entry
from sessions_app.transcripts.timeline import Timeline, timeline
from tests.bench.sessions import long_session

SHORT, MIDDLE, LONG = 1_000, 10_000, 100_000
POLICY = replace(Policy(), context_window=200_000)
PRUNING = replace(POLICY, pruning_mode="cache-ttl", pruning_ttl="1s")
AROUND = Circumstances(provider="anthropic", model="claude")


def measure() -> list[dict[str, Any]]:
    columns = _numbers(MIDDLE)
    longer = _repeated(LONG)
    middle = _best(partial(replay, columns, POLICY, AROUND))
    long = _best(partial(replay, longer, POLICY, AROUND))
    pruned = _best(partial(replay, columns, PRUNING, AROUND))
    per_message = (long / longer.columns.kind.size) / (middle / columns.columns.kind.size)
    return [
        _result("what-if of 10,000 messages by numbers", middle, "ms", 30),
        _result("what-if of 100,000 messages by numbers", long, "ms", 300),
        _result("cost of a message at 100,000 against 10,000", per_message, "times", 1.5),
        _result("the same 10,000 with cache-TTL pruning, 1 s", pruned, "ms", 100),
        *_exact(),
    ]


def _exact() -> list[dict[str, Any]]:
    short, middle = _inputs(SHORT), _inputs(MIDDLE)
    turns = _best(lambda: what_if(short), runs=1)
    again = _best(_exact_replay(short))
    return [
        _at_least("exact replay against turns on 1,000 messages", turns / again, 100),
        _result("exact what-if of 1,000 messages", again, "ms", 30),
        _result("exact what-if of 10,000 messages", _best(_exact_replay(middle), 2), "ms", 30),
    ]


def _exact_replay(inputs: SimulationInputs) -> Callable[[], Any]:
    setup, rule = inputs.setup, inputs.rule
    assert isinstance(rule, ByDensity)
    maker = RowMaker(setup.rules, "prompt_truncation" in setup.order.call)
    rows = recorded_rows(inputs.recording, inputs.envelope, maker)
    return partial(
        replay_session,
        setup,
        rows,
        inputs.recording.summaries,
        rule.density,
        script=script_of(rows, None),
    )


def _inputs(entries: int) -> SimulationInputs:
    read = read_transcript([b"".join(long_session(entries))])
    files = SessionFiles((read,), {}, {"modelProvider": "anthropic", "model": "claude"})
    return simulation_inputs(files, Asked(DEFAULT_RULE_SET, changes={"contextWindow": 200_000}))


def _numbers(entries: int) -> Timeline:
    read = read_transcript([b"".join(long_session(entries))])
    return timeline(columns_of_entries((entry, measure_entry(entry)) for entry in read.entries))


def _repeated(entries: int) -> Timeline:
    """Ten times the middle session, one behind the other."""
    read = read_transcript([b"".join(long_session(entries))])
    known: dict[bytes, Any] = {}
    pairs = []
    for entry in read.entries:
        if entry.digest not in known:
            known[entry.digest] = measure_entry(entry)
        pairs.append((entry, known[entry.digest]))
    return timeline(columns_of_entries(pairs))


def _best(work: Callable[[], Any], runs: int = 5) -> float:
    """Milliseconds of processor time, the least of some runs."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) * 1000


def _result(name: str, value: float, unit: str, goal: float) -> dict[str, Any]:
    return {
        "name": f"replay: {name}",
        "value": round(value, 2),
        "unit": unit,
        "goal": f"< {goal} {unit}",
        "ok": value < goal,
        "detail": "processor time",
    }


def _at_least(name: str, value: float, goal: float) -> dict[str, Any]:
    made = _result(name, value, "times", goal)
    return {**made, "goal": f">= {goal} times", "ok": value >= goal}
