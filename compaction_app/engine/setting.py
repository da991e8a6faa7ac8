"""One setting: its name in OpenClaw, type, default, bounds, unit and a line of help."""

from __future__ import annotations

import math
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, Literal

from compaction_app.engine.config.byte_size import parse_byte_size
from sessions_app.tokens import javascript as js

Kind = Literal["int", "number", "bool", "choice", "text", "texts", "bytes", "duration"]
Group = Literal[
    "Window", "Reserve", "Memory flush", "Compaction", "Summary", "Pruning", "Tool results"
]


class BadValue(ValueError):
    """A value that a setting does not take; the message says what it takes."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of one setting (spec budgets 8.4).

    ``key`` is its place below ``agents.defaults`` (or, for a window, in the model's entry), spelled
    as OpenClaw does; ``minimum`` and ``maximum`` are inclusive unless ``above_minimum``; ``low``,
    ``high`` and ``step`` are a slider's. ``default`` none means: unset, another source decides.
    """

    key: str
    kind: Kind
    default: Any
    group: Group
    help: str
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    above_minimum: bool = False
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    step: float = 1
    name: str = ""

    @property
    def label(self) -> str:
        """The short name people know: the last part, with its parent where that alone is vague."""
        parts = self.key.split(".")
        vague = {"mode", "enabled", "model", "provider", "allow", "deny", "prompt", "maxChars"}
        return ".".join(parts[-2:]) if parts[-1] in vague and len(parts) > 1 else parts[-1]

    @property
    def has_slider(self) -> bool:
        return self.low is not None

    def read(self, value: Any) -> Any:
        """``value`` as this setting holds it; text from forms and URLs is understood.

        Raises:
            BadValue: with the reason and what would be accepted.
        """
        if value is None or value == "":
            return self.default
        readers = {
            "int": self._number,
            "number": self._number,
            "bool": self._bool,
            "choice": self._choice,
            "texts": self._texts,
            "bytes": self._bytes,
        }
        return readers.get(self.kind, self._text)(value)

    def _number(self, value: Any) -> int | float:
        if isinstance(value, str):
            try:
                value = float(_plain_number(value))
            except ValueError:
                raise BadValue(f"{self.key}: {value!r} is not a number. {self.accepts}") from None
        if not js.is_finite(value):
            raise BadValue(f"{self.key}: {value!r} is not a number. {self.accepts}")
        number: int | float = value
        if number == math.floor(number):
            number = int(number)
        elif self.kind == "int":
            raise BadValue(f"{self.key}: {js.number_text(number)} is not whole. {self.accepts}")
        if abs(number) > js.MAX_SAFE_INTEGER:
            raise BadValue(f"{self.key}: {js.number_text(number)} is out of range. {self.accepts}")
        low_ok = self.minimum is None or (
            number > self.minimum if self.above_minimum else number >= self.minimum
        )
        if not low_ok or (self.maximum is not None and number > self.maximum):
            raise BadValue(f"{self.key}: {js.number_text(number)} is out of range. {self.accepts}")
        return number

    def _bool(self, value: Any) -> bool:
        if isinstance(value, bool):
            return value
        known = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
        if isinstance(value, str) and value.lower() in known:
            return known[value.lower()]
        raise BadValue(f"{self.key}: {value!r} is neither true nor false.")

    def _choice(self, value: Any) -> str:
        if value in self.choices:
            return str(value)
        raise BadValue(f"{self.key}: {value!r} is not known. {self.accepts}")

    def _texts(self, value: Any) -> tuple[str, ...]:
        items = value.split(",") if isinstance(value, str) else value
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise BadValue(f"{self.key}: a list of texts is expected.")
        return tuple(showable(trimmed) for item in items if (trimmed := js.trim(item)))

    def _bytes(self, value: Any) -> int | str:
        """A whole number, or a text with a unit as it was written."""
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
            return int(value)
        if js.is_finite(value) and value >= 0 and value == math.floor(value):
            return int(value)
        if not isinstance(value, str) or parse_byte_size(value) is None:
            raise BadValue(f"{self.key}: {value!r} is no size. {self.accepts}")
        return value

    def _text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise BadValue(f"{self.key}: a text is expected. {self.accepts}".strip())
        return showable(value)

    @property
    def accepts(self) -> str:
        """What the setting takes, as a sentence."""
        if self.choices:
            return "Accepted: " + ", ".join(self.choices) + "."
        if self.kind not in ("int", "number"):
            examples = {
                "bytes": 'Bytes such as 2097152 or "2mb".',
                "duration": 'E.g. "5m", "1h".',
            }
            return examples.get(self.kind, "")
        what = "A whole number" if self.kind == "int" else "A number"
        low = self.minimum is not None and (
            f" {'above' if self.above_minimum else 'from'} {js.number_text(self.minimum)}"
        )
        high = self.maximum is not None and f" up to {js.number_text(self.maximum)}"
        return f"{what}{low or ''}{high or ''}."


def showable(text: str) -> str:
    """``text`` with "?" for what no page, address or database takes: half a surrogate pair."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _plain_number(text: str) -> str:
    """``text`` without grouping commas.

    Raises:
        ValueError: for anything that is not written in plain ASCII digits.
    """
    plain = text.replace(",", "")
    if not plain.isascii() or "_" in plain:
        raise ValueError(text)
    return plain


def setting(key: str, kind: Kind, default: Any, group: Group, help: str, **more: Any) -> Any:
    """A dataclass field of the policy that carries its ``Setting``."""
    record = Setting(key=key, kind=kind, default=default, group=group, help=help, **more)
    return dataclass_field(default=default, metadata={"setting": record})
