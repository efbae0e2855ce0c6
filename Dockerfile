# docker build -t contextql . && docker run -p 8000:8000 -v contextql:/data contextql
FROM python:3.12-slim AS build
WORKDIR /source
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/contextql
COPY requirements.txt requirements.in ./
RUN /opt/contextql/bin/pip install --require-hashes -r requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY app app
COPY schema schema
COPY resolvers resolvers
COPY retrieval retrieval
RUN /opt/contextql/bin/pip install --no-deps --no-build-isolation .

FROM python:3.12-slim
RUN useradd --system --uid 10001 --home-dir /data contextql && install -d -o contextql -m 0700 /data
COPY --from=build /opt/contextql /opt/contextql
ENV PATH=/opt/contextql/bin:$PATH PYTHONUNBUFFERED=1 CB_DATA_DIR=/data CB_HOST=0.0.0.0 CB_PORT=8000 CB_LOG_FORMAT=json
USER contextql
WORKDIR /data
VOLUME /data
EXPOSE 8000
# The embedded PostgreSQL may have to replay its log after a crash, hence the long start.
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{os.environ['CB_PORT']}/healthz\", timeout=4)"]
ENTRYPOINT ["contextql"]
CMD ["serve"]
