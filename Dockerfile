# The image contains the executable and the C library that it is linked with.
FROM oven/bun:1.4.5 AS build
WORKDIR /scrip
COPY package.json bun.lock .npmrc ./
COPY .ci .ci
RUN sh .ci/setup
COPY . .
RUN bun run build && mkdir data

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /scrip/dist/scrip /usr/local/bin/scrip
COPY --from=build --chown=nonroot:nonroot /scrip/data /data
ENV SCRIP_HOST=0.0.0.0 SCRIP_PORT=4747 SCRIP_LOG_FORMAT=json
EXPOSE 4747
VOLUME /data
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s CMD ["/usr/local/bin/scrip", "health"]
ENTRYPOINT ["/usr/local/bin/scrip"]
