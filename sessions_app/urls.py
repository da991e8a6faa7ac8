"""Pages about what happened."""

from __future__ import annotations

from django.urls import path

from sessions_app import (
    account_views,
    job_views,
    live_views,
    manage_views,
    reveal_views,
    views,
    watch_views,
)

urlpatterns = [
    path("", views.session_list, name="sessions"),
    path("upload/", views.upload, name="upload"),
    path("imports/", views.imports, name="imports"),
    path("jobs/", job_views.job_list, name="jobs"),
    path("jobs/<uuid:uuid>/", job_views.job, name="job"),
    path("jobs/<uuid:uuid>/cancel/", job_views.job_cancel, name="job-cancel"),
    path("jobs/<uuid:uuid>/retry/", job_views.job_retry, name="job-retry"),
    path("watched/", watch_views.watched, name="watched"),
    path("watched/<uuid:uuid>/forget/", watch_views.unwatch, name="unwatch"),
    path("sessions/<uuid:uuid>/news/", watch_views.news, name="news"),
    path("sessions/<uuid:uuid>/manage/", manage_views.manage, name="manage-session"),
    path("sessions/<uuid:uuid>/rename/", manage_views.rename, name="rename-session"),
    path("sessions/<uuid:uuid>/delete/", manage_views.delete, name="delete-session"),
    path("sessions/<uuid:uuid>/entries/", views.entries, name="entries"),
    path("sessions/<uuid:uuid>/events/", live_views.session_events, name="session-events"),
    path("sessions/<uuid:uuid>/export/", views.export, name="export"),
    path("sessions/<uuid:uuid>/encoding/", views.encoding, name="encoding"),
    path("sessions/<uuid:uuid>/entries/<int:seq>/", views.entry, name="entry"),
    path("sessions/<uuid:uuid>/entries/<int:seq>/raw/", views.entry_raw, name="entry-raw"),
    path(
        "sessions/<uuid:uuid>/entries/<int:seq>/reveal/",
        reveal_views.reveal_entry,
        name="reveal-entry",
    ),
    path(
        "sessions/<uuid:uuid>/export/originals/", reveal_views.reveal_export, name="reveal-export"
    ),
    path("tokens/", account_views.tokens, name="tokens"),
    path("tokens/<uuid:uuid>/revoke/", account_views.revoke_token, name="revoke-token"),
    path("team/", account_views.team, name="own-team"),
    path("team/<uuid:uuid>/", account_views.team, name="team"),
    path("team/members/<int:pk>/", account_views.member, name="member"),
    path("team/invitations/<uuid:uuid>/withdraw/", account_views.withdraw, name="withdraw"),
    path("join/<str:secret>/", account_views.join, name="join"),
]
