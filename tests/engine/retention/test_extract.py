"""The anchors that messages hold, and where they stand."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from compaction_app.engine.retention.anchors import Anchor
from compaction_app.engine.retention.extract import Extractor
from sessions_app.tokens import javascript as js
from tests.engine.retention.talk import agent, call, result, user


def anchors(*messages: dict[str, Any]) -> list[Anchor]:
    extractor = Extractor()
    return [a for number, message in enumerate(messages) for a in extractor.add(number, message)]


def of_kind(kind: str, *messages: dict[str, Any]) -> list[Anchor]:
    return [anchor for anchor in anchors(*messages) if anchor.kind == kind]


def test_a_constraint_points_at_its_characters() -> None:
    text = "Good morning. Never touch legacy_invoices. Thanks."
    (constraint,) = of_kind("constraint", user(text))
    assert text[constraint.start : constraint.end] == "Never touch legacy_invoices."
    assert (constraint.entry, constraint.block, constraint.voice) == (0, 0, "user")


def test_what_the_agent_says_is_no_constraint_of_the_user() -> None:
    assert of_kind("constraint", agent("Never touch legacy_invoices.")) == []


def test_an_item_below_a_heading_that_demands_is_a_constraint() -> None:
    text = "Never do these:\n- drop the table\n- push to main"
    found = of_kind("constraint", user(text))
    assert [text[a.start : a.end] for a in found[-2:]] == ["drop the table", "push to main"]


def test_code_blocks_are_no_sentences() -> None:
    assert of_kind("constraint", user("```\nnever touch this\n```")) == []


def test_a_decision_keeps_its_reason() -> None:
    (decision,) = of_kind(
        "decision", agent("I chose replication. Because a dump locks the tables.")
    )
    assert decision.detail == "Because a dump locks the tables."


def test_an_announcement_before_a_tool_call_is_no_promise() -> None:
    busy = agent("I'll fix it after the release.")
    busy["content"].append({"type": "toolCall", "id": "c", "name": "read", "arguments": {}})
    assert of_kind("promise", busy) == []
    assert len(of_kind("promise", agent("I'll fix it after the release."))) == 1


def test_a_file_action_counts_when_it_worked() -> None:
    done = of_kind("file_action", call("write", path="src/a.py"), result("ok"))
    assert [(a.text, a.detail, a.entry) for a in done] == [("src/a.py", "created", 0)]
    assert of_kind("file_action", call("write", path="src/a.py"), result("no", failed=True)) == []
    assert of_kind("file_action", call("write", path="src/a.py")) == []


def test_a_file_action_points_into_the_arguments_as_json() -> None:
    arguments = {"note": 'a "quoted" word', "path": "src/a.py"}
    (action,) = of_kind("file_action", call("edit", **arguments), result("ok"))
    assert js.json_text(arguments)[action.start : action.end] == "src/a.py"


def test_commands_of_a_shell_act_on_files() -> None:
    command = "cd /srv && rm -f old.log; echo x > new.txt; sed -i s/a/b/ conf.ini; cat notes.md"
    found = of_kind("file_action", call("exec", command=command), result("ok"))
    assert {(a.text, a.detail) for a in found} == {
        ("old.log", "deleted"), ("new.txt", "created"), ("conf.ini", "changed"), ("notes.md", "read"),
    }  # fmt: skip


def test_an_error_is_resolved_when_the_same_call_works() -> None:
    extractor = Extractor()
    messages = [
        call("exec", "c1", command="make"),
        result("make\nerror: no rule", "c1", failed=True),
        call("exec", "c2", command="make"),
        result("done", "c2"),
    ]
    found = [a for number, m in enumerate(messages) for a in extractor.add(number, m)]
    assert [(a.kind, a.text) for a in found if a.kind == "error"] == [("error", "error: no rule")]
    assert extractor.resolved == {1: 3}


def test_an_exit_code_is_a_failure_too() -> None:
    assert of_kind("error", call("exec", command="x"), result("boom", details={"exitCode": 2}))
    assert not of_kind("error", call("exec", command="x"), result("boom", details={"exitCode": 0}))


def test_the_text_of_a_user_is_an_ask() -> None:
    (ask,) = of_kind("ask", user("Look at the report."))
    assert ask.text == "Look at the report."
    assert of_kind("ask", agent("Here it is."), result("text")) == []


def test_healthy_talk_holds_nothing_but_asks() -> None:
    talk = (user("Good morning!"), agent("Good morning. How are you?"), user("早上好，一切正常。"))
    assert {anchor.kind for anchor in anchors(*talk)} == {"ask"}


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(
                ["user", "assistant", "toolResult", "custom", "bashExecution", 7]
            ),
            "content": _VALUES
            | st.lists(
                st.fixed_dictionaries(
                    {
                        "type": st.sampled_from(["text", "toolCall", "image", 3]),
                        "text": _VALUES,
                        "name": _VALUES,
                        "id": _VALUES,
                        "arguments": _VALUES,
                    }
                ),
                max_size=3,
            ),
            "toolCallId": _VALUES,
            "isError": _VALUES,
            "details": _VALUES,
        }
    )
)
def test_whatever_a_message_holds_is_read(message: dict[str, Any]) -> None:
    for anchor in Extractor().add(3, message):
        assert anchor.entry == 3 and 0 <= anchor.start <= anchor.end
