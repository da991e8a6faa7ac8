"""Texts around identifiers, tool calls, errors and asks: more of what the rules were written with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from compaction_app.engine.retention.anchors import AnchorKind

FRAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        "The ticket mentions {x} twice.", "Hm, {x}?", "What about {x}, then", "as of today: {x}", "both A and {x} are fine", "{x} – that was it",
        "Please copy {x}.", "I would say {x} or so.", "+ {x}", "({x}, roughly)", "‘{x}’", "|{x}|",
    ),
    "zh": (
        "工单里提到了{x}。", "那{x}呢？", "截至今天：{x}", "就是{x}！", "大概{x}左右", "《{x}》", "比如{x}、还有别的",
    ),
    "code": (
        "let y = g(`{x}`)", "\"id\":\"{x}\",", "set -x; use {x}", "<a>{x}</a>", "; {x}", "print('{x}')", "ok    {x}", "{x};", "a = {x} # note",
    ),
}  # fmt: skip

DECOYS: Final[Mapping[AnchorKind, tuple[str, ...]]] = {
    "path": ("him/her", "plus/minus", "w/e", "7/8", "in/out", "audio/mpeg", "React.js", "11/2026", "open/closed", "either/or"),
    "uuid": ("5555-6666-7777-8888-9999", "abcdef12-3456", "2026-01-02-03-04-05-06", "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"),
    "hash": ("12345678901", "deafened", "00000000", "#c0ffee", "cabbage", "20260606", "feedface", "7777777"),
    "url": ("http", "a web page", "www dot example", "https only", "the ftp folder"),
    "host_port": ("7:45", "main.rs:10", "2:1", "page:12", "at 12:00", "note: 3000", "verse 3:16", "test.js:300"),
    "version": ("6.5", "1.25", "figure 2.1.4", "01.02.2026", "v3", "$1.99", "99.5", "2.000.000"),
    "ticket": ("UTF-7", "SHA-512", "ISO-3166", "#7", "C-3", "GPT-3", "AES-192", "HTTP-1"),
    "quantity": ("in 1999", "volume 3", "row 9", "two of 3", "top 10", "the 5th", "level 4", "9 or 10"),
}  # fmt: skip

ACTIONS: Final = (
    "read file_path", "write_file path", "Edit path", "remove_file path", "patch_file path", "bash rm -f {x}", "exec head {x}",
    "bash cat {x} | sort", "exec touch {x}", "shell date >> {x}", "bash sed -i 's/x/y/g' {x}", "exec git rm {x}",
)  # fmt: skip
NO_ACTIONS: Final = (
    "tree path",
    "bash ls {x}",
    "exec grep word {x}",
    "bash file {x}",
    "exec md5sum {x}",
)
ERRORS: Final = (
    "IndexError: {name} out of range", "error[E0432]: unresolved import `{name}`", "ssh: connect to host {name} port 22: No route to host",
    "FAIL {name} (3 failed)", "错误：{name} 超时", "tar: {name}: Cannot open", "Exception: {name}", "bash: {name}: No such file or directory",
)  # fmt: skip
NO_ERRORS: Final = (
    "{name} ok, 0 failed",
    "no errors",
    "{name} 一切正常",
    "errors.py imports {name}",
)
ASKS: Final = (
    "Who owns {name}?",
    "Please plot {name} by day.",
    "{name} 的负责人是谁？",
    "Try {name} again.",
)
NO_ASKS: Final = (
    "{name} belongs to the data team.",
    "Here is the plot of {name}.",
    "{name} 由数据组负责。",
)
