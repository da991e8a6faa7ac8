"""Identifiers of every kind, made anew each time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from compaction_app.engine.retention.anchors import AnchorKind

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
