"""Pages about errors, in the site's own dress."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form was sent without the token of this browser: most often one has logged out elsewhere."""
    return render(request, "403_csrf.html", status=403)
