# A server of runs: CPU only, no root. docker build -t forecast-attn . && docker run -p 8000:8000 -v ./runs:/runs:ro forecast-attn
FROM python:3.11-slim AS build
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH
# torch without CUDA is a tenth of the size.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY constraints.txt /src/
RUN pip install --no-cache-dir --index-url ${TORCH_INDEX} "torch==$(sed -n 's/^torch==//p' /src/constraints.txt)"
COPY pyproject.toml README.md LICENSE /src/
COPY forecast_attn /src/forecast_attn
# There is no git here to ask: docker build --build-arg VERSION=0.1.0 …
ARG VERSION=0.1.0.dev0
RUN SETUPTOOLS_SCM_PRETEND_VERSION=${VERSION} pip install --no-cache-dir -c /src/constraints.txt "/src[serve]"

FROM python:3.11-slim
RUN useradd --system --uid 10001 --no-create-home forecast
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1
USER 10001
EXPOSE 8000
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/ready', timeout=3)"]
ENTRYPOINT ["forecast", "serve", "--host", "0.0.0.0"]
CMD ["/runs"]
