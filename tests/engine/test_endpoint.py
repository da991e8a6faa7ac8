"""The kinds of endpoints."""

from __future__ import annotations

import pytest

from compaction_app.engine.endpoint import endpoint_class


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:1",
        "HTTP://LOCALHOST",
        "http://127.0.0.1:11434/v1",
        "http://[::1]:9/v1",
        "http://a.b.localhost",
        "http://gpu.local:80/x?y",
        "http://host.docker.internal:11434",
        "http://user:pass@localhost:1/",
        " http://localhost ",
        "127.0.0.1:8080",
        "ws://localhost",
    ],
)
def test_these_hosts_are_local(url: str) -> None:
    assert endpoint_class(url) == "local"


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1",
        "http://192.168.1.5:8080",
        "http://172.16.3.4",
        "http://0.0.0.0:1",
        "http://127.0.0.2",
        "https://localhost.example.com",
        "https://mylocal",
        "https://example.com/localhost",
        "https://api.z.ai.example.com",
        "gpu-box",
    ],
)
def test_these_hosts_are_not(url: str) -> None:
    assert endpoint_class(url) == "custom"


@pytest.mark.parametrize("url", ["", "  ", None, 5])
def test_no_url_is_the_default_endpoint(url: object) -> None:
    assert endpoint_class(url) == "default"


@pytest.mark.parametrize("url", ["not a url", "http://", "http://a b/", "http://x:port/", "::"])
def test_what_is_no_url_is_invalid(url: str) -> None:
    assert endpoint_class(url) == "invalid"


@pytest.mark.parametrize(
    ("url", "known"),
    [
        ("https://api.z.ai/api/paas/v4", "zai-native"),
        ("https://API.OpenAI.com/v1", "openai-public"),
        ("https://api.anthropic.com", "anthropic-public"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://me.openai.azure.com", "azure-openai"),
        ("https://europe-west1-aiplatform.googleapis.com", "google-vertex"),
    ],
)
def test_providers_claim_their_own_hosts(url: str, known: str) -> None:
    assert endpoint_class(url) == known
