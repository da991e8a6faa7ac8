"""Tokens that are known by how they begin: what the providers of models and their tools hand out.

Each has its prefix, what it is made of, and from which length on it is one. ``shapes_in`` also takes
one that the end of a cut text has shortened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sessions_app.secret_texts.spans import Span, is_in_data

_WORD: Final = "A-Za-z0-9_-"
_ALNUM: Final = "A-Za-z0-9"
_LONGEST: Final = 400


@dataclass(frozen=True, slots=True)
class Shape:
    """``least`` characters of ``body`` behind ``prefix``; ``mixed``: with a digit and a letter."""

    kind: str
    prefix: str
    body: re.Pattern[str]
    least: int
    mixed: bool = True

    def fits(self, body: str) -> bool:
        if len(body) < self.least:
            return False
        digits = sum(char.isdigit() for char in body)
        return not self.mixed or 0 < digits < len(body)


def _shape(kind: str, prefix: str, chars: str, least: int, *, mixed: bool = True) -> Shape:
    return Shape(kind, prefix, re.compile(f"[{chars}]{{0,{_LONGEST}}}"), least, mixed)


SHAPES: Final = (
    _shape("Anthropic API key", "sk-ant-", _WORD, 20),
    _shape("OpenAI API key", "sk-proj-", _WORD, 20),
    _shape("OpenAI API key", "sk-svcacct-", _WORD, 20),
    _shape("OpenRouter API key", "sk-or-v1-", _ALNUM, 32),
    _shape("LiteLLM or Langfuse key", "sk-lf-", _WORD, 20),
    _shape("API key", "sk-", _ALNUM, 24),
    _shape("Google API key", "AIza", _WORD, 35),
    _shape("Google OAuth token", "ya29.", _WORD, 20),
    _shape("Google OAuth secret", "GOCSPX-", _WORD, 20, mixed=False),
    _shape("Hugging Face token", "hf_", _ALNUM, 30, mixed=False),
    _shape("Groq API key", "gsk_", _ALNUM, 40),
    _shape("xAI API key", "xai-", _ALNUM, 60),
    _shape("Perplexity API key", "pplx-", _ALNUM, 32),
    _shape("Replicate token", "r8_", _ALNUM, 32),
    _shape("NVIDIA API key", "nvapi-", _WORD, 40),
    _shape("GitHub token", "github_pat_", "A-Za-z0-9_", 40),
    *(_shape("GitHub token", f"gh{kind}_", _ALNUM, 30) for kind in "pousr"),
    _shape("GitLab token", "glpat-", _WORD, 20),
    _shape("PyPI token", "pypi-AgE", _WORD, 50),
    _shape("npm token", "npm_", _ALNUM, 30),
    _shape("Docker token", "dckr_pat_", _WORD, 20),
    _shape("Slack token", "xoxb-", "A-Za-z0-9-", 20),
    _shape("Slack token", "xoxp-", "A-Za-z0-9-", 20),
    _shape("Slack token", "xoxa-", "A-Za-z0-9-", 20),
    _shape("Slack token", "xoxe-", "A-Za-z0-9-", 20),
    _shape("Slack token", "xoxe.", "A-Za-z0-9.-", 20),
    _shape("Slack token", "xapp-", "A-Za-z0-9-", 20),
    _shape("Stripe key", "sk_live_", _ALNUM, 16),
    _shape("Stripe key", "rk_live_", _ALNUM, 16),
    _shape("Stripe key", "sk_test_", _ALNUM, 16),
    _shape("Stripe webhook secret", "whsec_", _ALNUM, 24),
    _shape("SendGrid API key", "SG.", "A-Za-z0-9_.-", 50),
    _shape("AWS access key", "AKIA", "A-Z0-9", 16),
    _shape("AWS access key", "ASIA", "A-Z0-9", 16),
    _shape("Alibaba access key", "LTAI", _ALNUM, 16),
    _shape("Tencent secret id", "AKID", _ALNUM, 32),
    _shape("DigitalOcean token", "dop_v1_", "a-f0-9", 64),
    _shape("Shopify token", "shpat_", "A-Fa-f0-9", 32),
    _shape("Atlassian token", "ATATT3", "A-Za-z0-9_=-", 60),
    _shape("Vault token", "hvs.", _WORD, 24),
    _shape("Linear API key", "lin_api_", _ALNUM, 32),
    _shape("Notion token", "ntn_", _ALNUM, 40),
    _shape("Tailscale key", "tskey-", "A-Za-z0-9-", 20),
    _shape("Databricks token", "dapi", "a-f0-9", 32),
    _shape("age secret key", "AGE-SECRET-KEY-1", "A-Z0-9", 50),
)


def _by_anchor() -> dict[str, tuple[int, list[Shape]]]:
    """The shapes by a literal that several share, so that a text is looked through for each literal
    once: where in their prefix it stands, and which they are."""
    shared = (("sk-", 0), ("k_live_", 1), ("xox", 0))
    found: dict[str, tuple[int, list[Shape]]] = {}
    for shape in SHAPES:
        fitting = ((a, n) for a, n in shared if shape.prefix[n:].startswith(a))
        anchor, inside = next(fitting, (shape.prefix, 0))
        found.setdefault(anchor, (inside, []))[1].append(shape)
    return found


_BY_ANCHOR: Final = _by_anchor()
_TELEGRAM = re.compile(r"[0-9]{8,10}\Z")
_TELEGRAM_REST = re.compile(r":AA[\w-]{33}(?![\w-])")
_BREAK: Final = r"(?:\s|\\+[nrt]|[\"'+,])*"
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rf"{_BREAK}(?:[A-Za-z-]{{3,20}}: [^\n\\]{{1,100}}{_BREAK}){{0,5}}"
    rf"(?:[A-Za-z0-9+/=]{{20,}}{_BREAK}){{1,600}}(?:[A-Za-z0-9+/=]{{1,80}}{_BREAK}(?=-----END))?"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)


def shapes_in(text: str, plain: str, *, is_cut: bool) -> Iterator[Span]:
    """Tokens of known shapes; ``plain`` has ASCII for each character, ``is_cut``: the end of the text may have cut one off."""
    for anchor, (inside, shapes) in _BY_ANCHOR.items():
        at = plain.find(anchor)
        while at >= 0:
            end = at + len(anchor)
            for shape in shapes:
                start = at - inside
                found = start >= 0 and plain.startswith(shape.prefix, start)
                stop = _end(text, start, shape, is_cut=is_cut) if found else 0
                if stop:
                    yield Span(start, stop, shape.kind)
                    end = max(end, stop)
            at = plain.find(anchor, end)
    yield from _private_keys(text, plain)
    yield from _telegram_tokens(text, plain)


def _end(text: str, at: int, shape: Shape, *, is_cut: bool) -> int:
    """Where the token ends, 0 where there is none."""
    before = text[at - 1 : at]
    if before.isascii() and before.isalnum():
        # a line break that is still escaped stands in front of what begins a line
        if text[at - 2 : at] not in (r"\n", r"\t", r"\r"):
            return 0
    elif before in ("_", "-"):
        return 0
    start = at + len(shape.prefix)
    found = shape.body.match(text, start)
    body = found[0] if found else ""
    end = start + len(body)
    is_shortened = is_cut and bool(body) and text[end : end + 1] in ("", "…")
    if not (shape.fits(body) or is_shortened) or is_in_data(text, at, end):
        return 0
    return end


def _private_keys(text: str, plain: str) -> Iterator[Span]:
    at = plain.find("-----BEGIN ")
    while at >= 0:
        found = _PRIVATE_KEY.match(text, at)
        if found:
            yield Span(at, found.end(), "private key")
        at = plain.find("-----BEGIN ", found.end() if found else at + 1)


def _telegram_tokens(text: str, plain: str) -> Iterator[Span]:
    at = plain.find(":AA")
    while at >= 0:
        number = _TELEGRAM.search(text, max(0, at - 10), at)
        rest = _TELEGRAM_REST.match(text, at)
        if number and rest and not text[number.start() - 1 : number.start()].isdigit():
            yield Span(number.start(), rest.end(), "Telegram bot token")
        at = plain.find(":AA", at + 1)
