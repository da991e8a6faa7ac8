"""Context engines and summarisers that come with other distributions."""

from __future__ import annotations

import doctest
import importlib
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compaction_app.context_engines import EngineHost, python_name
from compaction_app.engine.compaction.drive import Means, drive
from compaction_app.engine.compaction.requests import ModelCall
from compaction_app.engine.compaction.run import run_compaction
from compaction_app.engine.compaction.safeguard_settings import SafeguardSettings
from compaction_app.engine.context_engine.contract import EngineFailure
from compaction_app.engine.rule_sets import OPENCLAW_2026_5_28
from compaction_app.plugins import Summarisers, quarantined, register_engines
from compaction_app.summarisers.extractive import Extractive
from tests.engine.compaction.driving import assistant, branch, user
from tests.summarisers.conversations import order

PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"
ENGINES, SUMMARISERS = "contextlab.context_engines", "contextlab.summarisers"
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a distribution: a module, and the metadata that names its entry points."""
    modules: list[str] = []

    def write(name: str, module: str, code: str, groups: dict[str, dict[str, str]]) -> None:
        (tmp_path / f"{module}.py").write_text(code)
        info = tmp_path / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = []
        for group, points in groups.items():
            lines += [f"[{group}]", *(f"{key} = {value}" for key, value in points.items())]
        (info / "entry_points.txt").write_text("\n".join(lines))
        modules.append(module)
        importlib.invalidate_caches()

    monkeypatch.syspath_prepend(str(tmp_path))
    yield write
    for module in modules:
        sys.modules.pop(module, None)


def compacted(params: Any) -> dict[str, Any]:
    return {"ok": True, "compacted": True, "given": dict(params)}


def broken_host(install: Install, code: str) -> EngineHost:
    install("acme", "acme_broken", code, {ENGINES: {"acme": "acme_broken:Engine"}})
    host = EngineHost(compacted)
    assert register_engines(host) == []
    return host


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_documented_example_is_true(install: Install) -> None:
    project = tomllib.loads(block("toml"))["project"]
    install(project["name"], "acme_context", block("python"), project["entry-points"])
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, tried > 8) == (0, True)


@pytest.mark.parametrize(
    ("code", "operation", "reason"),
    [
        ("raise ImportError('no libfoo')", "factory", "no libfoo"),
        ("class Other: ...", "factory", "Engine"),
        ("class Engine:\n def __init__(self): raise OSError('no disk')", "factory", "no disk"),
        ("class Engine: info = {'id': 'acme'}", "contract-validation", "missing info.name"),
        ("def Engine(): return None", "contract-validation", "returned null"),
    ],
)
def test_an_engine_that_cannot_be_had_is_quarantined_with_the_reason(
    install: Install, code: str, operation: str, reason: str
) -> None:
    host = broken_host(install, code)
    assert host.resolve("acme").engine_id == "legacy"
    assert host.quarantines["acme"].operation == operation
    assert host.quarantines["acme"].owner == "plugin:acme"
    assert reason in quarantined(host)["acme"]


WORKING = """
class Engine:
    info = {"id": "acme", "name": "Acme"}
    def ingest(self, params): raise KeyError("lost")
    def ingest_batch(self, params): return {"ingestedCount": len(params["messages"])}
    def assemble(self, params): raise ValueError("confused")
    def compact(self, params): return {"ok": True}
