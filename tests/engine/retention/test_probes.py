"""Questions made from anchors do not tell their answers, and answers are judged by the anchors."""

from __future__ import annotations

import pytest

from compaction_app.engine.retention.probes import (
    ASKED,
    Question,
    prompt_of,
    questions_of,
    recall_of,
    recalled,
)
from compaction_app.engine.retention.retention import retention
from tests.engine.retention.talk import agent, user

SAID = (
    user("Never touch the legacy_invoices table. The ticket of the migration is OPS-4412."),
    agent("The build that failed was 9fceb02ab1c2, on host db-2.example.com:5432 in the evening."),
    user("工单是 OPS-9911，超时改成 30秒，不要动 config.yaml。"),
)


def questions(most: int = 20, summary: str = "") -> list[Question]:
    fates = retention(list(enumerate(SAID)), summary).fates
    return questions_of(fates, lambda entry: SAID[entry], most)


def answers(made: list[Question], *, wrong: frozenset[int] = frozenset()) -> str:
    return "\n".join(
        f"{n}. {'unknown' if n in wrong else q.fate.anchor.text}" for n, q in enumerate(made, 1)
    )


def test_no_question_tells_an_answer() -> None:
    made = questions()
    names = {q.fate.anchor.text for q in made}
    assert {"OPS-4412", "9fceb02ab1c2", "db-2.example.com:5432"} <= names
    assert "OPS-9911" not in names  # it stands in a demand that is asked for as a whole
    assert not any(name in q.text for q in made for name in names)
    blanks = [q.text for q in made if q.fate.anchor.kind == "ticket"]
    assert blanks and all(text.count(ASKED) == 2 for text in blanks)  # named, and where it stood


def test_a_list_of_names_is_no_question() -> None:
    said = user("Please look at a/one.py, a/two.py, a/three.py and a/four.py tomorrow morning.")
    fates = retention([(0, said)], "").fates
    assert questions_of(fates, lambda entry: said) == []


def test_the_same_compaction_gives_the_same_questions_of_all_kinds() -> None:
    assert [q.text for q in questions()] == [q.text for q in questions()]
    assert {q.fate.anchor.kind for q in questions(4)} == {
        "constraint",
        "hash",
        "host_port",
        "ticket",
    }


def test_right_answers_are_recalled_in_any_form_and_others_not() -> None:
    made = questions()
    assert recalled(made, answers(made)) == [True] * len(made)
    assert recalled(made, "\n".join(f"**{n})** {q.fate.anchor.text.upper()}" for n, q in enumerate(made, 1)))  # fmt: skip
    some = recalled(made, answers(made, wrong=frozenset({2})))
    assert some == [True, False, *[True] * (len(made) - 2)]
    assert recalled(made, "I do not know.") == [False] * len(made)
    assert recalled(made, "") == [False] * len(made)


def test_an_answer_counts_only_for_its_own_number() -> None:
    made = questions()
    shifted = "\n".join(f"{n + 1}. {q.fate.anchor.text}" for n, q in enumerate(made, 1))
    assert sum(recalled(made, shifted)) <= 1


def test_the_recall_has_its_spread_and_parts() -> None:
    made = questions(summary="The ticket is OPS-4412.")
    whole, none = [True] * len(made), [False] * len(made)
    told = recall_of(made, [whole, none, whole])
    assert told["all"].mean == pytest.approx(2 / 3)
    assert told["all"].spread == pytest.approx((2 / 9) ** 0.5)
    assert told["still in the context by search"].questions == 1
    assert told["lost by search"].questions == len(made) - 1


def test_what_stands_alone_is_not_asked_for() -> None:
    said = user("OPS-4412")
    fates = retention([(0, said)], "").fates
    assert questions_of(fates, lambda entry: said) == []


def test_the_prompt_has_what_the_model_may_know() -> None:
    text = prompt_of("the summary", "the tail", questions(2))
    assert (
        text.index("the summary") < text.index("the tail") < text.index("1. ") < text.index("\n2. ")
    )
