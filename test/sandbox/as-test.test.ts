import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forFile, TestWorld } from '../harness.ts'
import { listening } from '../socket.ts'

const folder = mkdtempSync(join(tmpdir(), 'scrip-as-test-'))
const server = forFile(await listening('--log-level', 'error'))
const request = (path: string, init?: BunFetchRequestInit) => fetch(server.url + path, init)
const own = { url: server.url, request, world: () => Promise.reject(new Error('unused')), stop: server.stop }
const world = await TestWorld.open(own, 'recorded')
afterAll(() => {
  rmSync(folder, { recursive: true })
})

/** The last request of the world as a test. */
const asTest = async (format: 'node' | 'pytest' | 'curl'): Promise<string> => {
  const [{ id } = { id: 0 }] = (await (await world.request('/_sandbox/requests?world=recorded&limit=1')).json()) as {
    id: number
  }[]
  return (await world.request(`/_sandbox/requests/${id}?world=recorded&format=${format}`)).text()
}

const run = async (command: string[]): Promise<{ exitCode: number; output: string }> => {
  const env = { ...process.env, SCRIP_URL: server.url, SCRIP_ACCESS_TOKEN: world.token }
  const child = Bun.spawn(command, { env, stdout: 'pipe', stderr: 'pipe' })
  const [exitCode, output, errors] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  return { exitCode, output: output + errors }
}

/** What a source could be broken out of with. */
const ODD = { denomination: 100, quantity: 0, note: `'"\\ \${1} </script>\n\u2028\u202e👩\u200d💻` }

test('a recorded request as a test of node:test passes where it was recorded', async () => {
  await (await world.post('/api/v1/products/1/charges', ODD)).text()
  const source = await asTest('node')
  expect(source).toStartWith(`import assert from 'node:assert/strict'
import { env } from 'node:process'
import { test } from 'node:test'

test("POST /api/v1/products/1/charges answers 400", async () => {
  const response = await fetch(env.SCRIP_URL + "/api/v1/products/1/charges", {
    method: "POST",
    headers: {
      authorization: 'Bearer ' + env.SCRIP_ACCESS_TOKEN,
`)
  expect(source).not.toMatch(/[\u2028\u202e]/)
  expect(source).toContain('👩\u200d💻')
  const file = join(folder, 'recorded.test.mjs')
  writeFileSync(file, source)
  const { exitCode, output } = await run(['node', '--test', file])
  expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' })
})

test.if(Bun.which('python3') !== null)(
  'a recorded request as a test of pytest passes where it was recorded',
  async () => {
    await (await world.post('/api/v1/products/1/charges', ODD)).text()
    const source = await asTest('pytest')
    const [, name] = /^def (\w+)\(\):$/m.exec(source) ?? []
    expect(name).toBe('test_post_api_v1_products_1_charges_answers_400')
    const file = join(folder, 'test_recorded.py')
    writeFileSync(file, `${source}\n\n${name}()\n`)
    const { exitCode, output } = await run(['python3', file])
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: '' })
  },
)

test('a success is compared by its status and its members, as ids and times differ', async () => {
  await (await world.get('/api/v1/categories/1')).text()
  expect(await asTest('node')).toEndWith(`
  assert.equal(response.status, 200)
  const body = await response.json()
  assert.deepEqual(Object.keys(body), ["id", "name"])
})
`)
  await (await world.get('/api/v1/categories')).text()
  expect(await asTest('pytest')).toEndWith(`
    assert response.status == 200
    body = json.loads(response.read())
    assert list(body[0]) == ["id", "name"]
`)
  await (await world.get('/api/v1/orders')).text()
  expect(await asTest('node')).toContain('  assert.deepEqual(body, [])\n')
})

test('headers that a browser sends by itself are in no test and no curl line', async () => {
  const headers = { 'sec-fetch-mode': 'cors', origin: server.url, referer: `${server.url}/docs`, 'x-own': 'kept' }
  await (await world.get('/api/v1/categories/1', headers)).text()
  for (const format of ['node', 'pytest', 'curl'] as const) {
    const source = await asTest(format)
    expect(source).toContain('x-own')
    expect(source).not.toMatch(/sec-fetch|origin|referer|user-agent|accept/i)
  }
})
