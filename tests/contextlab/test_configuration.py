"""The README's table of variables is the one that the settings would print."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

ROOT = Path(__file__).resolve().parents[2]


def test_the_readme_has_the_table_that_the_command_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command("configuration")
    table = capsys.readouterr().out.strip()
    assert table in (ROOT / "README.md").read_text(encoding="utf-8"), (
        "replace the table in README.md by the output of: manage.py configuration"
    )


def test_a_wrong_value_is_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=os.environ | {"PORT": "http"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == "error: PORT='http': must be a whole number from 1 to 65,535\n"
