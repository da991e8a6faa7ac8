"""Every reason code that the engine's source can give has a sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import compaction_app.engine
from compaction_app.engine.reasons import SENTENCES, sentence

ENGINE = Path(compaction_app.engine.__file__).parent
CODE = re.compile("[a-z][a-z0-9]*(_[a-z0-9]+)+")


def texts(node: ast.AST) -> Iterator[str]:
    """The texts a value may be: of a dict the values, of a choice its branches, of a type its texts."""
    if isinstance(node, ast.Dict):
        for value in node.values:
            yield from texts(value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Subscript):
        is_type = ast.unparse(node.value) == "Literal"
        yield from texts(node.slice if is_type else node.value)
    elif not isinstance(node, ast.Compare | ast.Attribute):
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


def reason_values(node: ast.AST) -> Iterator[ast.AST]:
    """What ``node`` uses as a reason: an argument, a variable, or the answer of a function for it."""
    if isinstance(node, ast.keyword) and "reason" in (node.arg or ""):
        yield node.value
    elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any("reason" in ast.unparse(target).lower() for target in targets):
            yield node.value
    elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("Decision", "_nothing"):
        yield from node.args
    elif isinstance(node, ast.FunctionDef) and re.search(
        "reason|_off$|_crossing|_likely", node.name
    ):
        yield from (
            each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value
        )


def codes(source: str) -> set[str]:
    values = (value for node in ast.walk(ast.parse(source)) for value in reason_values(node))
    return {text for value in values for text in texts(value) if CODE.fullmatch(text)}


RULE_NAMES = {"memory_flush", "compaction_cut"}
"""Beside the reason in a call, but the name of the rule or what becomes of it."""


def test_every_reason_of_the_engine_has_a_sentence() -> None:
    found = {
        path.relative_to(ENGINE).as_posix(): codes(path.read_text())
        for path in ENGINE.rglob("*.py")
    }
    assert "already_flushed_in_cycle" in found["flush.py"]
    assert "no_usage" in found["inner_trigger.py"]
    known = SENTENCES.keys() | RULE_NAMES
    assert {name: missing for name, said in found.items() if (missing := said - known)} == {}


def test_a_missing_sentence_would_be_noticed() -> None:
    source = (
        'def f(x):\n    reason = "new_code" if x == "other_text" else {"route_one": "why_one"}[x]'
    )
    assert codes(source) == {"new_code", "why_one"}


def test_a_code_without_a_sentence_is_shown_in_words() -> None:
    assert sentence("some_new_reason") == "some new reason"


def test_no_sentence_ends_with_a_stop() -> None:
    assert not [code for code, said in SENTENCES.items() if said.endswith(".")]
