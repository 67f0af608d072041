import { afterAll, expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { startServer } from '../harness.ts'

/** A linter that clients of APIs use finds nothing in the document that its recommended rules would change. */

const server = await startServer()
afterAll(() => server.stop())

/** What needs no token, takes nothing and finds nothing has nothing to refuse. */
const REFUSE_NOTHING = ['/status', '/livez', '/readyz', '/']

test('the document passes the recommended rules', async () => {
  // The linter would rather not see the address of a test.
  const source = (await (await server.request('/openapi.json')).text()).replaceAll(server.url, 'https://scrip.test')
  const problems = await lintFromString({ source, config: await createConfig({ extends: ['recommended'] }) })
  const said = problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`)
  const refusesNothing = REFUSE_NOTHING.map(
    (path) => `operation-4xx-response #/paths/${path.replaceAll('/', '~1')}/get/responses`,
  )
  expect(said.sort()).toEqual(refusesNothing.sort())
})
