// Runs in process alone: what it proves is logic, which is the same behind a socket.

import { afterAll, expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { startServer } from '../harness.ts'

/** A linter that clients of APIs use finds nothing in the document that its recommended rules would change. */

const server = await startServer()
afterAll(() => server.stop())

test('the document passes the recommended rules', async () => {
  // The linter would rather not see the address of a test.
  const source = (await (await server.request('/openapi.json')).text()).replaceAll(server.url, 'https://scrip.test')
  const problems = await lintFromString({ source, config: await createConfig({ extends: ['recommended'] }) })
  expect(problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`)).toEqual([])
})

test('the document says whom to ask', async () => {
  const { info } = (await (await server.request('/openapi.json')).json()) as { info: { contact: object } }
  expect(info.contact).toEqual({ name: 'The documentation of this server', url: `${server.url}/docs` })
})
