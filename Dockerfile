# The image contains the executable and the C library that it is linked with.
# Both images are pinned by digest; bun.lock pins Bun, which .ci/setup installs.
FROM node:22.23.3-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c AS build
WORKDIR /scrip
COPY package.json bun.lock .npmrc ./
COPY .ci .ci
RUN sh .ci/setup serving
COPY . .
RUN npm run build && mkdir data

FROM gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f
COPY --from=build /scrip/dist/scrip /usr/local/bin/scrip
COPY --from=build --chown=nonroot:nonroot /scrip/data /data
ENV SCRIP_HOST=0.0.0.0 SCRIP_PORT=4747 SCRIP_LOG_FORMAT=json
EXPOSE 4747
VOLUME /data
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s CMD ["/usr/local/bin/scrip", "health"]
ENTRYPOINT ["/usr/local/bin/scrip"]
