"""Logging: one line per event, for people or as JSON. Ids and numbers only, never a transcript's text."""

from __future__ import annotations

import sys
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger


def without_task_values(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Celery's line about a task repeats what it returned; ours says which, and how long it took."""
    data = event.pop("data", None)
    if isinstance(data, dict) and "runtime" in data:
        event["event"] = "task succeeded"
        event.update(task=data["name"], id=data["id"], ms=round(data["runtime"] * 1000, 1))
    return event


SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(allow=["data"]),
    without_task_values,
    structlog.processors.TimeStamper(fmt="%Y-%m-%dT%H:%M:%S.%fZ", utc=True),
]


def configuration(level: str, form: str) -> dict[str, Any]:
    """Django's LOGGING; also sends structlog's own loggers the same way."""
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    quiet = {"handlers": [], "propagate": True, "level": "WARNING"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    *(json_line() if form == "json" else text_line()),
                ],
                "foreign_pre_chain": SHARED,
            }
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "django": {"handlers": [], "propagate": True, "level": "INFO"},
            "django.server": quiet,
            # The request log says the same with less: paths may carry a login token.
            "django.request": {"handlers": [], "propagate": True, "level": "ERROR"},
            "uvicorn": quiet,
            "uvicorn.error": quiet,
            "uvicorn.access": quiet,
            # "received" adds nothing to "succeeded", "sending" nothing to either
            "celery.worker.strategy": quiet,
            "celery.beat": quiet,
            "celery.worker.consumer.connection": quiet,
        },
    }


def json_line() -> list[Processor]:
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]


def text_line() -> list[Processor]:
    return [
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            exception_formatter=structlog.dev.plain_traceback,
            pad_event_to=0,
            sort_keys=False,
        )
    ]
