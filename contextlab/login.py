"""Logging in: by a one-time link, or by a password for those who have set one."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods

from contextlab.models import LoginLink


class PasswordLogin(LoginView):
    """The form for users who have set a password; it also says how to get a link."""

    template_name = "login.html"
    redirect_authenticated_user = True
    extra_context: dict[str, Any] = {"link_minutes": settings.LOGIN_LINK_MINUTES}  # noqa: RUF012


@login_not_required
@never_cache
@sensitive_variables("token")
@require_http_methods(["GET", "HEAD", "POST"])
def login_link(request: HttpRequest, token: str) -> HttpResponse:
    """GET shows a button and uses nothing up, because previews and prefetches follow links too."""
    if request.method != "POST":
        if LoginLink.open(token).exists():
            return render(request, "login_link.html")
        return refused(request)
    user = LoginLink.use(token)
    if user is None:
        return refused(request)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect(settings.LOGIN_REDIRECT_URL)


def refused(request: HttpRequest) -> HttpResponse:
    return render(request, "login_link_refused.html", status=410)
