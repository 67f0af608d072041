import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inFolder, run } from '../program.ts'

/** Collections of requests that are made from the OpenAPI document. */

interface Item {
  name: string
  event: { script: { exec: string[] } }[]
  request: {
    method: string
    url: { raw: string; query: object[] }
    header: { key: string; disabled?: true }[]
    body?: object
  }
}

const operations = async (): Promise<number> => {
  const { paths } = JSON.parse((await run(['openapi'])).stdout) as { paths: Record<string, object> }
  return Object.entries(paths)
    .filter(([path]) => !path.startsWith('/_sandbox') && path !== '/')
    .reduce((count, [, methods]) => count + Object.keys(methods).length, 0)
}

describe('scrip openapi --as postman', () => {
  test('prints a collection of all operations: it logs in first, and logs out last', async () => {
    const { exitCode, stdout } = await run(['openapi', '--as', 'postman'])
    expect(exitCode).toBe(0)
    const collection = JSON.parse(stdout) as { info: { schema: string }; item: { item: Item[] }[] }
    expect(collection.info.schema).toContain('/v2.1.0/')
    const items = collection.item.flatMap(({ item }) => item)
    expect(items).toHaveLength(await operations())
    expect(items.at(0)?.request.url.raw).toBe('{{base_url}}/auth/login')
    expect(items.at(0)?.event[0]?.script.exec.join('\n')).toContain("set('token'")
    expect(items.at(-1)?.request.url.raw).toBe('{{base_url}}/auth/logout')
    const order = items.find(
      ({ request }) => request.method === 'POST' && request.url.raw === '{{base_url}}/api/v1/orders',
    )
    expect(order?.request.body).toMatchObject({ mode: 'raw', raw: expect.stringContaining('"product_id"') })
    expect(order?.request.header).toContainEqual(expect.objectContaining({ key: 'Idempotency-Key', disabled: true }))
    expect(JSON.stringify(items)).not.toMatch(/X-Sandbox|\{id\}/)
  })
})

describe('scrip openapi --as bruno', () => {
  test('writes a folder of all operations, in the same order', () =>
    inFolder(async (folder) => {
      const output = join(folder, 'collection')
      const { exitCode, stdout } = await run(['openapi', '--as', 'bruno', '--output', output])
      expect([exitCode, stdout]).toEqual([0, ''])
      const files = readdirSync(output, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.bru'))
      const requests = files.filter((path) => !/(?:folder|local)\.bru$/.test(path))
      expect(requests).toHaveLength(await operations())
      expect(readFileSync(join(output, 'Authentication/folder.bru'), 'utf8')).toContain('seq: 1')
      const place = readFileSync(join(output, 'Orders/Buy vouchers.bru'), 'utf8')
      expect(place).toContain('url: {{base_url}}/api/v1/orders\n  body: json\n  auth: bearer')
    }))

  test.each([[['--as', 'bruno']], [['--output', 'x']], [['--as', 'postman', '--output', 'x']]])(
    'exit 2 for %p: a folder belongs to bruno alone',
    async (flags) => {
      const { exitCode, stdout, stderr } = await run(['openapi', ...flags])
      expect([exitCode, stdout]).toEqual([2, ''])
      expect(stderr).toContain('--output with --as bruno')
    },
  )
})
