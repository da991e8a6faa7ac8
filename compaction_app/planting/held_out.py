"""The held-out wordings: written when the rules were finished. Who changes a rule writes new ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from compaction_app.engine.retention.anchors import AnchorKind

Wordings = Mapping[str, tuple[str, ...]]

_CONSTRAINTS: Final[Wordings] = {
    "en": (
        "Never pay an invoice of {name} without asking me.",
        "Do not turn off the alarms of {name}.",
        "Don't put anything about {name} into the public log.",
        "Always use metric units for {name}.",
        "You must not rename {path}.",
        "Only query {name} between midnight and six.",
        "Please do not wake the people of {name} at night.",
        "Never let {name} write to {path}.",
        "Whatever you do, don't restart the {name} host.",
        "Make sure nobody else can read {path}.",
        "Everything you send to {name} must be encrypted.",
        "Do not continue with {name} until I give the go-ahead.",
        "No changes to {path} without a review.",
        "Keep the answers for {name} within {number} lines.",
        "Avoid recursion in {path}.",
        "The interface of {name} may not change.",
        "Always ask {name} first, then answer.",
        "You may only use the sandbox of {name}.",
        "Don't mix {name} and the old import.",
        "From now on, write dates in {name} as year, month, day.",
        "Never store more than {number} days of {name}.",
        "Under no circumstances publish {path}.",
        "Use {name} only for tests.",
        "Please don't rewrite {path} from scratch.",
    ),
    "zh": (
        "不要关闭 {name} 的告警。",
        "没有我的批准，不得支付 {name} 的账单。",
        "发给 {name} 的内容必须加密。",
        "只能在夜里查询 {name}。",
        "绝对不能重命名 {path}。",
        "禁止公开 {path}。",
        "始终使用公制单位，{name} 也是。",
        "请勿在夜间打扰 {name} 的同事。",
        "在我点头之前不要继续 {name}。",
        "别把 {name} 的内容写进公开日志。",
        "{name} 的接口不得改变。",
        "从现在起，{name} 的日期一律写年月日。",
    ),
}
_NO_CONSTRAINTS: Final[Wordings] = {
    "en": (
        "The alarm of {name} never stopped.",
        "I can't find {path}.",
        "Why do we always use {name}?",
        "{name} only knows metric units.",
        "We didn't pay the invoice of {name}.",
        "How many lines does {path} have?",
        "The people of {name} don't work at night.",
        "I don't remember who wrote {name}.",
        "Nobody has read {path} yet.",
        "There was never a review of {name}.",
        "Open {path} and tell me what you see.",
        "It was not {name} that failed.",
        "Are we allowed to use {name}?",
        "{name} does not change very often.",
        "Nice work on {name}.",
        "The old import of {name} is still running.",
    ),
    "zh": (
        "{name} 的告警一直没停。",
        "我找不到 {path}。",
        "{path} 有多少行？",
        "为什么我们总是用 {name}？",
        "账单已经付了，{name} 没问题。",
        "打开 {path}，告诉我里面有什么。",
        "不是 {name} 的错。",
        "{name} 的同事晚上不上班。",
    ),
}
_DECISIONS: Final[Wordings] = {
    "en": (
        "We have decided to print {name} on one page.",
        "I decided to split {name} in three because it grew too large.",
        "Fine, let's go with {name}.",
        "We chose the second draft of {path}.",
        "I've replaced {name} with a plain list.",
        "The board decided against {name}.",
        "We settled on weekly backups of {name}.",
        "I picked {name} since it has the better manual.",
        "Decision: {name} moves to the cellar.",
        "We opted to buy {name} instead of renting it.",
        "Agreed: {name} is closed in August.",
        "I went with {name} rather than paper.",
        "We're dropping {name} because nobody reads it.",
        "It was decided to keep {name} for another year.",
    ),
    "zh": (
        "我们决定把 {name} 打印成一页。",
        "我把 {name} 分成三份，这是昨天决定的。",
        "最后选择了第二版 {path}。",
        "决定每周备份 {name}。",
        "因为没人看，我们决定停掉 {name}。",
        "团队最终采用 {name}。",
        "改用 {name}，因为说明书更好。",
        "我选用 {name} 而不是纸。",
    ),
}
_NO_DECISIONS: Final[Wordings] = {
    "en": (
        "Did you decide anything about {name}?",
        "{name} grew because of the holidays.",
        "The manual of {name} is better.",
        "I counted the pages of {name}.",
        "Nothing has been decided about {name}.",
        "The board meets in {name}.",
        "Which draft of {path} is newer?",
        "The backup of {name} is weekly.",
        "{name} is closed in August.",
        "Let me know what you think of {name}.",
    ),
    "zh": (
        "关于 {name} 决定了吗？",
        "{name} 变大是因为假期。",
        "哪一版 {path} 更新？",
        "我数了 {name} 的页数。",
        "{name} 每周备份一次。",
        "董事会在 {name} 开会。",
    ),
}
_PROMISES: Final[Wordings] = {
    "en": (
        "TODO: count the pages of {name}.",
        "Next steps: print {name}, then bind it.",
        "I'll call {name} on Monday.",
        "We still have to buy paper for {name}.",
        "Open question: does {name} fit on one page?",
        "When {name} is printed, I will send you a copy.",
        "- [ ] water the plants of {name}",
        "{path} has not been printed yet.",
        "Remaining: the cover of {name}.",
        "I will bind {name} next week.",
        "Remember to lock {name}.",
        "We'll get back to {name} after the holidays.",
        "The index of {name} is still missing.",
        "Pending: a signature from {name}.",
    ),
    "zh": (
        "待办：数一下 {name} 的页数。",
        "下一步：打印 {name}。",
        "周一之后我会给 {name} 打电话。",
        "还需要给 {name} 买纸。",
        "{path} 尚未打印。",
        "等 {name} 打印完后再装订。",
        "别忘了锁上 {name}。",
        "明天我再看 {name}。",
    ),
}
_NO_PROMISES: Final[Wordings] = {
    "en": (
        "I called {name} on Monday.",
        "{name} has a new cover.",
        "The paper for {name} is white.",
        "{path} was printed twice.",
        "The signature from {name} is here.",
        "{name} fits on one page.",
        "The next page of {name} is empty.",
        "{name} was locked.",
        "Everything is ready for {name}.",
        "Does {name} fit on one page?",
    ),
    "zh": (
        "周一我给 {name} 打了电话。",
        "{name} 的封面是新的。",
        "{path} 打印了两次。",
        "{name} 已经锁上了。",
        "{name} 正好一页。",
        "签名在 {name} 那里。",
    ),
}

STATEMENTS: Final[Mapping[AnchorKind, tuple[Wordings, Wordings]]] = {
    "constraint": (_CONSTRAINTS, _NO_CONSTRAINTS),
    "decision": (_DECISIONS, _NO_DECISIONS),
    "promise": (_PROMISES, _NO_PROMISES),
}

FRAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        "She wrote {x} on the board.", "Could it be {x}?", "First {x}, second something else", "note: {x}", "about {x}!", "the answer ({x}) is known",
        "* [x] {x}", "\t{x}\t", "From: {x}", "It is {x}, as said.", "«{x}»",
    ),
    "zh": (
        "她写的是{x}。", "会不会是{x}？", "首先{x}，其次别的", "备注：{x}", "答案（{x}）已知", "【{x}】", "从{x}开始", "{x}，如前所述",
    ),
    "code": (
        "foo(\"{x}\")", "value='{x}'", "\"{x}\"", "case \"{x}\":", "export V={x}", "<!-- {x} -->", "\t- {x}", "v: [{x}]", "# see {x}.",
    ),
}  # fmt: skip

DECOYS: Final[Mapping[AnchorKind, tuple[str, ...]]] = {
    "path": ("black/white", "mother/father", "A/C", "5/6", "push/pull", "video/mp4", "Nuxt.js", "6/2026", "win/lose", "and/or"),
    "uuid": ("1212-3434-5656-7878", "deadbeef-dead-beef", "2027-03-04-05-06", "gggggggg-gggg-gggg-gggg-gggggggggggg"),
    "hash": ("98765432109", "defaced", "11111111", "#abcdef", "accede", "19991231", "effaced", "1234567"),
    "url": ("https", "the web", "www dot net", "http or ftp", "a link"),
    "host_port": ("8:15", "lib.rs:7", "3:2", "row:77", "till 22:00", "total: 4000", "psalm 23:1", "spec.ts:41"),
    "version": ("9.5", "0.33", "table 3.1.2", "31.12.2026", "v4", "$2.49", "12.5", "3.000.000"),
    "ticket": ("UTF-16", "SHA-384", "ISO-639", "#5", "D-4", "GPT-6", "RSA-2048", "HTTP-2"),
    "quantity": ("in 2031", "part 5", "seat 14", "one of 4", "top 3", "the 9th", "floor 2", "7 or 8"),
}  # fmt: skip

ACTIONS: Final = (
    "Read path", "write path", "edit_file file_path", "delete_file path", "create path", "bash rm {x}", "exec tail -n 3 {x}",
    "bash cat {x}", "shell touch {x}", "exec uptime > {x}", "bash sed -i s/1/2/ {x}", "exec unlink {x}",
)  # fmt: skip
NO_ACTIONS: Final = (
    "ls path",
    "exec ls -l {x}",
    "bash grep -c x {x}",
    "exec realpath {x}",
    "bash sha256sum {x}",
)
ERRORS: Final = (
    "OSError: [Errno 28] {name}", "error: package {name} not found", "fatal: repository '{name}' not found", "FAILED {name}",
    "错误：{name} 被拒绝", "cp: cannot stat '{name}': No such file or directory", "ZeroDivisionError in {name}", "zsh: command not found: {name}",
)  # fmt: skip
NO_ERRORS: Final = (
    "{name} passed",
    "0 problems in {name}",
    "{name} 通过",
    "error handling in {name} is fine",
)
ASKS: Final = (
    "How old is {name}?",
    "Draw {name} as a tree.",
    "{name} 有多大？",
    "Open {name} for me.",
)
NO_ASKS: Final = ("{name} is two years old.", "This is the tree of {name}.", "{name} 有两兆。")
