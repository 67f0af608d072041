import { describe, expect, setSystemTime, test } from 'bun:test'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { freePort } from '../free-port.ts'
import { bearer, inFolder, loggedIn, type Running, start } from '../program.ts'
import { blocksOf, documentText } from './documents.ts'

/** The receivers of docs/use/webhooks.md verify, refuse and deduplicate, in each language that is installed here. */

interface Runner {
  /** The installed command that the example needs. Java runs a source file only with its compiler. */
  needs: string
  command: (file: string, port: string) => string[]
}

const RUNNERS: Record<string, Runner> = {
  'receiver.mjs': { needs: 'node', command: (file) => ['node', file] },
  'library.mjs': { needs: 'node', command: (file) => ['node', file] },
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
      symlinkSync(join(import.meta.dir, '../../node_modules'), join(folder, 'node_modules'))
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

/** Pings a webhook to an inbox of the sandbox, and returns the delivery, its event and its secret. */
const pinged = async (server: Running) => {
  const { headers } = bearer(await loggedIn(server))
  const post = async (to: string, body: object = {}) =>
    (await (await server.request(to, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as {
      id: string
      secret: string
    }
  const url = `${server.url}/_sandbox/inbox/library`
  const hook = await post('/api/v1/webhooks', { name: 'library', url, events: ['*'] })
  const event = await post(`/api/v1/webhooks/${hook.id}/ping`)
  await post('/_sandbox/webhooks/settle')
  const [delivery] = (await (await server.request('/_sandbox/inbox')).json()) as [Delivery]
  return { ...delivery, event, secret: hook.secret }
}

interface Delivery {
  body: string
  headers: Record<string, string>
}

const setClock = async (server: Running, move: object): Promise<number> => {
  const response = await server.request('/_sandbox/clock', { method: 'POST', body: JSON.stringify(move) })
  return Date.parse(((await response.json()) as { now: string }).now)
}

/** Does some work, and returns what it throws. */
const thrown = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return error
  }
}

const HOUR_MS = 3_600_000

describe('a delivery, and the package standardwebhooks', () => {
  test('a text of a delivery verifies and returns the event', async () => {
    await using server = await start()
    const { body, headers, secret, event } = await pinged(server)
    expect(new Webhook(secret).verify(body, headers)).toEqual(event)
  })

  test('bytes are refused with an Error that is no WebhookVerificationError, and Headers with one', async () => {
    await using server = await start()
    const { body, headers, secret, event } = await pinged(server)
    const webhook = new Webhook(secret)
    const request = () => new Request('http://127.0.0.1/', { method: 'POST', body, headers })
    const bytes = await request().bytes()
    const ofBytes = thrown(() => webhook.verify(bytes as Buffer, headers))
    expect(ofBytes).toEqual(new Error('Expected payload to be of type string or Buffer.'))
    expect(ofBytes).not.toBeInstanceOf(WebhookVerificationError)
    const ofHeaders = thrown(() => webhook.verify(body, request().headers as never))
    expect(ofHeaders).toBeInstanceOf(WebhookVerificationError)
    expect(ofHeaders).toHaveProperty('message', 'Missing required headers')
    const entries = Object.fromEntries(request().headers as unknown as Iterable<[string, string]>)
    expect(webhook.verify(await request().text(), entries)).toEqual(event)
  })

  test.each([
    ['ahead of', 'new', { advance: 'PT1H', frozen: true }, 0],
    ['behind', 'old', { frozen: true }, HOUR_MS],
  ])(
    'is refused while the world is an hour %s its receiver, as too %s, and verifies at the time of the world',
    async (_, age, move, later) => {
      await using server = await start()
      const worldMs = await setClock(server, move)
      const { body, headers, secret, event } = await pinged(server)
      const webhook = new Webhook(secret)
      try {
        setSystemTime(new Date(Date.now() + later))
        const refusal = thrown(() => webhook.verify(body, headers))
        expect(refusal).toBeInstanceOf(WebhookVerificationError)
        expect(refusal).toHaveProperty('message', `Message timestamp too ${age}`)
        setSystemTime(new Date(worldMs))
        expect(webhook.verify(body, headers)).toEqual(event)
      } finally {
        setSystemTime()
      }
    },
  )
})

const READ_TOKEN = `
import jwt, sys
options = {"verify_signature": False, "verify_iat": True}
try:
    jwt.decode(sys.argv[1], options=options)
except jwt.ImmatureSignatureError as error:
    print(error)
print(jwt.decode(sys.argv[1], options={**options, "verify_iat": False})["iat"])
`
const PYTHON = '/usr/bin/python3'
const hasPyJwt = Bun.which(PYTHON) !== null && Bun.spawnSync([PYTHON, '-c', 'import jwt']).exitCode === 0

test.skipIf(!hasPyJwt)('PyJWT refuses a token of a world that is ahead, until it leaves iat alone', async () => {
  await using server = await start()
  const worldMs = await setClock(server, { advance: 'PT1H', frozen: true })
  const { access_token } = await loggedIn(server)
  const { stdout, stderr } = Bun.spawnSync([PYTHON, '-c', READ_TOKEN, access_token])
  expect({ stdout: String(stdout), stderr: String(stderr) }).toEqual({
    stdout: `The token is not yet valid (iat)\n${Math.floor(worldMs / 1000)}\n`,
    stderr: '',
  })
})
