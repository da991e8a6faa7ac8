"""Identifiers of every kind, sentences and lines of code they stand in, and texts that look like them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
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
_HEX = "0123456789abcdef"
_WORDS = (
    "ledger", "harbor", "meadow", "quartz", "willow", "billing", "import", "worker", "tenant", "export",
    "report", "mailer", "search", "crawler", "gateway", "planner", "archive", "journal", "voucher", "catalog",
)  # fmt: skip


def _digits_of(random: Random, length: int, alphabet: str = "0123456789") -> str:
    return "".join(random.choice(alphabet) for _ in range(length))


def _path(random: Random) -> str:
    one, two, three = random.sample(_WORDS, 3)
    end = random.choice(
        ("py", "ts", "md", "json", "yaml", "go", "sql", "toml", "tsx", "sh", "log", "csv")
    )
    return random.choice(
        (
            f"/srv/{one}/{two}/{three}.{end}", f"src/{one}/{two}_{three}.{end}", f"~/{one}/{two}.{end}",
            f"./{one}/{two}-{three}.{end}", f"{one}_{two}.{end}", f"/etc/{one}/{two}.conf",
            f"packages/{one}/src/{two}.{end}", f"C:\\{one}\\{two}\\{three}.{end}", f"/var/lib/{one}-{two}/{three}",
            f"../{one}/{two}.{end}", f"docs/{one}/{two}.md", f".github/{one}/{two}.yml", f"{one}/{two}/{three}.test.{end}",
        )
    )  # fmt: skip


def _uuid(random: Random) -> str:
    text = "-".join(_digits_of(random, n, _HEX) for n in (8, 4, 4, 4, 12))
    return random.choice((text, text, text.upper()))


def _hash(random: Random) -> str:
    length = random.choice((7, 8, 10, 12, 32, 40, 40, 64))
    text = (
        random.choice("0123456789") + random.choice("abcdef") + _digits_of(random, length - 2, _HEX)
    )
    return random.choice((text, text, f"sha256:{text}" if length == 64 else text))


def _url(random: Random) -> str:
    one, two, three = random.sample(_WORDS, 3)
    return random.choice(
        (
            f"https://{one}.example.com/{two}", f"http://{one}.internal:8080/{two}/{three}",
            f"https://example.org/{one}/{two}?page=3&of={three}", f"https://docs.{one}.io/{two}#part-{three}",
            f"postgres://{one}@db.{two}.example/{three}", f"wss://{one}.example.net/{two}",
            f"https://git.example.com/{one}/{two}/pull/{random.randint(10, 999)}", f"s3://{one}-{two}/{three}",
        )
    )  # fmt: skip


def _host_port(random: Random) -> str:
    one, two = random.sample(_WORDS, 2)
    port = random.choice((80, 443, 5432, 6379, 8080, 9092, 11434, random.randint(1024, 65000)))
    numbers = ".".join(str(random.randint(1, 254)) for _ in range(3))
    return random.choice(
        (
            f"{one}.example.com:{port}", f"10.{numbers}:{port}", f"localhost:{port}",
            f"{one}-{random.randint(1, 9)}.{two}.internal:{port}", f"{one}-{two}:{max(port, 1024)}",
        )
    )  # fmt: skip


def _version(random: Random) -> str:
    a, b, c = (random.randint(0, 30) for _ in range(3))
    return random.choice(
        (
            f"v{a}.{b}.{c}", f"{a}.{b}.{c}", f"v{a}.{b}", f"{a}.{b}.{c}-rc.{b}", f"{a}.{b}.{c}-beta{c}",
            f"2026.{1 + b % 12}.{c}", f"v{a}.{b}.{c}+build.{b}", f"{a}.{b}.{c}.dev{b}",
        )
    )  # fmt: skip


def _ticket(random: Random) -> str:
    number = random.randint(12, 99_999)
    return random.choice(
        (
            f"OPS-{number}", f"BILL-{number}", f"PROJ2-{number}", f"#{number}", f"CVE-2026-{number + 1000}",
            f"ABC-{number}", f"issue #{number}", f"PR #{number}",
        )
    )  # fmt: skip


def _quantity(random: Random) -> str:
    n = random.randint(2, 900)
    return random.choice(
        (
            f"{n} ms", f"{n}ms", f"{n} MB", f"{n}GB", f"{n}.5 s", f"{n % 100} %", f"{n % 100}%", f"1,{n:03} requests",
            f"{n} tokens", f"${n}", f"${n},000", f"{n} seconds", f"{n} minutes", f"{n}px", f"{n} rows", f"{n} KiB",
            f"{n} req/s", f"{n} hours", f"{n} days", f"€{n}.50", f"{n} users", f"{n} MHz",
        )
    )  # fmt: skip


MAKERS: Final[Mapping[AnchorKind, Callable[[Random], str]]] = {
    "path": _path, "uuid": _uuid, "hash": _hash, "url": _url, "host_port": _host_port, "version": _version,
    "ticket": _ticket, "quantity": _quantity,
}  # fmt: skip
"""For each kind how a new one is made."""

CHINESE_QUANTITIES: Final = (
    "{n} 毫秒", "{n}毫秒", "{n} 秒", "{n}分钟", "{n}小时", "{n}天", "{n}元", "{n}%", "{n} GB", "{n}兆", "{n}万元", "{n}个月",
    "￥{n}", "{n} 字节",
)  # fmt: skip
"""Quantities as they are written in Chinese only."""

FULL_WIDTH: Final[Mapping[AnchorKind, tuple[str, ...]]] = {
    "ticket": ("ＯＰＳ－４４１２", "＃９０２１"),
    "version": ("ｖ２．１３．４",),
    "quantity": ("２５０ｍｓ", "８０％"),
    "host_port": ("１０．２．３．４：５４３２",),
}
"""Forms with full-width characters."""

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
