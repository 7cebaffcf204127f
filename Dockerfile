# The image of the gateway: the published packages on a base without a shell, docs/deployment.md.
#
#   docker build -t sluice .
#
# BASE has Node and npm. RUNTIME has Node at /nodejs/bin/node. Pin both by digest in a pipeline of your own.
ARG BASE=node:24-trixie-slim
ARG RUNTIME=gcr.io/distroless/nodejs24-debian13

FROM ${BASE} AS build
WORKDIR /src
COPY . .
# The packages as they are published, from these sources.
RUN npm ci --ignore-scripts \
 && npm run stage \
 && mkdir /packages \
 && for manifest in build/npm/*/package.json build/npm/@*/*/package.json; do \
      npm pack --silent --pack-destination /packages "./$(dirname "$manifest")" || exit 1; \
    done
WORKDIR /app
RUN echo '{"private":true}' > package.json \
 && npm install --omit=optional --ignore-scripts --no-package-lock /packages/*.tgz
# A start finds compiled code, and a configuration with a finding fails the build.
COPY deploy/image/gateway.yaml /etc/sluice/gateway.yaml
RUN NODE_COMPILE_CACHE=/app/compile-cache node node_modules/sluice/bin/sluice.js check --config /etc/sluice/gateway.yaml \
 && mkdir /data && chown 65532:65532 /data && chmod 0700 /data

FROM ${RUNTIME}
LABEL org.opencontainers.image.title="Sluice" \
      org.opencontainers.image.description="A configuration-driven gateway for model traffic" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /app /app
COPY --from=build /etc/sluice /etc/sluice
COPY --from=build /data /data
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/app/compile-cache \
    SLUICE_CONFIG=/etc/sluice/gateway.yaml
WORKDIR /data
VOLUME /data
USER 65532:65532
EXPOSE 4000 4001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["/nodejs/bin/node", "/app/node_modules/@sluice/cli/bin/health.js", "live", "/data"]
ENTRYPOINT ["/nodejs/bin/node", "/app/node_modules/sluice/bin/sluice.js"]
CMD ["serve"]
