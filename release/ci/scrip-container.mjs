import { GenericContainer, Wait } from 'testcontainers'

export const SANDBOX_TOKEN = 'for-tests'

/** Starts Scrip and resolves with its base URL and a function that stops it. */
export const startScripContainer = async () => {
  const container = await new GenericContainer('registry.example.com/scrip')
    .withCommand(['serve', '--rate-limit', 'off', '--sandbox-token', SANDBOX_TOKEN])
    .withExposedPorts(4747)
    .withWaitStrategy(Wait.forHttp('/readyz', 4747))
    .start()
  return { url: `http://${container.getHost()}:${container.getMappedPort(4747)}`, stop: () => container.stop() }
}
