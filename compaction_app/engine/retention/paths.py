"""Paths in a text: words with slashes between them, and names of files."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_CHARACTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"


def _listed(names: str) -> frozenset[str]:
    return frozenset(names.split(", "))


EXTENSIONS: Final = _listed(
    "py, pyi, ipynb, js, jsx, mjs, cjs, ts, tsx, vue, svelte, java, kt, go, rs, rb, php, c, h, cc, "
    "cpp, hpp, cs, swift, scala, sh, bash, zsh, ps1, bat, sql, htm, html, css, scss, less, md, mdx, "
    "rst, txt, json, json5, jsonl, ndjson, yml, yaml, toml, ini, cfg, conf, env, lock, xml, csv, tsv, "
    "xls, xlsx, doc, docx, ppt, pptx, pdf, png, jpg, jpeg, gif, svg, webp, ico, log, db, sqlite, "
    "sqlite3, parquet, zip, tar, gz, tgz, bz2, xz, zst, proto, tf, tfvars, gradle, properties, "
    "dockerfile, mk, cmake, patch, diff, lua, pl, r, jl, dart, ex, exs, erl, hs, clj, pem, crt, key, "
    "service, plist, wasm, map, tmpl, j2, bak, tmp"
)
_CHINESE_NAME: Final = (
    r"[\u4e00-\u9fff][\u4e00-\u9fff0-9_-]*+(?:(?=/)|\.[A-Za-z][A-Za-z0-9]{0,7}+(?![A-Za-z0-9_]))"
)
"""A folder or a file with a Chinese name: only where a slash or an ending says where it ends."""

_BEHIND_SLASH = re.compile(rf"/(?:(?:[\w.@+~-]++|{_CHINESE_NAME})/?)++", re.ASCII)
_DAY = re.compile(r"[0-9]{1,2}/[A-Z][a-z]{2}/[0-9]{4}\Z")
"""As logs write it."""
_CLINGS_TO_PATH: Final = ("/", "\\")
_PATH_CHARACTERS: Final = _CHARACTERS + "@~+"
_WINDOWS = re.compile(
    r":(?<=[A-Za-z]:)(?<!\w..)(?:\\{1,2}[\w.@+-]+(?: [\w.@+-]+(?=\\))?)+", re.ASCII | re.DOTALL
)
_DOTTED = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,11}+)(?![\w(\[/\\-]|\.\w)", re.ASCII)
_STEM = re.compile(r"\.?[\w-]+(?:\.[\w-]+)*", re.ASCII)
_CLINGS_TO_FILE: Final = tuple("/@~\\")
_MAX_WORD: Final = 100
_ENDS_IN_FILE = re.compile(r"\.[a-z]{1,5}[0-9]?\Z", re.ASCII | re.IGNORECASE)
_NAMES_OF_TOOLS = re.compile(
    r"(?:node|vue|next|nuxt|express|react|three|d3|chart|ember|backbone|moment|alpine|nest|deno|bun|require|angular)\.js\Z"
    r"|(?:e\.g|i\.e|etc|vs|a\.k\.a|self|this|cls|req|res|ctx|os|np|pd)\.\w+\Z",
    re.IGNORECASE,
)
_KNOWN_ROOTS: Final = _listed(
    "src, source, lib, libs, app, apps, api, bin, etc, usr, home, root, tmp, var, opt, srv, mnt, dev, "
    "proc, users, memory, config, conf, configs, scripts, packages, pkg, cmd, internal, node_modules, "
    "public, static, assets, templates, tests, spec, docs, vendor, dist, workspace, migrations, "
    "components, k8s, infra"
)
_MIME = re.compile(
    r"(?:application|text|image|audio|video|multipart|font|model|message)/[\w.+-]+\Z"
)
_LETTER = re.compile(r"[A-Za-z]")
_TELLING_PART = re.compile(r"[0-9_.-]|[a-z][A-Z]")


def paths(text: str) -> list[tuple[int, int]]:
    """First and last character of each path with slashes, of Windows with backslashes."""
    found: list[tuple[int, int]] = []
    end = 0
    for behind in _BEHIND_SLASH.finditer(text):
        at, stop = behind.span()
        before = text[at - 1 : at]
        if before == "/":
            continue
        start = at
        if before and before in _PATH_CHARACTERS:
            window = text[max(end, at - _MAX_WORD) : at]
            start += len(window.rstrip(_PATH_CHARACTERS)) - len(window)
        end = stop
        path = text[start:end].rstrip(".-+")
        if not _is_path(path) or text[start - 1 : start] in _CLINGS_TO_PATH:
            continue
        if before != "<" or "/" in path[1:]:
            found.append((start, start + len(path)))
    if "\\" in text:
        for match in _WINDOWS.finditer(text):
            start = match.start() - 1
            found.append((start, match.start() + len(match[0].rstrip("."))))
    return found


@lru_cache(maxsize=20_000)
def _is_path(path: str) -> bool:
    """Whether words with slashes between them name a file, and are no alternative (and/or)."""
    parts = [part for part in path.split("/") if part]
    if not parts or _LETTER.search(path) is None or "//" in path or _DAY.match(path):
        return False
    if path.startswith(("~/", "./", "../")):
        return True
    last = parts[-1]
    if path.startswith("/"):
        return (
            len(parts) >= 2 or parts[0].lower() in _KNOWN_ROOTS or bool(_ENDS_IN_FILE.search(last))
        )
    if _MIME.match(path) or len(parts) < 2 - path.endswith("/"):
        return False
    if parts[0].lower() in _KNOWN_ROOTS or parts[0].startswith("."):
        return True
    if _ENDS_IN_FILE.search(last):
        return True
    return len(parts) >= 3 and any(map(_TELLING_PART.search, parts))


def files(text: str) -> list[tuple[int, int]]:
    """First and last character of each file that is named without its folder."""
    found: list[tuple[int, int]] = []
    for match in _DOTTED.finditer(text):
        if match[1].lower() not in EXTENSIONS:
            continue
        start, before = word_before(text, match.start())
        is_name = before not in _CLINGS_TO_FILE or not before
        is_name = is_name and _STEM.fullmatch(text, start, match.start()) is not None
        if is_name and not _NAMES_OF_TOOLS.match(text, start, match.end()):
            found.append((start, match.end()))
    return found


def word_before(text: str, end: int) -> tuple[int, str]:
    """Where the letters, digits, dots and dashes before a place begin, and what stands before them."""
    window = text[max(0, end - _MAX_WORD) : end]
    rest = window.rstrip(_CHARACTERS)
    return end - len(window) + len(rest), rest[-1:]
