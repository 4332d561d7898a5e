# zerosum in a container; docs/operations.md has the commands.
#   docker build --tag zerosum .
#   docker run --init --volume "$PWD/runs:/data/runs" zerosum train connect4 --minutes 5

FROM rust:1-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /venv \
    && /venv/bin/pip install --no-cache-dir "maturin>=1.9.4,<2"
WORKDIR /source
COPY . .
RUN /venv/bin/maturin build --release --out /wheels

FROM python:3.12-slim-bookworm
# Options of pip, such as an index whose PyTorch is for CPUs alone, which is smaller; and optional parts in brackets:
# without train the image plays and analyses alone.
ARG PIP_OPTIONS=""
ARG EXTRAS="[train]"
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir $PIP_OPTIONS "$(echo /wheels/zerosum-*.whl)$EXTRAS" && rm -r /wheels
RUN useradd --create-home --uid 1000 zerosum && mkdir /data && chown zerosum /data
USER zerosum
WORKDIR /data
ENTRYPOINT ["zerosum"]
CMD ["--help"]
