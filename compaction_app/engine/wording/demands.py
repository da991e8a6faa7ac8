"""What a sentence of the user binds the agent to: never, always, do not, only, until I say.

Stricter than the cue words of ``cues``, which find what is worth quoting: there a sentence too many costs
a line of a summary, here it would be a false alarm. English and Chinese; questions never count.
"""

from __future__ import annotations

import re
from typing import Final

from compaction_app.engine.wording.questions import is_question, plain_quotes

_BEGINS: Final = r"(?:\A\W*|[,;:.!—–(]\s*|\b(?:please|and|but|so|then|or|also|just|ok|okay|remember|important|note|rule)[,:]?\s+)"
_VERBS: Final = (
    r"use|touch|edit|change|modify|write|read|run|deploy|push|commit|merge|delete|remove|drop|send|call|log|keep|create|add|install|"
    r"answer|reply|respond|work|test|open|restart|rename|move|copy|store|save|cache|retry|enable|disable|import|export|fetch|query|"
    r"update|upgrade|format|ask|talk|speak|post|publish|release|build|start|stop|return|accept|allow|show|print|include|support|do|make|put|set"
)
_NO_ORDER: Final = r"worry|mind|know|think|see|understand|have|believe|remember|recall|care|get me wrong|bother|you"
_STATED: Final = r"problems?|worries|idea|need|way|one|longer|doubt|errors?|output|luck|difference|changes? so far|logs?|such|matter|response|answer|results?"
_DEMANDS_EN: Final = re.compile(
    rf"{_BEGINS}(?:(?:never|always)(?: ever)? (?!seen|been|had|was|were|did|mind\b|failed|fails)[a-z]"
    rf"|(?:do not|don't|do n't)(?: ever| even)? (?!(?:{_NO_ORDER})\b)[a-z]"
    rf"|only (?:ever )?(?:{_VERBS})\b|only\b.{{1,80}}\b(?:may|must|should|shall) be\b"
    r"|(?:make (?:absolutely )?sure|ensure|be sure to|see to it|avoid|refrain from|stay away|keep away|stick to|hands off|no more than|at most|leave|prefer)\b"
    r"|(?:stop|limit|cap)\b.{0,30}\bat (?:most )?\d"
    r"|(?:keep|limit|hold)\b.{1,60}\b(?:under|below|within|at most|as is|as it is|untouched|intact|unchanged|short|private|secret)\b"
    rf"|no (?!(?:{_STATED})\b)(?:(?:new|more|direct|manual|external|breaking|further|other)\b|\w+ing\b|.{{3,80}}\b(?:please|unless|until|without|before|ever)\b)"
    r"|make no\b|nothing\b.{0,60}\b(?:may|must|should|can)\b)"
    r"|\b(?:whatever (?:happens|you do)|under (?:no|any) circumstances|at no time|at all costs|no matter what|from now on|at all times|in any case)\b"
    r"|\b(?:(?:must|shall|should|may|can|has to|have to|will|ought to) (?:never|always|not ever)|mustn't|shouldn't|(?:must|shall|may|should) not|must no longer)\b"
    r"|\byou (?:cannot|can't|are not to|aren't to|are never to)\b"
    r"|\b(?:must|has to|have to|needs? to (?:stay|remain|be kept)|is required to|are required to) (?!have\b|i\b|we\b|be (?:a|the|an|some)\b|be (?:because|due)\b|admit\b|say\b)[a-z]"
    rf"|\b(?:{_VERBS}) (?:\w+ ){{0,3}}only (?:in|on|for|from|with|at|when|if|after|to)\b|\b(?:{_VERBS}) only\b|\b(?:may|can|should|must|shall) only\b|\bonly (?:after|when|if|once|with) (?:i|my)\b"
    r"|\b(?:until|till|unless) i(?:'ve| have)?(?: \w+)? \w|\b(?:only|before|after|once) i(?:'ve| have)? (?:say|said|tell|told|ask|confirm|approve|agree|allow)\w*\b"
    r"|\bwithout (?:asking|my (?:\w+ )?(?:ok|okay|approval|consent|permission|confirmation|agreement)|telling me)\b"
    r"|\b(?:ask|check with|tell|wait for)\b.{0,40}\b(?:before|first|approval|ok|confirmation|go-ahead)\b|\bwait for my\b"
    r"|\b(?:is|are|it's|strictly) (?:forbidden|prohibited|not allowed|off[- ]limits|taboo|mandatory)\b|\bnot allowed to\b"
    r"|\bno (?:\w+ ){1,4}(?:may|must) (?:be|have|contain)\b",
    re.I,
)
_NO_DEMAND_EN: Final = re.compile(
    r"\bmust have (?:been|had|come|gone)\b|\b(?:i|we|they|he|she|it|you) (?:do not|don't|did not|didn't) (?!touch|edit|push)"
    r"|\bhave to (?:say|admit|go|leave)\b|\bi have to\b|\bi must\b|\bi should\b"
    r"|\bmust be (?:joking|kidding|mistaken|dreaming|crazy)\b|\A\W*[\"“][^\"“”]{1,80}[\"”] (?:is|was|means|are)\b"
    r"|\b(?:says|said|told me|claims|thought|heard)\b|\bas far as i (?:know|remember)\b",
    re.I,
)
_CANNOT: Final = r"(?:启动|运行|工作|用了|正常|访问|连接|登录|识别|找到|显示|加载|编译|理解|打开|响应|完成|通过|看到)"
_DEMANDS_ZH: Final = re.compile(
    rf"绝对?不|决不|永远(?:不|要|别)|不要(?!紧)|不许|不准|不得(?!不|了|已|而知|罪)|不可以|不能(?!{_CANNOT})|禁止|严禁|切勿|请勿|切莫|务必|必须|须先|一定要|一律|"
    r"无论如何|任何情况下|(?:\A\W*|[，,；;。]\s*)(?:请)?(?:避免|确保|保持|只(?![有是]|.{0,3}了))|"
    r"只(?:能|许|准|可以|允许|用|要用|使用|读)(?!有|了)|仅(?:限|允许|可)|始终|总是要|请总是|直到我|除非(?:我|得到)|在我(?:确认|同意|说|批准|通知|点头)|"
    r"(?:没有|未经|不经)我(?:的)?(?:同意|允许|许可|确认|批准)|先(?:问|告诉|通知)我|等我(?:确认|同意|说|批准|通知)|从现在(?:开始|起)|以后(?:都|一律)|"
    r"(?<![特区分级个类性识鉴判告辨派])别(?:再|动|碰|改|删|用|把|在|让|给|提交|推送|直接|擅自|随便|乱|写|跑|运行|执行|重启|合并|泄露)"
)


def demands(text: str) -> bool:
    """Whether a sentence of the user binds the agent."""
    plain = plain_quotes(text)
    if is_question(plain):
        return False
    if _DEMANDS_ZH.search(plain):
        return True
    return _DEMANDS_EN.search(plain) is not None and _NO_DEMAND_EN.search(plain) is None
