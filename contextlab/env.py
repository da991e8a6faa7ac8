"""Settings from the environment: typed, loud about bad values, ``NAME_FILE`` accepted.

Every variable is declared where it is read, with one line of help; ``VARIABLES`` collects them, so
that the table in the README is made from the same words (``manage.py configuration``).
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

TRUE = ("1", "true", "yes", "on")
FALSE = ("0", "false", "no", "off")


class BadSetting(ValueError):
    """An environment variable holds something it must not."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable, as the README shows it."""

    name: str
    default: str
    help: str


VARIABLES: dict[str, Variable] = {}


def env_str(
    name: str,
    default: str = "",
    *,
    help: str,
    choices: Collection[str] = (),
    schemes: Collection[str] = (),
    shown: str | None = None,
) -> str:
    """``NAME``, else the content of the file named by ``NAME_FILE``, else ``default``.

    An empty value counts as absent, because compose files pass unset variables on as empty ones.
    ``shown`` replaces the default in the README where the default depends on something else.
    """
    VARIABLES[name] = Variable(name, default if shown is None else shown, help)
    value = _value(name) or default
    if choices and value not in choices:
        raise BadSetting(f"{name}={value!r}: must be one of {', '.join(choices)}")
    if schemes and value and not value.startswith(tuple(f"{scheme}://" for scheme in schemes)):
        # The value may hold a password, so it is not repeated.
        raise BadSetting(f"{name}: must begin with {' or '.join(f'{s}://' for s in schemes)}")
    return value


def env_bool(name: str, default: bool, *, help: str) -> bool:
    """1, true, yes, on or 0, false, no, off, in any case."""
    value = env_str(name, "1" if default else "0", help=help).lower()
    if value not in TRUE + FALSE:
        raise BadSetting(f"{name}={value!r}: must be one of {', '.join(TRUE + FALSE)}")
    return value in TRUE


def env_int(name: str, default: int, *, minimum: int, maximum: int, help: str) -> int:
    """A whole number within its bounds."""
    value = env_str(name, str(default), help=help)
    if not (value.isascii() and value.isdigit() and minimum <= int(value) <= maximum):
        raise BadSetting(
            f"{name}={value!r}: must be a whole number from {minimum:,} to {maximum:,}"
        )
    return int(value)


def env_list(name: str, default: Collection[str], *, help: str) -> list[str]:
    """Names separated by commas."""
    value = env_str(name, ",".join(default), help=help)
    return [part for raw in value.split(",") if (part := raw.strip())]


def env_path(name: str, default: Path, *, help: str, shown: str) -> Path:
    """A path; a relative one counts from where the process was started."""
    return Path(env_str(name, str(default), help=help, shown=shown)).expanduser().absolute()


def env_secret(name: str, kept_in: Path, *, help: str, shown: str) -> str:
    """A secret from the environment, else the one kept in a file, which is made when it is absent."""
    return env_str(name, help=help, shown=shown) or _kept_secret(name, kept_in)


def is_set(name: str) -> bool:
    """Whether the environment says anything about this variable."""
    return bool(os.environ.get(name) or os.environ.get(f"{name}_FILE"))


def _value(name: str) -> str:
    given, path = os.environ.get(name, ""), os.environ.get(f"{name}_FILE", "")
    if not path:
        return given.strip()
    if given:
        raise BadSetting(f"{name} and {name}_FILE are both set: keep one of them")
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{name}_FILE={path!r}: cannot be read: {error}") from error


def _kept_secret(name: str, path: Path) -> str:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists() and not path.stat().st_size:
            path.unlink()  # a start that broke off, or a full disk: nothing was signed with it
        if not path.exists():
            _write_once(path, secrets.token_urlsafe(50))
        return path.read_text(encoding="ascii")
    except OSError as error:
        raise BadSetting(f"{name} is not set and cannot be kept in {path}: {error}") from error


def _write_once(path: Path, content: str) -> None:
    """Two processes that start together agree on the secret of whoever was first."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # mode 0600
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(content)
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(temporary)
