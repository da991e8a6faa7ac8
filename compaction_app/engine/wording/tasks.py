"""Which sentences leave something to do: open tasks, and announcements for another time."""

from __future__ import annotations

import re
from typing import Final

from compaction_app.engine.wording.questions import has_any, is_question, plain_quotes

# A sentence without any of these says nothing of the kind: looked for first, because it is quick.
_TASK_HINTS: Final = (
    "todo", "to do", "to-do", "fixme", "tbd", "next", "open", "remain", "follow", "left", "pending", "still", "yet", "remind", "forget", "remember",
    "later", "afterwards", "tomorrow", "after", "then", "waiting", "to be", "outstanding", "action item", "backlog", "unfinished", "need to", "have to",
    "待", "下", "还", "尚", "未", "剩", "后", "忘", "记得", "等", "提醒",
)  # fmt: skip
_PROMISE_HINTS: Final = (
    "'ll",
    "will",
    "going to",
    "plan",
    "intend",
    "我",
    "明天",
    "稍后",
    "回头",
    "下周",
)
_WHEN: Final = re.compile(
    r"\b(?:after|once|when|as soon as|later|tomorrow|next|soon|again|eventually|at some point|before the|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"by (?:monday|tomorrow|the end)|tonight|afterwards|in a (?:bit|moment|minute)|this week)\b",
    re.I,
)
_TASK_EN: Final = re.compile(
    r"(?:\A\W*|\|\s*)(?:todos?|to[- ]do|still to do|fixme|tbd|next|next steps?|still open|open|open (?:question|task|item|issue|point)s?|remaining(?: \w+)?|reminder|"
    r"follow[- ]?ups?|left(?: to do)?|what(?: is|'s) left(?: to do)?|pending|outstanding|backlog|action items?|not done|missing|unfinished|in progress|later)\s*[:：–-]"
    r"|\b(?:we|i|you) still (?:need|have|want) to\b|\bstill (?:needs|has) to be\b|\b(?:have|has) yet to\b"
    r"|\b(?:is|are|was|were|has|have)(?: not|n't)(?: yet)?(?: been)? \w+(?:ed|en|ne|wn|te|elt|ilt|ade|ent|aid|old)(?: \w+){0,3} yet\b"
    r"|\b(?:is|are|has|have) not yet(?: been)? \w+"
    r"|\b(?:is|are) still (?:pending|open|missing|to be done|to be \w+|outstanding|unresolved)\b|\bstill to be \w+\b|\bremains? to be\b|\bto be (?:done|defined|confirmed|decided|continued)\b"
    r"|\bremind me to\b|\b(?:don't|do not) forget to\b|\bremember to\b"
    r"|\A\W*(?:later|afterwards|tomorrow|after that|then)\b,? (?:we|i|you) (?:have to|need to|must|should|will|can)\b|\A\W*waiting for\b",
    re.I,
)
_NEED_EN: Final = re.compile(
    r"\b(?:we|i|you) (?:still )?(?:need|have|want|ought) to\b|\blet's\b"
    r"|\A\W*(?:follow up|check back|circle back|get back|come back|revisit)\b",
    re.I,
)
_NO_TASK: Final = re.compile(
    r"\bnothing (?:left|remains|pending)\b|\bno (?:open|pending)\b|没有剩下|都(?:已经)?(?:做完|完成|处理完)了|已经完成|已全部",
    re.I,
)
_TASK_ZH: Final = re.compile(
    r"(?:\A\W*|\|\s*)(?:待办|待辦|下一步|接下来|后续|未完成)|\A\W*待(?:确认|处理|定|补|修|完成|验证|测试|实现|优化)|还(?:需要?|要|得|差)(?!是)|"
    r"(?<!好)还没有?(?:.{0,12}(?:迁移|处理|完成|做|补|验证|测试|修|改|写|做完|确认|实现|合并|部署|更新))|尚(?:未|待)|未完成|剩下.{0,40}(?:没|未|要|需)|"
    r"(?:稍后|回头|改天|明天|下周)(?:再|我|会|要|需)|(?:之后|以后|后|完)(?:我会|再(?:来)?)(?:处理|把|做|修|改|补|看|删|移|加|更新|部署|合并)?|别忘|不要忘|记得(?:要|把|去)?|提醒我|等.{1,20}(?:后|之后)再"
)
_OPEN_QUESTION: Final = re.compile(
    r"\A\W*(?:(?:still )?open(?: (?:question|point|issue)s?)?|待确认|待定)\s*[:：]", re.I
)
_PROMISE_EN: Final = re.compile(
    r"\b(?:i'll|i will|i am going to|i'm going to|we'll|we will|i(?: am|'m)? plan(?:ning)? to|i intend to)\b",
    re.I,
)
_PROMISE_ZH: Final = re.compile(r"我(?:们)?(?:会|将|来|再)")
_WHEN_ZH: Final = re.compile("之后|以后|稍后|明天|下周|回头|后我|后再|再")


def leaves_to_do(text: str) -> bool:
    """Whether a sentence names something that is still to be done."""
    plain = plain_quotes(text)
    low = plain.lower()
    if not has_any(low, _TASK_HINTS) or _NO_TASK.search(plain):
        return False
    if _OPEN_QUESTION.match(plain):
        return True
    if is_question(plain):
        return False
    if _TASK_EN.search(plain) or _TASK_ZH.search(plain):
        return True
    need = _NEED_EN.search(plain)
    return need is not None and _WHEN.search(plain, need.end()) is not None


def promises(text: str) -> bool:
    """Whether a sentence announces what will be done, and not just now."""
    plain = plain_quotes(text)
    low = plain.lower()
    if not has_any(low, _PROMISE_HINTS) or is_question(plain):
        return False
    if _PROMISE_EN.search(plain):
        return _WHEN.search(plain) is not None
    return _PROMISE_ZH.search(plain) is not None and _WHEN_ZH.search(plain) is not None
