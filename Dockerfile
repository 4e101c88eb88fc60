# docker build -t dppca .                                                       the dashboard
# docker build -t dppca --build-arg REQUIREMENTS=requirements-cluster.txt .     and what a Dask cluster needs

FROM python:3.14 AS build
ARG REQUIREMENTS=requirements.txt
COPY requirements*.txt /build/
# From 1,030 MB to 720: packages' own tests, OpenDP's debugging symbols, what is for Jupyter, Arrow over networks.
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --disable-pip-version-check -r /build/${REQUIREMENTS} \
    && find /venv -type d -name tests -path "*/site-packages/*" -prune -exec rm -rf {} + \
    && strip --strip-unneeded /venv/lib/python3.*/site-packages/opendp/lib/*.so \
    && rm -rf /venv/share/jupyter /venv/lib/python3.*/site-packages/plotly/labextension \
    && cd /venv/lib/python3.*/site-packages/pyarrow \
    && rm -rf include libarrow_flight.so* libarrow_s3.so* \
    && /venv/bin/pip uninstall --yes --quiet pip

FROM python:3.14-slim
COPY --from=build /venv /venv
WORKDIR /app
COPY app.py ./
COPY .streamlit .streamlit
COPY pages pages
COPY dppca_core dppca_core
COPY data data
# Only accounts can be written by whom it runs as; HOME is where a read-only container has its tmpfs.
RUN python -m compileall -q . \
    && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin visitor \
    && install -d -o visitor /accounts
ENV PATH=/venv/bin:$PATH HOME=/tmp PYTHONUNBUFFERED=1
USER 10001
EXPOSE 8501
# One 503 names a thread that had died and was started again; unhealthy is who answers so three times in a row.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import os, urllib.request as u; \
        path = os.environ.get('STREAMLIT_SERVER_BASE_URL_PATH', '').strip('/'); \
        u.urlopen('http://127.0.0.1:8501' + f'/{path}'.rstrip('/') + '/healthz', timeout=4)"]
CMD ["streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "8501", \
    "--server.allowedHosts", "*"]
