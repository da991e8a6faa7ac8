"""docker-compose.yml: what it may hold, and that every service is watched, bounded and restarted.

No engine is needed: the file is checked against a schema of what it uses, and the commands of its
services run in tests/services.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
COMMAND: dict[str, Any] = {"type": "array", "items": {"type": "string"}, "minItems": 1}
SIZE: dict[str, Any] = {"type": "string", "pattern": "^[0-9]+[kmg]$"}
TIME: dict[str, Any] = {"type": "string", "pattern": "^[0-9]+(ms|s|m)$"}


def closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


CONDITION = {"enum": ["service_started", "service_healthy", "service_completed_successfully"]}
HEALTH = closed(
    {
        "test": {
            "type": "array",
            "prefixItems": [{"enum": ["CMD", "CMD-SHELL"]}],
            "items": TEXT,
            "minItems": 2,
        },
        "interval": TIME,
        "timeout": TIME,
        "start_period": TIME,
        "retries": {"type": "integer"},
    },
    "test",
    "interval",
    "timeout",
)
SERVICE = closed(
    {
        "build": TEXT,
        "image": TEXT,
        "restart": {"enum": ["no", "unless-stopped"]},
        "init": {"type": "boolean"},
        "read_only": {"type": "boolean"},
        "tmpfs": TEXTS,
        "cap_drop": TEXTS,
        "pids_limit": {"type": "integer"},
        "security_opt": TEXTS,
        "volumes": TEXTS,
        "secrets": TEXTS,
        "environment": {"type": "object", "additionalProperties": TEXT},
        "depends_on": {
            "type": "object",
            "additionalProperties": closed({"condition": CONDITION}, "condition"),
        },
        "command": COMMAND,
        "ports": TEXTS,
        "mem_limit": SIZE,
        "shm_size": SIZE,
        "stop_grace_period": TIME,
        "healthcheck": HEALTH,
    },
    "image",
    "restart",
    "mem_limit",
)
SCHEMA = closed(
    {
        "services": {"type": "object", "additionalProperties": SERVICE},
        "volumes": {"type": "object", "additionalProperties": {"type": "null"}},
        "secrets": {"type": "object", "additionalProperties": closed({"file": TEXT}, "file")},
    },
    "services",
    "volumes",
    "secrets",
)


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return {key: value for key, value in found.items() if not key.startswith("x-")}


def test_it_holds_only_what_is_known(compose: dict[str, Any]) -> None:
    validator = jsonschema_rs.validator_for(SCHEMA)
    assert [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(compose)] == []  # fmt: skip


def test_a_misspelt_key_would_be_found(compose: dict[str, Any]) -> None:
    wrong = {**compose, "services": {"web": {**compose["services"]["web"], "mem_limits": "1g"}}}
    assert not jsonschema_rs.is_valid(SCHEMA, wrong)


@pytest.mark.parametrize("name", ["web", "worker", "beat", "redis", "postgres"])
def test_what_runs_is_watched_bounded_and_restarted(compose: dict[str, Any], name: str) -> None:
    service = compose["services"][name]
    assert service["restart"] == "unless-stopped"
    assert {"healthcheck", "mem_limit"} <= set(service)


def test_web_worker_and_beat_are_one_image_without_rights(compose: dict[str, Any]) -> None:
    for name in ("prepare", "web", "worker", "beat"):
        service = compose["services"][name]
        assert service["image"] == "contextlab"
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
    assert "\nUSER contextlab" in (ROOT / "Dockerfile").read_text()


def test_what_it_refers_to_is_there(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= set(services), name
        assert set(service.get("secrets", [])) <= set(compose["secrets"]), name
        volumes = {volume.partition(":")[0] for volume in service.get("volumes", [])}
        assert volumes <= set(compose["volumes"]), name
        waits = service.get("depends_on", {})
        for other, how in waits.items():
            if how["condition"] == "service_healthy":
                assert "healthcheck" in services[other]


def test_no_secret_stands_in_it() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    assert "SECRET_KEY:" not in text and "PASSWORD:" not in text
