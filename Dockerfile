# SPDX-License-Identifier: Apache-2.0
#
# The image of wakegate: the program, the shared libraries that it needs with their licences, and
# certificates, nothing else. It runs as any user, with a read-only root and without capabilities:
#
#   docker run --read-only --cap-drop ALL --user 12345 -p 8080:8080 \
#       -v ./wakegate.json:/etc/wakegate/wakegate.json:ro -v wakes:/var/lib/wakegate wakegate
#
# The store that is the default, a file, is in /var/lib/wakegate, the only place that is written to.
# tests/run image builds this file and runs the result.
FROM debian:trixie-slim AS build
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
WORKDIR /src
COPY deploy/packages deploy/
RUN deploy/packages build
COPY . .
RUN cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr && cmake --build build
# The libraries stand where this machine's loader looks for them, so no path names an architecture.
RUN DESTDIR=/image cmake --install build --strip --component program && \
    ldd /image/usr/bin/wakegate | grep -o '/[^ ]*' >libraries && \
    xargs realpath <libraries | xargs dpkg -S | cut -d: -f1 | sort -u >packages && \
    sed 's,.*,/usr/share/doc/&/copyright,' packages | cat libraries - | xargs cp -L --parents -t /image && \
    install -D -m 644 LICENSE /image/usr/share/doc/wakegate/copyright && \
    install -D -m 644 -t /image/etc/ssl/certs /etc/ssl/certs/ca-certificates.crt && \
    echo 'wakegate:x:65532:65532::/var/lib/wakegate:/usr/sbin/nologin' >/image/etc/passwd && \
    echo 'wakegate:x:65532:' >/image/etc/group && \
    echo 'hosts: files dns' >/image/etc/nsswitch.conf && \
    install -d /image/etc/wakegate && install -d -o 65532 -g 0 -m 770 /image/var/lib/wakegate

FROM scratch
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="wakegate" \
      org.opencontainers.image.description="Receives AgentChat wakes and relays them to sleeping runtimes" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /image/ /
# libcurl knows this file by itself; for OpenSSL, which connects to Redis, it is named here.
ENV WAKEGATE_CONFIG=/etc/wakegate/wakegate.json \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
WORKDIR /var/lib/wakegate
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
# A gateway that listens at another address is asked there: --health-cmd, or healthcheck in a compose file.
HEALTHCHECK --interval=10s --timeout=6s --start-period=10s --retries=3 CMD ["/usr/bin/wakegate", "healthcheck"]
ENTRYPOINT ["/usr/bin/wakegate"]
CMD ["serve"]
