"""``python -m tests.bench [NAME...]``: measure, print a table, write ``bench.json``.

Without names every measurement runs; a name is that of a file here, ``bench_NAME.py``.

Each ``bench_*.py`` beside this file has ``measure() -> list[dict]`` with the keys ``name``,
``value``, ``unit``, ``goal``, ``ok`` and ``detail``. The exit status is 1 when a goal was missed.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import django
from rich.console import Console
from rich.table import Table

KEYS = ("name", "value", "unit", "goal", "ok", "detail")
HERE = Path(__file__).resolve().parent
REPORT = Path("bench.json")


def measurements(names: Sequence[str] = (), folder: Path = HERE) -> list[dict[str, Any]]:
    """The results of the named measuring modules, else of all, in the order of their names.

    Raises:
        SystemExit: a name for which there is no file.
    """
    paths = {path.stem.removeprefix("bench_"): path for path in sorted(folder.glob("bench_*.py"))}
    if unknown := [name for name in names if name not in paths]:
        raise SystemExit(f"no measurement named {unknown[0]}; there are: {', '.join(paths)}")
    found: list[dict[str, Any]] = []
    for path in (paths[name] for name in names or paths):
        for result in importlib.import_module(f"tests.bench.{path.stem}").measure():
            if tuple(sorted(result)) != tuple(sorted(KEYS)):
                raise ValueError(f"{path.name}: a result has {sorted(result)}, not {sorted(KEYS)}")
            found.append(result)
    return found


def table(results: list[dict[str, Any]]) -> Table:
    shown = Table("", "what", "value", "goal", "detail", box=None)
    for result in results:
        mark = "[green]ok[/]" if result["ok"] else "[red]MISSED[/]"
        value = f"{result['value']:,.4g} {result['unit']}"
        shown.add_row(mark, result["name"], value, str(result["goal"]), str(result["detail"]))
    return shown


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.settings")
    django.setup()
    results = measurements(sys.argv[1:])
    REPORT.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    Console().print(table(results))
    return 0 if all(result["ok"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
