"""More of what the rules were written with, after how people word their rules in public repositories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from compaction_app.engine.retention.anchors import AnchorKind

Wordings = Mapping[str, tuple[str, ...]]

_CONSTRAINTS: Final[Wordings] = {
    "en": (
        "Do not ever create commits in {name}.",
        "Never run a command that rewrites the history of {name}.",
        "Do not change branches without my explicit permission.",
        "Don't revert changes in {name} that aren't yours.",
        "Every change to {path} must come with a test.",
        "Avoid adding external dependencies to {name} without discussion.",
        "Always use the package manager instead of editing {path} by hand.",
        "Never commit code that fails the {name} checks.",
        "Please do not reformat {path}.",
        "And don't rename public classes in {name}!",
        "Only touch files under {path}.",
        "You should never print secrets of {name}.",
        "Under no circumstances may {name} be exposed to the internet.",
        "Do not deploy {name} on Fridays.",
        "IMPORTANT: never use the {name} production database for tests.",
        "Make sure that all output of {name} is in UTC.",
        "Ensure backwards compatibility of {name} at all times.",
        "Ask before deleting anything in {path}.",
        "Don't send emails from {name} unless I tell you to.",
        "The budget for {name} must stay below {number} dollars a day.",
        "Keep {path} unchanged.",
        "We have to support old clients of {name}.",
        "It's forbidden to store passwords of {name} in plain text.",
        "Don't do anything with {name} until I have approved the plan.",
        "Use tabs only in {path}.",
        "Never assume that {name} is online.",
        "Do everything in small steps, but never skip the review of {name}.",
        "No emojis in the texts of {name}, please.",
        "Always respond to {name} within the same thread.",
        "The {name} worker shall not write to disk.",
    ),
    "zh": (
        "没有我的许可，不许随意在 {path} 新建文件。",
        "必须使用中文回复 {name} 的问题。",
        "禁止随意修改 {name} 的页面排版。",
        "新增 {name} 接口时必须同步更新文档。",
        "不要执行 {name} 的启动命令。",
        "只修改必要的代码，别动 {name}。",
        "{path} 里的配置绝不能提交。",
        "无论如何都不要删除 {name} 的数据。",
        "务必在 {path} 里注册新的模块。",
        "所有时间一律使用 UTC，包括 {name}。",
        "未经我允许，不得重启 {name}。",
        "请始终保持 {name} 的向后兼容。",
        "任何情况下都不能把 {name} 暴露到公网。",
        "先问我再改 {path}。",
        "严禁使用生产库测试 {name}。",
        "每次提交 {name} 之前一定要跑测试。",
    ),
}
_NO_CONSTRAINTS: Final[Wordings] = {
    "en": (
        "The {name} job never ran last night.",
        "I don't have access to {name}.",
        "We only deploy {name} twice a year, I think.",
        "Can you check why {name} doesn't respond?",
        "It looks like {name} is always three minutes late.",
        "What must happen before {name} can start?",
        "He said he never got the mail from {name}.",
        "Somebody changed {path} yesterday.",
        "The error only shows up in {name}.",
        "I didn't touch {path}.",
        "Is it allowed to restart {name}?",
        "They do not use {name} any more.",
        "Please have a look at {name}.",
        "Run the tests of {name} again.",
        "This doesn't seem to be related to {name}.",
        "I've never been good at naming things like {name}.",
        "Show me the last {number} lines of {path}.",
        "Thanks, the fix for {name} works.",
        "You were right about {name}.",
        "Summarise what {name} does.",
    ),
    "zh": (
        "{name} 昨晚没有运行。",
        "我没有 {name} 的权限。",
        "请帮我看看 {path}。",
        "{name} 为什么不响应？",
        "这个错误只在 {name} 里出现。",
        "再跑一次 {name} 的测试。",
        "我没有动过 {path}。",
        "他们已经不用 {name} 了。",
        "总结一下 {name} 的功能。",
        "修复之后 {name} 正常了，谢谢。",
        "可以重启 {name} 吗？",
        "这好像和 {name} 无关。",
    ),
}
_DECISIONS: Final[Wordings] = {
    "en": (
        "After some back and forth we decided to keep {name}.",
        "I've chosen {name} because it has fewer moving parts.",
        "We went with {name} in the end.",
        "Decision: {name} is written in Rust.",
        "So we agreed on {name} for the queue.",
        "I decided not to cache {name}, since it changes every minute.",
        "We're switching to {name} next week because the license ends.",
        "I picked {name} over the alternatives.",
        "We've settled on one table for {name}.",
        "Let's use {name} instead of a cron job.",
        "I replaced the loop in {path} with {name} because it was too slow.",
        "They decided against {name}.",
        "We will go with {name}, as it is already installed.",
        "The team has agreed to retire {name}.",
        "I rejected the patch for {name} because it breaks the API.",
        "Instead of rewriting {path} I used {name}.",
    ),
    "zh": (
        "讨论后决定保留 {name}。",
        "我选择了 {name}，因为它更简单。",
        "我们最后决定不缓存 {name}。",
        "因为许可证到期，下周改用 {name}。",
        "团队同意采用 {name} 作为队列。",
        "决定用 Rust 重写 {name}。",
        "最终方案：用 {name} 代替定时任务。",
        "由于太慢，{path} 里的循环换成了 {name}。",
        "我们选定了 {name}。",
        "确定使用 {name}。",
    ),
}
_NO_DECISIONS: Final[Wordings] = {
    "en": (
        "Do we need to decide on {name} today?",
        "I can't decide between {name} and the other one.",
        "{name} was slow because of a lock.",
        "Which option do you prefer for {name}?",
        "The parser chooses {name} automatically.",
        "We might use {name} at some point.",
        "Here is the content of {path}.",
        "It returned an empty list instead of {name}.",
        "{name} agrees with the documentation.",
        "I am reading {path} now.",
        "Nobody has decided anything about {name}.",
        "The user can pick {name} from the menu.",
    ),
    "zh": (
        "今天需要决定 {name} 吗？",
        "{name} 很慢，因为有锁。",
        "用户可以从菜单里选 {name}。",
        "我正在读 {path}。",
        "以后也许会用 {name}。",
        "下面是 {path} 的内容。",
        "{name} 还没有定下来。",
        "你更喜欢哪个，{name} 还是另一个？",
    ),
}
_PROMISES: Final[Wordings] = {
    "en": (
        "TODO: handle the empty case in {name}.",
        "Next steps: deploy {name} and watch it.",
        "I'll update {path} once the tests pass.",
        "Still to do: the German texts of {name}.",
        "We still have to clean up {path}.",
        "- [ ] remove the feature flag of {name}",
        "I will look into {name} tomorrow.",
        "The second half of {name} is not implemented yet.",
        "Pending: review of {path}.",
        "Reminder: rotate the {name} key on Monday.",
        "Don't forget to update the changelog of {name}.",
        "After the merge I'll delete {path}.",
        "We need to revisit {name} later.",
        "I'll get back to you about {name} as soon as the job is finished.",
        "Open: does {name} need a lock?",
        "Remaining work: {name} and its tests.",
    ),
    "zh": (
        "待办：处理 {name} 的空值情况。",
        "下一步：部署 {name} 并观察。",
        "测试通过后我会更新 {path}。",
        "还需要清理 {path}。",
        "明天我会看一下 {name}。",
        "{name} 的后半部分尚未实现。",
        "别忘了更新 {name} 的变更日志。",
        "合并之后再删除 {path}。",
        "{name} 还没处理完。",
        "稍后我会给 {name} 补上文档。",
    ),
}
_NO_PROMISES: Final[Wordings] = {
    "en": (
        "I updated {path} and ran the tests.",
        "{name} is implemented and tested.",
        "The next page of {name} lists the users.",
        "Everything in {name} is finished.",
        "The queue {name} has no pending jobs.",
        "I read {path} and found nothing unusual.",
        "{name} opens a file and writes to it.",
        "You asked about {name}.",
        "The remaining time is shown in {name}.",
        "Let me check {path}.",
        "{name} will fail when the disk is full.",
        "Is {name} still open?",
    ),
    "zh": (
        "{path} 已更新，测试也跑过了。",
        "{name} 已经实现。",
        "{name} 的下一页列出了用户。",
        "我看了 {path}，没有异常。",
        "队列 {name} 里没有任务。",
        "让我看一下 {path}。",
        "{name} 已全部完成。",
        "磁盘满的时候 {name} 会失败。",
    ),
}

STATEMENTS: Final[Mapping[AnchorKind, tuple[Wordings, Wordings]]] = {
    "constraint": (_CONSTRAINTS, _NO_CONSTRAINTS),
    "decision": (_DECISIONS, _NO_DECISIONS),
    "promise": (_PROMISES, _NO_PROMISES),
}

FRAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        "Could you check {x} once more?", "I found {x} in the logs", "Everything points to {x}, I think.", "Old: {x}", "{x}",
        "* {x} (from yesterday)", "It says {x}. Is that right?", "We measured {x} and then gave up", "1) {x}", "“{x}”, she wrote",
        "that was {x} … or not", "Please note {x}: it matters", "> {x}", "<{x}>",
    ),
    "zh": (
        "再查一下{x}好吗？", "日志里有{x}", "应该是 {x} 吧。", "以前是{x}，", "「{x}」", "1、{x}", "注意 {x}：很重要", "测到{x}就停了",
        "（{x}）", "其中包括{x}和别的",
    ),
    "code": (
        "x = f(\"{x}\", 1)", "    'name': '{x}',", "{x}", "echo \"{x}\"", "-- {x}", "key: {x}", "[2026-12-01] WARN {x}", "export const a = '{x}';",
        "/* {x} */", "  * {x}",
    ),
}  # fmt: skip

DECOYS: Final[Mapping[AnchorKind, tuple[str, ...]]] = {
    "path": ("up/down", "his/hers", "AC/DC", "true/false", "1/2", "left/right", "I/O", "A/B", "image/png", "10/11/2026", "Express.js", "and/or/not"),
    "uuid": ("1111-2222-3333-4444", "123e4567e89b", "2026-12-01-00-00-00", "abcd-efgh-ijkl-mnop", "00000000-0000-0000"),
    "hash": ("acceded", "1000000", "20260101", "feedback", "deadbee", "0000000", "#ff00aa", "beefed", "4294967296"),
    "url": ("example.com slash page", "http colon", "the https scheme", "a web address", "localhost"),
    "host_port": ("9:30", "1:1", "02:15:00", "app.ts:12", "note: 5432", "score 3:1", "chapter 4:12", "x:80", "index.html:7"),
    "version": ("3.5", "0.1", "7.25 hours", "section 1.2.3", "24.12.2026", "1.000.000", "v2", "$9.99", "2.5 times"),
    "ticket": ("UTF-32", "SHA-1", "ISO-4217", "GPT-5", "#3", "B-2", "HTTP-3", "AES-128", "a-7", "MD-5"),
    "quantity": ("in 2026", "chapter 12", "no 7", "item 3", "4 or 5", "the 2nd", "gate 14", "player 1", "5 of 6", "0 to 1"),
}  # fmt: skip

ACTIONS: Final = (
    "Read file_path", "Write file_path", "Edit file_path", "read_file path", "edit_file path", "delete path", "bash rm {x}",
    "exec cat {x}", "bash touch {x}", "exec cp old.txt {x}", "shell echo 1 > {x}", "bash tail -n 5 {x}", "exec sed -n 1,5p {x}",
    "exec sudo rm -r {x}",
)  # fmt: skip
NO_ACTIONS: Final = (
    "list_dir path",
    "search path",
    "bash ls -la {x}",
    "exec grep -n key {x}",
    "bash find {x}",
    "exec chmod 600 {x}",
)
ERRORS: Final = (
    "KeyError: '{name}'", "ERROR: relation \"{name}\" does not exist", "curl: (7) Failed to connect to {name}", "make: *** [{name}] Error 2",
    "ModuleNotFoundError: No module named '{name}'", "{name}: permission denied", "timeout while waiting for {name}", "错误：{name} 不存在",
    "{name} 无法连接", "rm: cannot remove '{name}': Is a directory",
)  # fmt: skip
NO_ERRORS: Final = (
    "{name}: ok",
    "errors: 0 ({name})",
    "no failures in {name}",
    "{name} 没有报错",
    "see error.log of {name}",
)
ASKS: Final = (
    "Why is {name} red?",
    "Rename {name} to something shorter.",
    "{name} 现在怎么样？",
    "Write a test for {name}.",
    "统计一下 {name} 的行数。",
)
NO_ASKS: Final = ("{name} is red because of a typo.", "I renamed {name}.", "{name} 有三百行。")
