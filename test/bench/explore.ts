import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** How long `scrip run --explore` takes for a suite of 100 writes that takes a second by itself. */

const WRITES = 100
/** In worlds of their own, tests are explored together. */
const WORLDS = [10, 1]
/** What a test waits for besides Scrip: so that the suite takes a second. */
const WAIT_MS = 85

/** Ten tests of ten orders, which they repeat with the same key. */
const suiteOf = (worlds: number): string => `
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'

const url = process.env.SCRIP_URL
const post = async (path, body, headers) => {
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return response.json()
}
const again = async (work) => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt === 3) throw error
    }
  }
}
for (let number = 0; number < 10; number += 1) {
  test('test ' + number, async () => {
    const username = 'sbx_world-' + (number % ${worlds})
    const { access_token } = await post('/auth/login', { username, password: 'test' })
    for (let order = 0; order < ${WRITES / 10}; order += 1) {
      const headers = { authorization: 'Bearer ' + access_token, 'idempotency-key': 'order ' + order + ' of test ' + number }
      const { status } = await again(() => post('/api/v1/orders', { product_id: 1, denomination: 100, quantity: 1 }, headers))
      assert.equal(status, 'DELIVERED')
    }
    await setTimeout(${WAIT_MS})
  })
}
`

/** Prints the figures. */
export const exploring = async (scripPath: string): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'scrip-explore-'))
  const suite = join(folder, 'suite.mjs')
  try {
    for (const worlds of WORLDS) {
      writeFileSync(suite, suiteOf(worlds))
      const alone = await secondsOf([scripPath, 'run', '--', 'node', suite])
      const explored = await secondsOf([scripPath, 'run', '--explore', '--', 'node', suite])
      const where = worlds === 1 ? '1 world' : `${worlds} worlds`
      console.log(
        `${WRITES} writes in ${where}: the suite ${alone.toFixed(1)} s, ${2 * WRITES} losses with --explore ${explored.toFixed(1)} s`,
      )
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const secondsOf = async (command: string[]): Promise<number> => {
  const startedAtMs = performance.now()
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' })
  const [exitCode, stderr] = await Promise.all([child.exited, child.stderr.text()])
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${exitCode} ${stderr}`)
  return (performance.now() - startedAtMs) / 1_000
}
