"""Static files: hashed names, compressed once, served by the web process itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # no types
    """Names with the content's hash; plain names for what was not collected.

    Tests collect nothing, and a page that refers to a missing file is better than no page.
    """

    manifest_strict = False

    def stored_name(self, name: str) -> str:
        try:
            stored: str = super().stored_name(name)
        except ValueError:
            return name
        return stored


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]  # no types
    """WhiteNoise in an asynchronous server.

    WhiteNoise is synchronous only and answers with a stream, which Django would read whole in a
    thread and warn about. The files are small: they are read here and sent at once.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        super().__init__(get_response)
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def add_files(self, root: str, prefix: str | None = None) -> None:
        if Path(root).is_dir():  # not before the first collection
            super().add_files(root, prefix)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self.is_async:
            return self.answer(request)
        answer: HttpResponseBase = super().__call__(request)
        return answer

    async def answer(self, request: HttpRequest) -> HttpResponseBase:
        file = (
            self.find_file(request.path_info)
            if self.autorefresh
            else self.files.get(request.path_info)
        )
        if file is not None:
            return self.serve(file, request)
        answer: HttpResponseBase = await self.get_response(request)
        return answer

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        content = b""
        if found.file is not None:
            with found.file as file:
                content = file.read()
        answer = HttpResponse(content, status=int(found.status))
        del answer["Content-Type"]
        for name, value in found.headers:
            answer[name] = value
        return answer


def collect_if_changed() -> bool:
    """Collect the static files unless the same ones were collected before; whether it did."""
    stamp = Path(settings.STATIC_ROOT) / ".collected"
    now = fingerprint()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == now:
        return False
    call_command("collectstatic", interactive=False, verbosity=0, clear=stamp.is_file())
    stamp.write_text(now, encoding="utf-8")
    return True


def fingerprint() -> str:
    """Names, sizes and times of all static files, as one text."""
    lines = []
    for finder in finders.get_finders():
        for name, storage in finder.list(None):
            stat = Path(storage.path(name)).stat()
            lines.append(f"{name} {stat.st_size} {stat.st_mtime_ns}")
    return "\n".join(sorted(lines))
