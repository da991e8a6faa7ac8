"""What binds the agent, what was decided, and what is left to do."""

from __future__ import annotations

import pytest

from compaction_app.engine.wording.decisions import decides, reason_in
from compaction_app.engine.wording.demands import demands
from compaction_app.engine.wording.tasks import leaves_to_do, promises


@pytest.mark.parametrize(
    "text",
    [
        "Never touch legacy_invoices.",
        "Please don't deploy until I say so.",
        "Always answer in German.",
        "Only use the staging database.",
        "You must not log tokens.",
        "不要修改生产库。",
        "没有我的同意，不许合并。",
        "在我确认之前不要部署。",
        "Don’t push yet.",
    ],
)
def test_a_demand_of_the_user(text: str) -> None:
    assert demands(text)


@pytest.mark.parametrize(
    "text",
    [
        "I have never seen this.",
        "It always fails.",
        "I don't know.",
        "Why does it never finish?",
        "Must I install it?",
        "程序不能启动。",
        "能不能看一下？",
        "不要紧。",
        "特别好。",
        "Thanks!",
    ],
)
def test_no_demand(text: str) -> None:
    assert not demands(text)


def test_a_decision_with_its_reason() -> None:
    assert decides("We decided to use Redis because the file queue loses messages.")
    assert reason_in("We decided to use Redis because it is quick.") == "because it is quick."
    assert reason_in("I chose Redis.", "Because it is quick.") == "Because it is quick."
    assert reason_in("I chose Redis.", "The tests pass.") == ""
    assert decides("最后选择了 Redis。") and not decides("还没有决定。")
    assert not decides("Have you decided?") and not decides("It fails because of the port.")


def test_what_is_left_to_do() -> None:
    assert leaves_to_do("TODO: add the index") and leaves_to_do("下一步：迁移数据")
    assert leaves_to_do("We still need to migrate it.")
    assert not leaves_to_do("There is nothing left to do.")
    assert not leaves_to_do("The next token is a comma.")


def test_a_promise_names_another_time() -> None:
    assert promises("I'll fix the docs after the release.")
    assert not promises("I'll read the file.")
    assert not promises("Will it be faster after the release?")


@pytest.mark.parametrize(
    "text",
    ["He must be joking.", '"Don\'t panic" is the motto.', "不得不说很好。", "原因不得而知。"],
)
def test_what_only_sounds_like_a_demand(text: str) -> None:
    assert not demands(text)


def test_a_row_of_a_table_can_leave_something_to_do() -> None:
    assert leaves_to_do("| 2 | TODO: write docs |")
    assert not leaves_to_do("| 1 | docs | done |")
