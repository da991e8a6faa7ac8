"""Where identifiers and actions stand, and what only looks like them: those the rules were written with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from compaction_app.engine.retention.anchors import AnchorKind

FRAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        "The value is {x}.",
        "Look at {x}, please.",
        "It was {x} all along",
        "(see {x})",
        "We got “{x}” from the other team.",
        "Use `{x}` here.",
        "Both **{x}** and the other one work.",
        "{x} is what the monitor shows.",
        "Is {x} correct?",
        "Result: {x}; nothing else changed.",
        "the old one\n{x}\nthe new one",
        "- {x}: checked",
        "| name | {x} |",
        "Compare it with {x}!",
        "It moved from A to {x}, then stopped.",
        "[{x}]",
    ),
    "zh": (
        "数值是{x}。",
        "请看一下 {x}，谢谢。",
        "监控显示{x}，没有别的变化",
        "（参见{x}）",
        "对方给的是“{x}”。",
        "这里用 `{x}`。",
        "结果：{x}；其余不变。",
        "把{x}和旧的对比一下",
        "是{x}吗？",
        "旧的是别的，新的是{x}",
    ),
    "code": (
        'value = "{x}"',
        "result = check('{x}')  # looked up",
        "# {x}",
        '{{"value": "{x}", "ok": true}}',
        "  - value: {x}",
        "$ run --value={x} --quiet",
        "INFO  value={x} done",
        "<td>{x}</td>",
        "return `{x}`;",
        "// was {x} before",
    ),
}
DECOYS: Final[Mapping[AnchorKind, tuple[str, ...]]] = {
    "path": (
        "and/or", "read/write", "TCP/IP", "he/she", "CI/CD", "12/03/2026", "application/json", "3/4", "Node.js",
        "n/a", "client/server", "w/o", "either/or", "Vue.js", "input/output", "/compact", "yes/no", "e.g. this",
        "24/7", "text/html", "his/her", "pass/fail", "km/h", "Next.js", "on/off",
    ),
    "uuid": (
        "1234-5678-9012", "12345678-abcd", "2026-12-01-10-30", "aaaa-bbbb-cccc", "00-11-22-33-44-55",
        "zzzzzzzz-1111-2222-3333-444444444444", "123e4567-e89b-12d3-a456", "call-0001-0002",
    ),
    "hash": (
        "defaced", "12345678", "20261201", "effaced", "decade", "1234567", "#a1b2c3", "call_00160a", "acceded",
        "99999999", "0x7ffd", "facade", "abcdefgh1", "3141592653", "cafe", "beaded",
    ),
    "url": (
        "http:", "example dot com", "https", "the http server", "www", "ftp client", "http/2", "a://b c",
        "url://", "mailto someone",
    ),
    "host_port": (
        "10:30", "12:45:10", "main.py:42", "line:123", "note: 8080", "3:2", "a:1", "http:80", "Genesis 1:31",
        "src.ts:99", "16:9", "ratio 4:3", "width:1024", "at 23:59", "error:1234", "step 2:30",
    ),
    "version": (
        "3.14", "1.5 times", "2.5", "section 3.2.1", "0.75", "12.30", "$3.50", "chapter 4.1", "99.9 percent",
        "1.000.000", "12.03.2026", "v1", "8.5 out of 10", "figure 1.2.3", "10.5",
    ),
    "ticket": (
        "UTF-8", "SHA-256", "ISO-8601", "A-1", "GPT-4", "x-12", "COVID-19", "#1", "AES-256", "B-52", "HTTP-2",
        "utf-16", "RFC-2119", "#a1b", "ISO-8859-1", "UTF-16",
    ),
    "quantity": (
        "2026", "step 3", "item 42", "port 8080", "room 101", "line 17", "7 of 9", "page 12", "2 things",
        "number 5", "1 and 2", "the 3rd", "12 o'clock", "3 ways", "part 2", "50 shades",
    ),
}  # fmt: skip
"""What looks like an identifier of the kind and is none."""


ACTIONS: Final = (
    "read path", "write path", "edit path", "read file_path", "write file_path", "str_replace path", "create_file path",
    "delete_file path", "exec rm {x}", "bash cat {x}", "exec rm -rf {x}", "bash sed -i 's/a/b/' {x}", "exec touch {x}",
    "bash echo hello > {x}", "exec ls && rm {x}", "view path", "multi_edit file_path", "bash head -n 20 {x}", "apply_edit path",
    "exec cd /srv && cat {x} | wc -l", "bash git rm {x}", "exec echo more >> {x}", "exec cp one.txt {x}", "bash tail -f {x}",
)  # fmt: skip
"""A tool with the argument that names the file, or with a command."""

NO_ACTIONS: Final = (
    "ls path", "grep path", "find path", "exec ls {x}", "bash echo rm {x}", "exec test -f {x}", "bash grep -r key {x}",
    "exec stat {x}", "bash du -h {x}", "exec make 2>&1", "bash echo 'cat {x}'", "glob path", "exec which {x}", "bash diff {x} {x}",
)  # fmt: skip
ERRORS: Final = (
    'Traceback (most recent call last):\n  File "run", line 3\nValueError: {name} is not a number',
    "error: cannot open {name} for writing",
    "fatal: not a repository: {name}",
    "/bin/sh: {name}: command not found",
    "npm ERR! missing script: {name}",
    "cat: {name}: No such file or directory",
    "Permission denied ({name})",
    "{name}: connection refused",
    "Error: listen EADDRINUSE, {name} holds the port",
    "TypeError: {name} is not a function\n    at main",
    "building {name}\nFAILED: 3 of 12 steps failed in {name}",
    "Request to {name} timed out",
    "AssertionError: expected {name}",
    "E: Unable to locate package {name}",
    "panic: runtime error in {name}",
    "错误：找不到 {name}",
    "连接 {name} 失败",
    "HTTP 503 from {name}",
)
NO_ERRORS: Final = (
    "0 errors, 0 warnings in {name}",
    "no error in {name}",
    "the docs of {name} say: Error handling",
    "retried {name}, failed 0 times",
    "class ValueError is defined in {name}",
    "{name}: all tests passed",
    "grep found: fatal: {name}",
    "没有错误：{name}",
    "error_log {name};",
    "exit code 0 of {name}",
)
ASKS: Final = (
    "Could you look into the slow {name} page?", "Now the same for {name}, please.", "What does {name} do on Mondays?",
    "Summarise the changes of {name}.", "请检查 {name} 的导出。", "{name} 为什么变慢了？", "Show me the totals of {name}.",
    "Add a column for {name} to the report.", "Compare {name} with last week.", "把 {name} 的结果发给我。",
)  # fmt: skip
NO_ASKS: Final = (
    "I looked into the {name} page.", "The totals of {name} are below.", "{name} 的导出没有问题。", "Here are the changes of {name}.",
    "Compared {name} with last week.", "I added the column for {name}.",
)  # fmt: skip
