"""What kind of endpoint does a base URL lead to? (spec budgets 2, 3)"""

from __future__ import annotations

import re
from typing import Final

from sessions_app.tokens import javascript as js

LOCAL: Final = "local"
ZAI_NATIVE: Final = "zai-native"

_LOCAL_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})
_LOCAL_SUFFIXES: Final = (".localhost", ".local", ".internal")

# Hosts that the runtime's provider manifests claim.
_KNOWN_HOSTS: Final = {
    "api.anthropic.com": "anthropic-public",
    "api.cerebras.ai": "cerebras-native",
    "llm.chutes.ai": "chutes-native",
    "api.deepseek.com": "deepseek-native",
    "api.groq.com": "groq-native",
    "api.mistral.ai": "mistral-public",
    "api.openai.com": "openai-public",
    "chatgpt.com": "openai-codex",
    "generativelanguage.googleapis.com": "google-generative-ai",
    "aiplatform.googleapis.com": "google-vertex",
    "api.x.ai": "xai-native",
    "api.z.ai": ZAI_NATIVE,
    "openrouter.ai": "openrouter",
    "opencode.ai": "opencode-native",
}
_KNOWN_SUFFIXES: Final = (
    (".githubcopilot.com", "github-copilot-native"),
    (".openai.azure.com", "azure-openai"),
    (".openrouter.ai", "openrouter"),
    (".opencode.ai", "opencode-native"),
    ("-aiplatform.googleapis.com", "google-vertex"),
)

_SPECIAL_URL = re.compile(r"(?:https?|wss?|ftp):[/\\]*([^/\\?#]*)", re.ASCII | re.IGNORECASE)
_OTHER_URL = re.compile(r"[a-z][a-z0-9+.-]*:(?://([^/?#]*))?", re.ASCII | re.IGNORECASE)
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\s\x00-\x20#%/:<>?@\[\\\]^|]+)(?::[0-9]*)?", re.IGNORECASE)


def endpoint_class(base_url: object) -> str:
    """``default`` without a URL, ``invalid``, a provider's own class, ``local`` or ``custom``.

    Private address ranges and 0.0.0.0 are not local.
    """
    url = js.trim(base_url) if isinstance(base_url, str) else ""
    if not url:
        return "default"
    host = _host(url)
    if not host:
        return "invalid"
    if host in _KNOWN_HOSTS:
        return _KNOWN_HOSTS[host]
    for suffix, known in _KNOWN_SUFFIXES:
        if host.endswith(suffix):
            return known
    is_local = host in _LOCAL_HOSTS or host.endswith(_LOCAL_SUFFIXES)
    return LOCAL if is_local else "custom"


def _host(url: str) -> str | None:
    """The host in lower case; a text without a scheme is read as what follows ``https://``."""
    match = _SPECIAL_URL.match(url) or _OTHER_URL.match(url) or _SPECIAL_URL.match(f"https://{url}")
    authority = (match[1] or "").rpartition("@")[2] if match else ""
    host = _HOST.fullmatch(authority)
    return host[1].lower() if host else None
