"""Every URL of the site in one place."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LogoutView
from django.templatetags.static import static
from django.urls import URLPattern, URLResolver, include, path
from django.utils.functional import lazy
from django.views.generic import RedirectView

from contextlab.api import api
from contextlab.health import healthz, readyz
from contextlab.login import PasswordLogin, login_link

admin.site.site_header = admin.site.site_title = "ContextLab"
one_login = login_not_required(RedirectView.as_view(pattern_name="login", query_string=True))
# For the pages that name no icon of their own, the admin's.
icon = login_not_required(RedirectView.as_view(url=lazy(static, str)("img/mark.svg")))

urlpatterns: list[URLPattern | URLResolver] = [
    path("login/", PasswordLogin.as_view(), name="login"),
    path("login/<str:token>/", login_link, name="login-link"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("favicon.ico", icon),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("api/v1/", api.urls),
    path("admin/login/", one_login),
    path("admin/", admin.site.urls),
    path("", include("sessions_app.urls")),
    path("", include("compaction_app.urls")),
]
