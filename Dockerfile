# One image for web and worker. Build: docker build -t contextlab .
FROM python:3.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /venv
COPY requirements.txt /
RUN /venv/bin/pip install --quiet --no-deps --require-hashes -r /requirements.txt
WORKDIR /app
COPY . .
# The key is for this one command; the vocabularies are unpacked beside the static files.
RUN DATA_DIR=/tmp/build SECRET_KEY=build STATIC_ROOT=/app/collected TIKTOKEN_CACHE_DIR=/app/tiktoken \
    /venv/bin/python manage.py collectstatic --no-input --verbosity 0 \
    && /venv/bin/python -m compileall -q contextlab sessions_app compaction_app

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /data contextlab && install -d -o contextlab -m 700 /data
COPY --from=build /venv /venv
COPY --from=build /app /app
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DATA_DIR=/data \
    STATIC_ROOT=/app/collected \
    TIKTOKEN_CACHE_DIR=/app/tiktoken \
    HOST=0.0.0.0 \
    LOG_FORMAT=json
WORKDIR /app
USER contextlab
VOLUME /data
EXPOSE 8000
CMD ["python", "-m", "uvicorn", "contextlab.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--lifespan", "off", "--no-access-log", "--timeout-graceful-shutdown", "3", "--log-level", "warning"]
