"""Every code is documented, with its severity."""

from __future__ import annotations

import re

import pytest

from compaction_app.engine.diagnose import SEVERITIES
from tests.engine.builders import ROOT

TEXT = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", SEVERITIES)
def test_a_code_has_its_entry(code: str) -> None:
    if code.startswith(("FILE", "INDEX")):
        assert re.search(rf"^\| .*\b{code}\b.* \|$", TEXT, re.MULTILINE)
    else:
        heading = re.search(rf"^### (.*\b{code}\b.*)$", TEXT, re.MULTILINE)
        assert heading and f"({SEVERITIES[code]})" in heading[1]
