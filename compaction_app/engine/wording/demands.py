"""What a sentence binds anybody to: a demand of the user, a decision taken, something left to do.

Stricter than the cue words of ``cues``, which find what is worth quoting: there a sentence too many costs
a line of a summary, here it would be a false alarm. English and Chinese; questions never count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from compaction_app.engine.wording.cues import gives_reason

_QUESTION = re.compile(
    r"[?？]['\")”’\]]*\s*\Z|[吗么呢][。.!！]?\s*\Z|能不能|是不是|要不要|可不可以|有没有|为什么|怎么"
)
_ASKS: Final = re.compile(
    r"\A\W*(?:why|how|what|which|who|when|where|do (?:you|we|i|they)|does|did|is|are|was|were|could (?:you|we|i)|"
    r"can (?:you|we|i)|would|have you|has|must i|should (?:i|we|you|it))\b",
    re.I,
)
_SPOKEN_OF: Final = re.compile(
    r"\b(?:says|said|told me|claims|thought|heard)\b|\bas far as i (?:know|remember)\b",
    re.I,
)
_BEGINS: Final = r"(?:\A\W*|[,;:.!—–(]\s*|\b(?:please|and|but|so|then|or|also|just|ok|okay|remember|important|note|rule)[,:]?\s+)"
_VERBS: Final = (
    r"use|touch|edit|change|modify|write|read|run|deploy|push|commit|merge|delete|remove|drop|send|call|log|keep|create|add|install|"
    r"answer|reply|respond|work|test|open|restart|rename|move|copy|store|save|cache|retry|enable|disable|import|export|fetch|query|"
    r"update|upgrade|format|ask|talk|speak|post|publish|release|build|start|stop|return|accept|allow|show|print|include|support|do|make|put|set"
)
_NO_ORDER: Final = r"worry|mind|know|think|see|understand|have|believe|remember|recall|care|get me wrong|bother|you"
_DEMANDS_EN: Final = re.compile(
    rf"{_BEGINS}(?:never|always)(?: ever)? (?!seen|been|had|was|were|did|mind\b|failed|fails)[a-z]"
    rf"|{_BEGINS}(?:do not|don't|do n't)(?: ever| even)? (?!(?:{_NO_ORDER})\b)[a-z]"
    r"|\b(?:whatever (?:happens|you do)|under (?:no|any) circumstances|at no time|at all costs|no matter what|from now on|at all times)\b"
    r"|\b(?:must|shall|should|may|can|has to|have to|will|ought to) (?:never|always|not ever)\b"
    r"|\b(?:must not|mustn't|shall not|may not|should not|shouldn't|must no longer)\b"
    r"|\b(?:must|has to|have to|needs to stay|need to stay) (?!have\b|i\b|we\b|be (?:a|the|an|some)\b|be (?:because|due)\b|admit\b|say\b)[a-z]"
    rf"|{_BEGINS}only (?:ever )?(?:{_VERBS})\b"
    rf"|\b(?:{_VERBS}) (?:to |from |in |on |with )?only\b|\b(?:may|can|should|must|shall) only\b|\bonly (?:after|when|if|once|with) (?:i|my)\b"
    r"|\b(?:only|until|till|unless|before|after|once) i (?:say|tell|ask|confirm|approve|agree|give|allow|let you|have (?:said|approved|confirmed))\b"
    r"|\bonly when i ask\b|\bwithout (?:asking me|my (?:ok|okay|approval|consent|permission|confirmation|agreement)|telling me)\b"
    r"|\b(?:ask|check with|tell|wait for) (?:me|my)\b.{0,40}\b(?:before|first|approval|ok|confirmation|go-ahead)\b|\bwait for my\b"
    r"|\b(?:is|are|it's|it is|strictly) (?:forbidden|prohibited|not allowed|off limits|off-limits|taboo)\b|\bnot allowed to\b"
    rf"|{_BEGINS}(?:make sure|ensure|be sure to|see to it|avoid|refrain from|stay away|keep away|stick to|hands off|no new|no more than|at most|leave)\b"
    rf"|{_BEGINS}(?:stop|limit|cap)\b.{{0,30}}\bat (?:most )?\d"
    rf"|{_BEGINS}(?:keep|limit|hold)\b.{{1,60}}\b(?:under|below|within|at most|as is|as it is|untouched|intact|unchanged)\b"
    rf"|{_BEGINS}make no\b|{_BEGINS}nothing\b.{{0,60}}\b(?:may|must|should|can)\b"
    r"|\bno (?:\w+ ){1,4}(?:may|must) (?:be|have|contain)\b",
    re.I,
)
_NO_DEMAND_EN: Final = re.compile(
    r"\bmust have (?:been|had|come|gone)\b|\b(?:i|we|they|he|she|it|you) (?:do not|don't|did not|didn't) (?!touch|edit|push)"
    r"|\bhave to (?:say|admit|go|leave)\b|\bi have to\b|\bi must\b|\bi should\b",
    re.I,
)
_NO_NEGATION: Final = r"(?:启动|运行|工作|用了|正常|访问|连接|登录|识别|找到|显示|加载|编译|理解|打开|响应|完成|通过|看到)"
_DEMANDS_ZH: Final = re.compile(
    rf"绝对?不|决不|永远(?:不|要|别)|不要(?!紧)|不许|不准|不得|不可以|不能(?!{_NO_NEGATION})|禁止|严禁|切勿|请勿|切莫|务必|必须|一定要|一律|"
    r"只(?:能|许|准|可以|允许|用|要用|使用|读)(?!有)|仅(?:限|允许|可)|始终|总是要|请总是|直到我|除非我|在我(?:确认|同意|说|批准|通知|点头)|"
    r"(?:没有|未经|不经)我(?:的)?(?:同意|允许|许可|确认|批准)|先(?:问|告诉|通知)我|等我(?:确认|同意|说|批准|通知)|从现在(?:开始|起)|以后(?:都|一律)|"
    r"(?<![特区分级个类性识鉴判告辨派])别(?:再|动|碰|改|删|用|把|在|让|给|提交|推送|直接|擅自|随便|乱|写|跑|运行|执行|重启|合并|泄露)"
)
_CHOICE_EN: Final = re.compile(
    r"\b(?:(?:i|we|they|the team|it was|was|have|has|'ve|'s|ok|okay|finally)[ ,]+(?:all |now |finally |just |also )?(?:decided|agreed|settled|resolved)\b)"
    r"|\b(?:i|we|they|the team)(?: have| has|'ve)?(?: now| finally| also)? (?:chose|picked|opted|went with|rejected|moved (?:from|to)|switched|replaced|settled on|dropped)\b"
    r"|\b(?:let's|let us|we'll|we will|i'll|i will|we're|we are|i'm|i am) (?:go(?:ing)? with|use\b.{1,80}\binstead)\b"
    rf"|{_BEGINS}(?:agreed|decided|decision|final decision)\b\s*[,:;]"
    r"|\b(?:we|i)(?:'ll| will) use\b.{1,80}\b(?:instead of|rather than|because|since)\b"
    r"|\b(?:instead of|rather than)\b.{1,60}\b(?:we|i) (?:take|use|took|keep|go|went)\b"
    r"|\b(?:decided|chose|opted|agreed) (?:to|on|for|against|that)\b",
    re.I,
)
_NO_CHOICE: Final = re.compile(
    r"\b(?:not|n't|never|have you|has anyone|not yet|if (?:i|we|you|they)) (?:yet )?(?:decided|chose|chosen|agreed|settled)\b|\bstill open\b|\bby itself\b"
    r"|还没(?:有)?决定|尚未决定|还在讨论|如果(?:采用|选择|使用|改用)|可以选择|未定",
    re.I,
)
_CHOICE_ZH: Final = re.compile(
    r"决定(?!权|性)|(?:最后|最终|我|我们|团队)(?:还是)?(?:选择|选)了|选用|(?:同意|最终)采用|改用|改为(?:使用|用)?|敲定|方案定了|确定(?:由|用|采用|使用|为)|换成了?|"
    r"就用.{1,40}吧|我们(?:选|用)了|定下来"
)
_TASK_EN: Final = re.compile(
    r"\A\W*(?:todo|to do|fixme|next steps?|still open|open (?:question|task|item)s?|remaining|follow[- ]?up|left to do|what is left(?: to do)?|pending)\b\s*[:：-]"
    r"|\b(?:we|i|you) still (?:need|have) to\b|\bstill (?:needs|has) to be\b|\bhave yet to\b|\bhas yet to\b|\b(?:is|are) not (?:yet )?(?:done|finished|complete|implemented)(?: yet)\b"
    r"|\b(?:is|are) still (?:pending|open|missing|to be done|outstanding|unresolved)\b|\bremains? to be\b|\bremind me to\b|\bdon't forget to\b|\bdo not forget to\b|\bremember to\b"
    r"|\A\W*(?:later|afterwards|tomorrow|after that|then)\b,? (?:we|i|you) (?:have to|need to|must|should|will|can)\b|\A\W*waiting for\b"
    r"|\bwhat(?:'s| is) left\b.{0,20}:",
    re.I,
)
_NO_TASK: Final = re.compile(
    r"\bnothing (?:left|remains)\b|\bno open\b|没有剩下|都(?:已经)?(?:做完|完成|处理完)了|已经完成",
    re.I,
)
_TASK_ZH: Final = re.compile(
    r"\A\W*(?:待办|待辦|下一步|待确认|待处理|接下来)|还(?:需要|需|要|没有?)(?:.{0,12}(?:迁移|处理|完成|做|补|验证|测试|修|改|写|做完|确认))|尚未|未完成|剩下.{0,40}(?:没|未|要|需)|"
    r"稍后(?:再|我|会)|(?:之后|以后|后|完)(?:我会|再(?:来)?)(?:处理|把|做|修|改|补|看|删|移|加)|别忘了|不要忘了|记得(?:要|把|去)?|等.{1,20}(?:后|之后)再"
)
_PROMISE_EN: Final = re.compile(
    r"\b(?:i'll|i will|i am going to|i'm going to|we'll|we will)\b.{2,120}", re.I
)
_WHEN: Final = re.compile(
    r"\b(?:after|once|when|as soon as|later|tomorrow|next|soon|on monday|on (?:tues|wednes|thurs|fri)day|by (?:monday|tomorrow|the end)|tonight|afterwards)\b",
    re.I,
)
_PROMISE_ZH: Final = re.compile(r"我(?:们)?(?:会|将|来|再)|明天我|稍后我")
_REASON: Final = re.compile(
    r"\b(?:because|since|so that|due to|as (?:it|the|they|that|we|this|a|an)|in order to|otherwise)\b.*|(?:因为|由于|原因是?|以便|否则).*|(?<=[:：,，])\s*(?:it|它|that|this)\b.*",
    re.I | re.S,
)


# A sentence without any of these says nothing of the kind: looked for first, because it is quick.
_CHOICE_HINTS: Final = (
    "decid", "decision", "chose", "pick", "opted", "agree", "settl", "resolv", "instead", "rather than", "with", "use", "switch",
    "replac", "reject", "drop", "moved", "选", "决定", "采用", "改", "敲定", "确定", "换", "就用", "定",
)  # fmt: skip
_TASK_HINTS: Final = (
    "todo", "to do", "fixme", "next", "open", "remain", "follow", "left", "pending", "still", "yet", "remind", "forget", "remember",
    "later", "afterwards", "tomorrow", "after", "then", "waiting", "待", "下", "还", "尚未", "未", "剩", "后", "忘", "记得", "等",
)  # fmt: skip
_PROMISE_HINTS: Final = ("'ll", "will", "going to", "我", "明天", "稍后")


def demands(text: str) -> bool:
    """Whether a sentence of the user binds the agent: never, always, do not, only, until I say."""
    plain = _plain(text)
    if _is_question(plain):
        return False
    if _DEMANDS_ZH.search(plain):
        return True
    return _DEMANDS_EN.search(plain) is not None and not (
        _NO_DEMAND_EN.search(plain) or _SPOKEN_OF.search(plain)
    )


def decides(text: str) -> bool:
    """Whether a sentence says that something was decided."""
    plain = _plain(text)
    if not _has_any(_CHOICE_HINTS, plain) or _is_question(plain) or _NO_CHOICE.search(plain):
        return False
    return bool(_CHOICE_EN.search(plain) or _CHOICE_ZH.search(plain))


def leaves_to_do(text: str) -> bool:
    """Whether a sentence names something that is still to be done."""
    plain = _plain(text)
    if not _has_any(_TASK_HINTS, plain) or _NO_TASK.search(plain):
        return False
    if re.match(r"\W*(?:open question|待确认)", plain, re.I):
        return True
    return not _is_question(plain) and bool(_TASK_EN.search(plain) or _TASK_ZH.search(plain))


def promises(text: str) -> bool:
    """Whether a sentence of the agent announces what it will do, and not just now."""
    plain = _plain(text)
    if not _has_any(_PROMISE_HINTS, plain) or _is_question(plain):
        return False
    said = _PROMISE_EN.search(plain)
    if said is not None:
        return _WHEN.search(said[0]) is not None
    return _PROMISE_ZH.search(plain) is not None and bool(
        re.search("之后|以后|稍后|明天|后再|再", plain)
    )


def reason_in(text: str, following: str = "") -> str:
    """Why it was decided: the part of the sentence that says so, or the sentence behind it, or ""."""
    found = _REASON.search(text)
    if found is not None:
        return found[0].strip()
    return following.strip() if following and gives_reason(following) else ""


def _is_question(plain: str) -> bool:
    return _QUESTION.search(plain) is not None or (
        _ASKS.match(plain) is not None and not plain.rstrip().endswith((".", "!", "。"))
    )


def _has_any(hints: Sequence[str], plain: str) -> bool:
    low = plain.lower()
    return any(hint in low for hint in hints)


def _plain(text: str) -> str:
    return text.replace("’", "'")
