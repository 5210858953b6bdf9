# The service in a container, as a user without rights. Without TM_DATABASE_URL it runs its own embedded
# Postgres in /var/lib/typed-memory: mount a volume there. docker-compose.yml runs it beside a Postgres.

FROM python:3.12-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
# For ARM, where wordllama has no wheel and is compiled. This stage is thrown away.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends g++
RUN python -m venv /opt/venv
ENV PATH="/opt/venv/bin:$PATH"
WORKDIR /srv/typed-memory
# The dependencies change more rarely than the code: a layer of their own.
COPY requirements.lock ./
RUN python -m pip install --no-deps --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY app app
COPY migrations migrations
RUN python -m pip install --no-deps --no-build-isolation --editable . \
    && python -m compileall -q app migrations
# What only installing, tests of libraries and downloads of models need: 50 of 360 MB.
RUN find /opt/venv/lib -type d -name tests -prune -exec rm -r {} + \
    && python -m pip uninstall --quiet --yes hf-xet setuptools pip

FROM python:3.12-slim-bookworm
# The home is open to be read: what lies in it is not, and mounted as a tmpfs it may belong to root with the same mode.
# What the embedded Postgres links to. Versions come with the image's release: Debian keeps only its newest.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgssapi-krb5-2 liblz4-1 libssl3 libzstd1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/typed-memory --shell /usr/sbin/nologin typed-memory \
    && install --directory --owner=typed-memory --mode=0755 /var/lib/typed-memory
COPY --from=build /opt/venv /opt/venv
COPY --from=build /srv/typed-memory /srv/typed-memory
ENV PATH="/opt/venv/bin:$PATH" \
    PYTHONUNBUFFERED=1 \
    TM_DATA_DIR=/var/lib/typed-memory
USER 10001
WORKDIR /srv/typed-memory
VOLUME /var/lib/typed-memory
EXPOSE 8700
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as web; web.urlopen('http://127.0.0.1:' + os.environ.get('TM_PORT', '8700') + '/healthz', timeout=4)"]
CMD ["typed-memory", "serve", "--host", "0.0.0.0"]
