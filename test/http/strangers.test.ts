import { describe, expect, test } from 'bun:test'
import { againstBinary, forFile, startServer } from '../harness.ts'
import { publishedRoutes } from './routes.ts'

const server = forFile(await startServer())

/** A body that does not end, and the number of chunks that were read. */
const endless = () => {
  const pulls = { count: 0 }
  const body = new ReadableStream(
    {
      pull: (controller) => {
        pulls.count += 1
        controller.enqueue(new Uint8Array(1_024).fill(0x20))
        // Over a socket, the headers leave with the first chunk; no other follows.
        return pulls.count === 1 ? undefined : new Promise<void>(() => {})
      },
    },
    { highWaterMark: 0 },
  )
  return { body, pulls }
}

describe('A request without a token below /api/v1', () => {
  test.each([{}, { authorization: 'Bearer a.b.c' }])('is 401 before its body is read (%p)', async (headers) => {
    const posts = (await publishedRoutes(server)).filter(({ method }) => method === 'POST')
    expect(posts.length).toBeGreaterThan(5)
    for (const path of [...posts.map((route) => route.path), '/api/v1/nowhere']) {
      const { body, pulls } = endless()
      const response = await server.request(path, { method: 'POST', headers, body })
      expect([path, response.status]).toEqual([path, 401])
      if (!againstBinary) expect([path, pulls.count]).toEqual([path, 0])
    }
  })
})

describe('POST /auth/logout', () => {
  test('does not read a body', async () => {
    const world = await server.world()
    const { body, pulls } = endless()
    const response = await world.request('/auth/logout', { method: 'POST', body })
    expect(response.status).toBe(200)
    if (!againstBinary) expect(pulls.count).toBe(0)
  })
})
