"""Pages about what decides."""

from __future__ import annotations

from django.urls import include, path

from compaction_app import (
    agent_views,
    command_views,
    comparison_views,
    connection_views,
    context_views,
    decision_views,
    kept_views,
    lost_views,
    policy_views,
    probe_views,
    views,
    webhook_views,
    work_views,
)

urlpatterns = [
    path("sessions/<uuid:uuid>/", views.session, name="session"),
    path("sessions/<uuid:uuid>/compare/", comparison_views.compare, name="compare"),
    path("compare/", comparison_views.compare_sessions, name="compare-sessions"),
    path("sessions/<uuid:uuid>/compact/", work_views.compact, name="compact"),
    path("sessions/<uuid:uuid>/flush/", work_views.flush, name="flush"),
    path("compactions/<uuid:uuid>/", work_views.compaction_record, name="compaction-record"),
    path("flushes/<uuid:uuid>/", work_views.flush_record, name="flush-record"),
    path("models/", connection_views.connections, name="connections"),
    path("models/<uuid:uuid>/", connection_views.connection, name="connection"),
    path("models/<uuid:uuid>/test/", connection_views.connection_test, name="connection-test"),
    path(
        "models/<uuid:uuid>/delete/", connection_views.connection_delete, name="connection-delete"
    ),
    path("sessions/<uuid:uuid>/lost/", views.lost, name="lost"),
    path("sessions/<uuid:uuid>/lost/what-if/", views.lost_what_if, name="lost-what-if"),
    path("sessions/<uuid:uuid>/lost/probe/", probe_views.probe, name="lost-probe"),
    path("sessions/<uuid:uuid>/lost/probe/<uuid:job>/", probe_views.probed, name="lost-probed"),
    path("sessions/<uuid:uuid>/lost/again/", lost_views.ask_again, name="lost-ask-again"),
    path("sessions/<uuid:uuid>/lost/again/<uuid:job>/", lost_views.again, name="lost-again"),
    path("sessions/<uuid:uuid>/decisions/", decision_views.decisions, name="decisions"),
    path("sessions/<uuid:uuid>/decisions/audit/", decision_views.audit, name="audit"),
    path("sessions/<uuid:uuid>/turns/<int:number>/", decision_views.turn, name="turn"),
    path(
        "sessions/<uuid:uuid>/entries/<int:seq>/turn/",
        decision_views.turn_of_entry,
        name="turn-of-entry",
    ),
    path("sessions/<uuid:uuid>/context/<int:call>/", context_views.context_at_call, name="context"),
    path(
        "sessions/<uuid:uuid>/entries/<int:seq>/context/",
        context_views.context_of_entry,
        name="context-of-entry",
    ),
    path("sessions/<uuid:uuid>/what-ifs/", kept_views.keep_what_if, name="keep-what-if"),
    path("what-ifs/<uuid:uuid>/forget/", kept_views.forget_what_if, name="forget-what-if"),
    path("sessions/<uuid:uuid>/commands/", command_views.commands, name="commands"),
    path("sessions/<uuid:uuid>/policy/", policy_views.use_what_if, name="use-what-if"),
    path("agents/", agent_views.agents, name="agents"),
    path("agents/<uuid:uuid>/", agent_views.agent, name="agent"),
    path("agents/<uuid:uuid>/webhooks/", webhook_views.agent_webhooks, name="webhooks"),
    path("webhooks/<uuid:uuid>/delete/", webhook_views.webhook_delete, name="webhook-delete"),
    path("deliveries/<uuid:uuid>/again/", webhook_views.delivery_again, name="delivery-again"),
    path("agents/<uuid:uuid>/files/", agent_views.agent_file, name="agent-file"),
    path("agents/<uuid:uuid>/memory/", agent_views.memory, name="memory"),
    path("agents/<uuid:uuid>/preset/", policy_views.use_preset, name="use-preset"),
    path("policies/", policy_views.policies, name="policies"),
    path("policies/<uuid:uuid>/", policy_views.policy, name="policy"),
    path("policies/<uuid:uuid>/restore/", policy_views.restore, name="restore-policy"),
    path("decisions/<uuid:uuid>/", decision_views.decision, name="decision"),
    path("", include("compaction_app.doctor_urls")),
]
