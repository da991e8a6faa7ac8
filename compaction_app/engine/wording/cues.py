"""By which words a sentence or a heading shows what it is: a constraint, a decision, a task.

Words of eleven languages. A sentence without any of them is left to its place in the conversation.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Kind = Literal[
    "goal",
    "constraints",
    "decisions",
    "done",
    "todos",
    "failures",
    "asks",
    "identifiers",
    "context",
]

_CONSTRAINT = (
    r"\b(?:must(?:n't)?|never|always|do not|don't|not allowed|forbidden|shall not|may not|only use|"
    r"use only|required?|requirements?|constraints?|at all costs|no more than|at most|make sure|ensure|"
    r"prefer(?:s|red|ably)?|avoid|be careful|keep in mind|"
    r"nunca|siempre|obligatorio|prohibido|no debes?|debe(?:s|n)?|"
    r"nunca|sempre|obrigatório|proibido|não deve[ms]?|deve[ms]?|"
    r"jamais|toujours|obligatoire|interdit|il faut|ne doit pas|doit|doivent|"
    r"niemals|nie|immer|verboten|darf nicht|dürfen nicht|muss|müssen|nur mit|"
    r"никогда|всегда|нельзя|обязательно|запрещено|должен|должны|"
    r"mai|sempre|vietato|obbligatorio|deve|devono)\b"
    r"|必须|不要|不得|不能|不可|禁止|务必|只能|只用|一定要|始终|永远|请勿|切勿|严禁|要求|约束|限制|注意"
    r"|必須|不要|務必|請勿|嚴禁"
    r"|必ず|絶対に|してはいけ|しないで|するな|禁止|のみ|べき"
    r"|반드시|절대|금지|하지\s?마|해야\s?(?:합니다|한다|해)|만 사용"
    r"|يجب|لا تقم|ممنوع|دائما|دائمًا|أبدا|أبدًا"
)
_DECISION = (
    r"\b(?:decided?|decision|chose|chosen|choose|opt(?:ed)? for|agreed|settled on|go(?:ing)? with|"
    r"we(?:'ll| will) use|let's use|i(?:'ll| will) use|instead of|rather than|switch(?:ed|ing)? to|"
    r"replaced? .{1,40} with|root cause|turns out|because|therefore|rationale|confirmed|rejected|"
    r"decidi(?:mos|do|ó)|decisión|elegimos|en lugar de|porque|acordamos|"
    r"decidimos|decisão|escolhemos|em vez de|"
    r"décid(?:é|ons|er)|décision|choisi|plutôt que|parce que|"
    r"entschieden|entscheidung|beschlossen|gewählt|statt|stattdessen|weil|"
    r"решили|решено|решение|выбрали|вместо|потому что|"
    r"deciso|decisione|scelto|invece di|perché)\b"
    r"|决定|決定|选择|选用|采用|改用|改为|敲定|确定|同意|方案|因为|因此|由于|原因"
    r"|選択|採用|することにし|に変更|なぜなら|ため、"
    r"|결정|선택|채택|대신|때문에"
    r"|قررنا|قرار|اخترنا|بدلا من|بدلًا من|لأن"
)
_TASK = (
    r"\b(?:todo|fixme|to[- ]do|next steps?|remaining|still (?:need|have|open|missing)|not yet|pending|"
    r"follow[- ]?up|needs? to|have to|will need|later|remember to|don't forget|open questions?|"
    r"waiting for|blocked|unresolved|outstanding|backlog|in progress|(?<![/.])\d{1,4}/\d{1,4}(?![/.\d])|"
    r"pendiente|falta|queda por|próximo paso|más tarde|"
    r"pendente|falta|próximo passo|mais tarde|"
    r"à faire|reste à|prochaine étape|en attente|plus tard|"
    r"noch zu tun|offen|nächster schritt|ausstehend|später|"
    r"осталось|следующий шаг|нужно|позже|"
    r"da fare|rimane|prossimo passo|in attesa)\b"
    r"|待办|待辦|接下来|接下來|下一步|还需|还要|尚未|未完成|剩余|剩下|稍后|之后再|待处理|待确认|进行中"
    r"|残り|次に|今後|未完了|後で|まだ"
    r"|할 일|다음 단계|남은|나중에|아직"
    r"|لاحقا|لاحقًا|الخطوة التالية|متبقي"
)
_PROMISE = (
    r"\b(?:i(?:'ll| will)|i am going to|i'm going to|we(?:'ll| will)|let me|"
    r"voy a|haré|vou|farei|je vais|ich werde|я (?:буду|сделаю)|farò)\b"
    r"|我会|我会在|我将|我來|我来|我先|します。|하겠습니다|سأقوم"
)
_REASON = (
    r"\A(?:(?:this|that|it) is because|because|since|reason|the reason|so that|"
    r"porque|parce que|weil|grund|потому|perché)\b|\A(?:因为|由于|原因|理由|なぜなら|왜냐하면|لأن)"
)
_HEADINGS: tuple[tuple[Kind, str], ...] = (
    ("identifiers", r"identifiers?|ids\b|file paths|标识|識別"),
    ("constraints", r"constraints?|rules?|preferences?|requirements?|guidelines|约束|规则|限制|偏好|制約"),
    ("asks", r"user asks?|pending .*(?:asks?|requests?)|original request|in progress|用户请求|进行中"),
    ("todos", r"todos?|to[- ]do|next steps?|remaining|open (?:items|questions)|待办|下一步|次の"),
    ("failures", r"blocked|blockers?|tool failures|阻塞"),
    ("decisions", r"decisions?|决定|决策|決定"),
    ("done", r"\bdone\b|progress|completed|已完成|完成|進捗"),
    ("goal", r"\bgoals?\b|objective|目标|目標"),
    ("context", r"context|background|背景|上下文"),
)  # fmt: skip

_FLAGS = re.IGNORECASE
CONSTRAINT = re.compile(_CONSTRAINT, _FLAGS)
DECISION = re.compile(_DECISION, _FLAGS)
TASK = re.compile(_TASK, _FLAGS)
PROMISE = re.compile(_PROMISE, _FLAGS)
REASON = re.compile(_REASON, _FLAGS)
HEADINGS = tuple((kind, re.compile(words, _FLAGS)) for kind, words in _HEADINGS)
_OF_USER: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("constraints", CONSTRAINT),
    ("decisions", DECISION),
    ("todos", TASK),
)
_OF_AGENT: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("decisions", DECISION),
    ("todos", TASK),
    ("constraints", CONSTRAINT),
)


@lru_cache(maxsize=2_000)
def kind_of_heading(heading: str) -> Kind | None:
    """What stands below a heading; none for one that does not say."""
    return next((kind for kind, words in HEADINGS if words.search(heading)), None)


def kind_of_sentence(text: str, *, from_user: bool) -> Kind | None:
    """What a sentence is. What the user demands is looked for first, then what the agent decided."""
    order = _OF_USER if from_user else _OF_AGENT
    plain = text.replace("’", "'")
    return next((kind for kind, words in order if words.search(plain)), None)


def is_promise(text: str) -> bool:
    return PROMISE.search(text.replace("’", "'")) is not None


def gives_reason(text: str) -> bool:
    """Whether a sentence begins by saying why the one before is so."""
    return REASON.search(text) is not None
