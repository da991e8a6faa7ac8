"""Which sentences say that something was decided, and why. English and Chinese."""

from __future__ import annotations

import re
from typing import Final

from compaction_app.engine.wording.cues import gives_reason
from compaction_app.engine.wording.questions import has_any, is_question, plain_quotes

# A sentence without any of these says nothing of the kind: looked for first, because it is quick.
_HINTS: Final = (
    "decid", "decision", "chose", "choice", "pick", "opt", "agree", "settl", "resol", "select", "adopt", "instead", "rather than", "with",
    "use", "switch", "replac", "reject", "drop", "mov", "keep", "stay", "stick", "ended up", "ruled", "discard", "retire",
    "选", "决定", "采用", "改", "敲定", "确定", "换", "就用", "定", "代替", "方案", "放弃", "拍板",
)  # fmt: skip
_DONE: Final = r"decided|agreed|settled|resolved|chosen|picked|opted|selected|adopted|rejected|switched|replaced|dropped|discarded|ruled out|moved (?:from|to|over)|gone with|retired"
_WHO: Final = r"(?:i|we|they|the team|everybody|everyone)"
_CHOICE_EN: Final = re.compile(
    rf"\b{_WHO}(?:'ve| have| has)?(?: all| now| finally| just| also| both| then)? (?:{_DONE}|chose|took|went|ended up) ?(?=\S)"
    rf"|\b(?:was|were|been|ok|okay|finally|'s)[ ,]+(?:{_DONE})\b"
    r"|\b(?:let's|let us|we'll|we will|i'll|i will|we're|we are|i'm|i am) (?:(?:go(?:ing)?|stay(?:ing)?|stick(?:ing)?) with|use\b.{1,80}\binstead|us(?:e|ing)\b.{1,80}\b(?:instead of|rather than|because|since)\b)"
    r"|\b(?:we're|we are|i'm|i am) going to (?:(?:go|stay|stick) with|use|keep|drop|take|switch) "
    r"|\b(?:we're|we are|i'm|i am) (?:switching|moving|dropping|replacing|keeping|adopting|retiring) "
    r"|(?:\A\W*|[,;:.!—–(]\s*)(?:agreed|decided|decision|final decision|chosen|resolution)\b\s*[,:;]"
    rf"|\b(?:instead of|rather than)\b.{{1,60}}\b(?:we|i)(?: now| then)? (?:take|use|took|used|keep|kept|go|went|wrote|chose)\b"
    r"|\b(?:decided|chose|opted|agreed) (?:to|on|for|against|that|not to)\b|\bthe choice (?:is|was|fell on)\b",
    re.I,
)
_TOOK: Final = re.compile(r"\b(?:took|went|ended up) (?!with\b|over\b|for\b|using\b)", re.I)
_NO_CHOICE: Final = re.compile(
    r"(?:\b(?:not|never|nobody|no one|none of us|have you|has anyone|if (?:i|we|you|they))|n't)\b(?: \w+){0,2} (?:decided?|chose|chosen|agreed|settled)\b"
    r"|\bundecided\b|\bstill open\b|\bby itself\b|\bto be decided\b|\bneed to decide\b|\b(?:might|could|may) (?:use|choose|pick|go with)\b"
    r"|还没|尚未|没有决定|需要决定|待定|还在讨论|如果|可以选|未定|也许|可能会|或许|正在考虑|是否",
    re.I,
)
_CHOICE_ZH: Final = re.compile(
    r"决定(?!权|性)|(?:最后|最终|我|我们|团队)(?:还是|一致)?(?:选择|选定|选|挑)了|选(?:用|定)|(?:同意|最终|决定)采用|(?:改|换)用|改为(?:使用|用)|敲定|方案定了|(?:我|我们|团队)(?:还是|最后|最终)?(?:选择|选定)|"
    r"(?:因为|由于|我|我们).{1,60}(?:改成|改为|换成|换为)|(?:换成|改成)(?!.{0,30}了).{1,30}(?:标准|因为)|不用.{1,30}了.{0,3}换成|最终方案|确定(?:由|用|采用|使用|为)|就用.{1,40}吧|我们(?:选|用)了|定下来|拍板"
)
_REASON: Final = re.compile(
    r"\b(?:because|since|so that|due to|as (?:it|the|they|that|we|this|a|an)|in order to|otherwise)\b.*|(?:因为|由于|原因是?|以便|否则).*|(?<=[:：,，])\s*(?:it|它|that|this)\b.*",
    re.I | re.S,
)


def decides(text: str) -> bool:
    """Whether a sentence says that something was decided."""
    plain = plain_quotes(text)
    low = plain.lower()
    if not has_any(low, _HINTS) or is_question(plain) or _NO_CHOICE.search(plain):
        return False
    if _CHOICE_ZH.search(plain):
        return True
    found = _CHOICE_EN.search(plain)
    return found is not None and _TOOK.match(plain, _last_word(found)) is None


def _last_word(found: re.Match[str]) -> int:
    """Where the verb of a match begins: "took" and "went" decide something only with some words behind."""
    verb = re.search(r"(?:took|went|ended up) ?\Z", found[0], re.I)
    return found.start() + verb.start() if verb else found.end()


def reason_in(text: str, following: str = "") -> str:
    """Why it was decided: the part of the sentence that says so, or the sentence behind it, or ""."""
    found = _REASON.search(text)
    if found is not None:
        return found[0].strip()
    return following.strip() if following and gives_reason(following) else ""
