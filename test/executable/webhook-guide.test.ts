import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { bearer, inFolder, loggedIn, start } from '../program.ts'
import { blocksOf, documentText } from './documents.ts'

/** The receivers of docs/use/webhooks.md verify, refuse and deduplicate, in each language that is installed here. */

interface Runner {
  /** The installed command that the example needs. Java runs a source file only with its compiler. */
  needs: string
  command: (file: string, port: string) => string[]
}

const RUNNERS: Record<string, Runner> = {
  'receiver.mjs': { needs: 'node', command: (file) => ['node', file] },
  'receiver.py': { needs: 'python3', command: (file) => ['python3', file] },
  'receiver.go': { needs: 'go', command: (file) => ['sh', '-c', `go build -o receiver ${file} && exec ./receiver`] },
  'Receiver.java': { needs: 'javac', command: (file) => ['java', file] },
  'receiver.php': { needs: 'php', command: (file, port) => ['php', '-S', `127.0.0.1:${port}`, file] },
  'receiver.rb': { needs: 'ruby', command: (file) => ['ruby', file] },
}
const receivers = blocksOf(documentText('docs/use/webhooks.md')).filter(({ file }) => file !== undefined)

test('docs/use/webhooks.md has a receiver for each language', () => {
  expect(receivers.map(({ file }) => file)).toEqual(Object.keys(RUNNERS))
})

const untilListening = async (port: number): Promise<void> => {
  const connects = () =>
    Bun.connect({ hostname: '127.0.0.1', port, socket: { open: (socket) => void socket.end(), data: () => undefined } })
  while (!(await connects().then(Boolean, () => false))) await Bun.sleep(50)
}

describe.each(receivers.map(({ file = '', text }) => [file, text] as const))('%s', (file, text) => {
  const { needs = file, command = () => [] } = RUNNERS[file] ?? {}
  test.skipIf(!Bun.which(needs))('verifies deliveries, refuses others and processes each once', () =>
    inFolder(async (folder) => {
      const path = join(folder, file)
      writeFileSync(path, text)
      const port = String(await freePort())
      await using server = await start()
      const { headers } = bearer(await loggedIn(server))
      const post = async (to: string, body: object = {}) =>
        (await (await server.request(to, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as {
          id: string
          secret: string
        }
      const url = `http://127.0.0.1:${port}/`
      const hook = await post('/api/v1/webhooks', { name: 'guide', url, events: ['*'] })
      const receiver = Bun.spawn(command(path, port), {
        cwd: folder,
        env: { ...process.env, WEBHOOK_SECRET: hook.secret, PORT: port, TMPDIR: folder },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      await untilListening(Number(port))
      const { id } = await post(`/api/v1/webhooks/${hook.id}/ping`)
      await post('/_sandbox/webhooks/settle')
      await post(`/api/v1/events/${id}/redeliver`)
      await post('/_sandbox/webhooks/settle')
      const attempts = await server.request(`/api/v1/webhooks/${hook.id}/deliveries`, { headers })
      const seen = (await attempts.json()) as { status: string; response_status: number }[]
      expect(seen.map(({ status, response_status }) => [status, response_status])).toEqual([
        ['delivered', 204],
        ['delivered', 204],
      ])
      const forged = await fetch(url, {
        method: 'POST',
        headers: { 'webhook-id': id, 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' },
        body: '{"id":"evt_forged","type":"ping"}',
      })
      expect(forged.status).toBe(400)
      receiver.kill()
      const said = (await receiver.stdout.text()) + (await receiver.stderr.text())
      expect(said.split(`ping ${id}`)).toHaveLength(2)
      expect(said).not.toContain('evt_forged')
    }),
  )
})
