"""All settings of the site, from the environment."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from contextlab import broker, logs
from contextlab.database import database
from contextlab.env import env_bool, env_int, env_list, env_path, env_secret, env_str

BASE_DIR = Path(__file__).resolve().parent.parent

# Where it runs
DATA_DIR = env_path(
    "DATA_DIR",
    BASE_DIR / "data",
    shown="./data",
    help="Folder of everything that is kept: database, queue, secret key, collected static files.",
)
HOST = env_str("HOST", "127.0.0.1", help="Address to listen on. Other than loopback needs more.")
PORT = env_int("PORT", 8000, minimum=1, maximum=65_535, help="Port to listen on.")
PUBLIC_URL = env_str(
    "PUBLIC_URL",
    f"http://{'127.0.0.1' if HOST in ('0.0.0.0', '::') else HOST}:{PORT}",
    shown="http://HOST:PORT",
    help="Address that people type, used in printed links.",
).rstrip("/")
ALLOWED_HOSTS = env_list(
    "ALLOWED_HOSTS",
    ["127.0.0.1", "localhost", "[::1]"],
    help="Host names that requests may ask for.",
)
DEBUG = env_bool("DEBUG", False, help="Show errors with their source in the browser.")

# What it keeps
DATABASE_URL = env_str(
    "DATABASE_URL",
    f"sqlite:///{DATA_DIR / 'contextlab.sqlite3'}",
    shown="SQLite in DATA_DIR",
    help="`sqlite:///path` or `postgresql://user:password@host:port/name`.",
)
DATABASES = {"default": database(DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Secrets and limits
SECRET_KEY = env_secret(
    "SECRET_KEY",
    DATA_DIR / "secret_key",
    shown="made once, kept in DATA_DIR",
    help="Signs sessions. Several machines need the same.",
)
SECURE = env_bool(
    "SECURE", False, help="The site is reached by HTTPS: cookies by HTTPS only, HTTP is redirected."
)
LOGIN_LINK_MINUTES = env_int(
    "LOGIN_LINK_MINUTES", 60, minimum=1, maximum=10_080, help="How long a login link can be used."
)
MAX_UPLOAD_MB = env_int(
    "MAX_UPLOAD_MB", 512, minimum=1, maximum=16_384, help="Largest request with files, in MiB."
)
MAX_BODY_MB = env_int(
    "MAX_BODY_MB", 16, minimum=1, maximum=1_024, help="Largest request without files, in MiB."
)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_MB * 2**20
FILE_UPLOAD_MAX_MEMORY_SIZE = 2**20
FILE_UPLOAD_TEMP_DIR = DATA_DIR / "arriving"  # the system's folder may be small, or memory

# The REST API
API_CALLS_PER_MINUTE = env_int(
    "API_CALLS_PER_MINUTE",
    6_000,
    minimum=1,
    maximum=1_000_000,
    help="Most API calls of one token in a minute.",
)

# Background work
REDIS_URL = env_str(
    "REDIS_URL",
    schemes=("redis", "rediss"),
    shown="none: a queue of files in DATA_DIR",
    help="`redis://host:port/0`. Needed by several machines.",
)
WORKER_PROCESSES = env_int(
    "WORKER_PROCESSES", 2, minimum=1, maximum=64, help="Jobs that run at the same time."
)
JOB_SECONDS = env_int(
    "JOB_SECONDS", 1_800, minimum=10, maximum=86_400, help="After this long a job is stopped."
)
JOB_LEASE_SECONDS = env_int(
    "JOB_LEASE_SECONDS",
    60,
    minimum=1,
    maximum=3_600,
    help="After this long without a sign of life of its worker a job is given to another one.",
)
AUDIT_ENTRIES = env_int(
    "AUDIT_ENTRIES",
    20_000,
    minimum=0,
    maximum=1_000_000,
    help="Longer sessions are audited in stretches; where entries branch or were rewritten they get no audit.",
)
DECISION_DAYS = env_int(
    "DECISION_DAYS", 0, minimum=0, maximum=36_500, help="Decisions are dropped after; 0: never."
)
DECISION_ROWS = env_int(
    "DECISION_ROWS",
    2_000_000,
    minimum=0,
    maximum=1_000_000_000,
    help="Decisions that are kept; the oldest go first, compactions stay. 0: all.",
)
CELERY_BROKER_FOLDER = DATA_DIR / "broker"
if REDIS_URL:
    CELERY_BROKER_URL = REDIS_URL
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {"visibility_timeout": JOB_SECONDS * 2}
else:
    CELERY_BROKER_URL = "filesystem://localhost//"
    CELERY_BROKER_TRANSPORT = "contextlab.broker:Transport"
    CELERY_BROKER_TRANSPORT_OPTIONS = broker.options(CELERY_BROKER_FOLDER)
    # Every worker would leave a control queue of files behind.
    CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
if REDIS_URL:
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": REDIS_URL,
            "KEY_PREFIX": "contextlab",
        }
    }
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True  # a job's row holds its state and its result
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_LOST_WAIT = 1.0  # seconds that a slot stays taken by a process that was killed
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CONCURRENCY = WORKER_PROCESSES
CELERY_WORKER_MAX_TASKS_PER_CHILD = 200
CELERY_TASK_SOFT_TIME_LIMIT = JOB_SECONDS
CELERY_TASK_TIME_LIMIT = JOB_SECONDS + 30
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "count live sessions": {
        "task": "sessions_app.tasks.count_live_sessions",
        "schedule": 5.0,
        "options": {"expires": 5.0},  # a late one is worth nothing: the next one does all there is
    },
    "search secrets": {
        "task": "sessions_app.tasks.search_secrets",
        "schedule": 5.0,
        "options": {"expires": 5.0},
    },
    "sweep jobs": {"task": "sessions_app.tasks.sweep_jobs", "schedule": 30.0},
    "deliver webhooks": {"task": "compaction_app.tasks.deliver_webhooks", "schedule": 15.0},
    "drop old decisions": {
        "task": "compaction_app.tasks.drop_old_decisions",
        "schedule": timedelta(hours=1),
    },
    "link old": {
        "task": "compaction_app.tasks.link_old",
        "schedule": timedelta(minutes=10),
        "options": {"expires": 600.0},
    },
}

# Token counts
TIKTOKEN_CACHE_DIR = env_path(
    "TIKTOKEN_CACHE_DIR",
    DATA_DIR / "tiktoken",
    shown="DATA_DIR/tiktoken",
    help="Folder of tiktoken's vocabularies; no network is used.",
)

# Secrets
MASK_EMAILS = env_bool("MASK_EMAILS", False, help="E-mail addresses are hidden as secrets are.")

# Memory files
MEMORY_FOLDER = env_str(
    "MEMORY_FOLDER",
    shown="none: the database alone",
    help="Folder where the memory files of agents are mirrored, one folder for each agent.",
)

# Logging
LOG_LEVEL = env_str(
    "LOG_LEVEL", "INFO", choices=("DEBUG", "INFO", "WARNING", "ERROR"), help="What is logged."
)
LOG_FORMAT = env_str(
    "LOG_FORMAT", "text", choices=("text", "json"), help="`text` for people, `json` for machines."
)
LOGGING = logs.configuration(level=LOG_LEVEL, form=LOG_FORMAT)

# Django
CSRF_FAILURE_VIEW = "contextlab.pages.csrf_failure"
ROOT_URLCONF = "contextlab.urls"
ASGI_APPLICATION = "contextlab.asgi.application"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.admin",
    "csp",
    "django_htmx",
    "ninja",
    "sessions_app",
    "compaction_app",
    "contextlab",
]
MIDDLEWARE = [
    "contextlab.middleware.RequestLog",
    "contextlab.api_answers.ApiAnswers",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "contextlab.static_files.StaticFiles",
    "contextlab.middleware.PageGZip",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "contextlab.middleware.LoginFirst",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False

# Static files
STATIC_URL = "/static/"
STATIC_ROOT = env_path(
    "STATIC_ROOT",
    DATA_DIR / "static",
    shown="DATA_DIR/static",
    help="Folder of the collected static files.",
)
WHITENOISE_ALLOW_ALL_ORIGINS = False
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "contextlab.static_files.HashedFiles"},
}

# Accounts
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_AGE = int(timedelta(days=30).total_seconds())
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# Browsers: nothing comes from elsewhere, nothing inline runs
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = SECURE
SECURE_HSTS_SECONDS = int(timedelta(days=30).total_seconds()) if SECURE else 0
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
# Only SECURE=1 says that there is a proxy in front, and the proxy sets this header itself.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SECURE else None
