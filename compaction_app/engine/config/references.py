"""What a configuration takes from elsewhere: other files and the environment (spec budgets 8.1).

The runtime puts both in before it checks the file. Neither can be followed here, so they are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

INCLUDE: Final = "$include"
_VARIABLE: Final = re.compile(r"(?<!\$)\$\{([A-Z_][A-Z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Reference:
    """``path`` is dotted; ``name`` a file that is included, or a variable of the environment."""

    path: str
    name: str
    is_include: bool


def references(config: Any, path: str = "") -> Iterator[Reference]:
    """Every file and variable that the configuration names, in its own order."""
    if isinstance(config, Mapping):
        for key, value in config.items():
            here = f"{path}.{key}" if path else str(key)
            if key == INCLUDE:
                for name in value if isinstance(value, list) else [value]:
                    yield Reference(path, str(name), is_include=True)
            else:
                yield from references(value, here)
    elif isinstance(config, list):
        for number, item in enumerate(config):
            yield from references(item, f"{path}.{number}" if path else str(number))
    elif isinstance(config, str):
        for name in _VARIABLE.findall(config):
            yield Reference(path, name, is_include=False)


def without_includes(config: Any) -> Any:
    """The configuration as far as it stands in the file itself."""
    if isinstance(config, Mapping):
        return {key: without_includes(item) for key, item in config.items() if key != INCLUDE}
    return [without_includes(item) for item in config] if isinstance(config, list) else config