"""


def test_an_engine_that_raises_is_quarantined_and_the_default_engine_answers(
    install: Install,
) -> None:
    host = broken_host(install, WORKING)
    engine = host.resolve(" acme ")
    assert "ingestBatch" in engine.shape.methods and "afterTurn" not in engine.shape.methods
    assert host.call(engine, "ingestBatch", {"messages": [1, 2]}) == {"ingestedCount": 2}
    assert host.call(engine, "assemble", {"messages": [1]}) == {
        "messages": [1], "estimatedTokens": 0,
    }  # fmt: skip
    assert "confused" in quarantined(host)["acme"]
    assert host.call(engine, "ingestBatch", {"messages": [1]}) == {"ingestedCount": 0}
    aborted = host.call(engine, "ingest", {}, aborted=True)
    assert isinstance(aborted, EngineFailure) and aborted.name == "AbortError"


def test_ids_that_are_taken_are_reported_and_not_replaced(install: Install) -> None:
    install("acme", "acme_one", WORKING, {ENGINES: {"legacy": "acme_one:Engine", "a": "x:y"}})
    install("other", "acme_two", WORKING, {ENGINES: {"a": "acme_two:Engine"}})
    problems = register_engines(EngineHost(compacted))
    assert [str(problem) for problem in problems] == [
        'Plug-in "a" of other is not used: the id belongs to plugin:acme',
        'Plug-in "legacy" of acme is not used: the id belongs to core',
    ]


def test_the_default_engine_compacts_with_the_measured_tokens_and_no_target() -> None:
    host = EngineHost(compacted)
    engine = host.resolve()
    params = {
        "currentTokenCount": 1,
        "compactionTarget": "x",
        "runtimeContext": {"currentTokenCount": 9},
    }
    given = host.call(engine, "compact", params)["given"]
    assert given == {"currentTokenCount": 9, "runtimeContext": {"currentTokenCount": 9}}
    assert host.call(engine, "compact", {"currentTokenCount": 1})["given"] == {
        "currentTokenCount": 1
    }
    assert host.call(engine, "ingest", {}) == {"ingested": False}
    assert host.call(engine, "afterTurn", {}) is None
    assert host.call(engine, "dispose", {}) is None


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise ImportError('no libfoo')", "ImportError: no libfoo"),
        ("class Made: name = 'acme'", "it has no method summarise"),
    ],
)
def test_the_default_summariser_stands_in_for_one_that_cannot_be_had(
    install: Install, code: str, reason: str
) -> None:
    install("acme", "acme_bad", code, {SUMMARISERS: {"acme": "acme_bad:Made", "extractive": "x:y"}})
    found = Summarisers()
    assert "acme" in found.names
    assert isinstance(found.get("acme"), Extractive)
    assert isinstance(found.get("acme"), Extractive)
    assert "acme" not in found.names
    assert [problem.reason for problem in found.problems] == ["the name is taken", reason]


def test_a_given_summariser_is_found_by_its_name() -> None:
    class Mine:
        name = "mine"

        def summarise(self, call: ModelCall) -> str:
            return "S"

    found = Summarisers([Mine()])
    assert found.get("mine").summarise(ModelCall((), 1)) == "S"
    assert isinstance(found.get("unknown"), Extractive)
    assert found.get().name == "extractive"


TALK = branch([user("one " * 3000), assistant("two"), user("go on " * 2000), assistant("done")])


@pytest.mark.parametrize(
    ("provider", "outcome", "reason"),
    [
        ("acme", "answered", "provider_summary"),
        ("extractive", "answered", "provider_summary"),
        ("broken", "not_registered", "summarised"),
        ("nobody", "not_registered", "summarised"),
    ],
)
def test_an_installed_summariser_can_be_the_provider_of_compactions(
    install: Install, provider: str, outcome: str, reason: str
) -> None:
    code = (
        "class Made:\n name = 'acme'\n def summarise(self, call): return f'S{len(call.messages)}'"
    )
    points = {"acme": "acme_prov:Made", "broken": "acme_prov:Missing"}
    install("acme", "acme_prov", code, {SUMMARISERS: points})
    means = Means(lambda call: "by the model", providers=Summarisers().providers(16_384))
    asked = order(safeguard=SafeguardSettings(provider=provider))
    run = drive(run_compaction(TALK, asked, OPENCLAW_2026_5_28), means)
    assert run.safeguard is not None and run.entry is not None
    assert (run.safeguard.provider, run.decision.reason) == (outcome, reason)
    assert run.entry["summary"].startswith("S2") == (provider == "acme")


def test_methods_have_python_names() -> None:
    assert python_name("prepareSubagentSpawn") == "prepare_subagent_spawn"
    assert python_name("ingest") == "ingest"
