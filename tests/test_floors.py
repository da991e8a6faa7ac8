"""Imports only go down, and what is pure stays pure (DESIGN: "The house")."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
IMPURE = {
    "asyncio", "celery", "datetime.now", "django", "httpx", "io", "kombu", "logging", "multiprocessing", "ninja", "os",
    "pathlib", "random", "redis", "requests", "secrets", "shutil", "socket", "sqlite3", "structlog", "subprocess",
    "tempfile", "threading", "time", "urllib.request", "uuid",
}  # fmt: skip
FLOORS = {"sessions_app": 0, "compaction_app": 1, "contextlab": 2}
PURE = (
    "compaction_app/engine/",
    "compaction_app/summarisers/extraction/",
    "sessions_app/drawing/",
    "sessions_app/importers/",
    "sessions_app/message_forms/",
    "sessions_app/secret_texts/",
    "sessions_app/tokens/",
    "sessions_app/transcripts/",
)
PURE_FILES = {
    "compaction_app/summarisers/extractive.py",
    "compaction_app/summarisers/interface.py",
    "sessions_app/plurals.py",
}
# The vocabularies are data files of a package; reading them is the one thing the exact count does.
READS_VOCABULARY = {"sessions_app/tokens/exact.py"}


def modules() -> list[Path]:
    return sorted(
        p for top in FLOORS for p in (ROOT / top).rglob("*.py") if "migrations" not in p.parts
    )


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError(f"{path}: relative import; name the module in full")
    return found


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_pure(path: Path) -> bool:
    return name(path).startswith(PURE) or name(path) in PURE_FILES


@pytest.mark.parametrize("path", modules(), ids=name)
def test_imports_only_go_down(path: Path) -> None:
    floor = FLOORS[path.relative_to(ROOT).parts[0]]
    tops = {module.split(".")[0] for module in imports(path)}
    above = {top for top in tops if FLOORS.get(top, -1) > floor}
    assert not above, f"{name(path)} imports from a floor above: {sorted(above)}"


@pytest.mark.parametrize("path", [p for p in modules() if is_pure(p)], ids=name)
def test_pure_modules_know_no_framework_no_files_and_no_clock(path: Path) -> None:
    impure = {m for m in imports(path) if m in IMPURE or m.split(".")[0] in IMPURE}
    if name(path) in READS_VOCABULARY:
        impure -= {"os"}
    assert not impure, f"{name(path)} is pure but imports {sorted(impure)}"


@pytest.mark.parametrize("path", [p for p in modules() if is_pure(p)], ids=name)
def test_pure_modules_import_only_pure_modules(path: Path) -> None:
    tops = tuple(f"{top}." for top in FLOORS)
    for module in imports(path):
        if not module.startswith(tops):
            continue
        file = ROOT / Path(*module.split("."))
        if file.with_suffix(".py").is_file():
            assert is_pure(file.with_suffix(".py")), f"{name(path)} imports {module}"


def test_the_engine_prints_nothing_and_opens_nothing() -> None:
    for path in filter(is_pure, modules()):
        calls = {
            node.func.id
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not calls & {"print", "open", "input", "eval", "exec"}, name(path)
