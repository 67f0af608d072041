import { expect, test } from 'bun:test'
import { againstBinary } from '../harness.ts'
import { listening } from '../socket.ts'

/** The response to a wrong login says nothing (contract C3); the log of the sandbox does. */

const WORLD_NAME = 'a world is named in lower-case letters, digits, - and _, at most 64: sbx_my-test'

test.if(!againstBinary).each<[string, string, string | undefined, string]>([
  ['sbx_Checkout', 'x', 'sbx_Checkout', WORLD_NAME],
  ['SBX_checkout', 'x', 'SBX_checkout', WORLD_NAME],
  ['sbx_a b', 'x', 'sbx_a b', WORLD_NAME],
  [`sbx_${'a'.repeat(65)}`, 'x', `sbx_${'a'.repeat(65)}`, WORLD_NAME],
  ['sbx_used', 'second', 'sbx_used', 'the password differs from the one of the first login to this world'],
  ['sbx_used.limited', 'x', 'sbx_used.limited', 'the password differs from the one of the first login to this world'],
  ['sandbox', 'x', undefined, 'the password of sandbox is sandbox'],
  ['limited', 'x', undefined, 'the password of limited is limited'],
  ['hunter2', 'x', undefined, 'no client has this name: log in as sandbox, or as sbx_<name> for a world of your own'],
])('the refused login of %p is explained', async (username, password, shown, reason) => {
  const server = await listening()
  const login = (body: object) => fetch(`${server.url}/auth/login`, { method: 'POST', body: JSON.stringify(body) })
  expect((await login({ username: 'sbx_used', password: 'first' })).status).toBe(200)
  expect((await login({ username, password })).status).toBe(401)
  await server.stop()
  const lines = server.log.map((line) => JSON.parse(line) as { message: string; username?: string; reason?: string })
  const refused = lines.filter(({ message }) => message === 'login refused')
  expect(refused.map((line) => [line.username, line.reason])).toEqual([[shown, reason]])
  expect(server.log.join('')).not.toMatch(/second|hunter2/)
})

test.if(!againstBinary)('an injected refusal is not explained', async () => {
  const server = await listening()
  const headers = { 'x-sandbox-fault': 'auth.credentials_wrong' }
  await fetch(`${server.url}/auth/login`, {
    method: 'POST',
    headers,
    body: '{"username":"sandbox","password":"sandbox"}',
  })
  await server.stop()
  expect(server.log.join('')).not.toContain('login refused')
})
