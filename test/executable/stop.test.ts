import { expect, test } from 'bun:test'
import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { COMMAND, inFolder, loggedIn, type Running, start } from '../program.ts'
import { Connection } from '../socket.ts'
import { asOperator } from './live.ts'

/** The program ends cleanly on a signal (contract C1). */

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s ends an idle program with 0', async (signal) => {
  const program = await start()
  await program.request('/status')
  program.signal(signal)
  expect(await program.ended()).toMatchObject({ exitCode: 0 })
})

test('SIGHUP is one log line of a live server, and nothing else', () =>
  asOperator(async (operator) => {
    await using server = await operator.serve('--log-level', 'info')
    await server.logged('listening')
    server.signal('SIGHUP')
    await server.logged('SIGHUP')
    expect((await server.request('/status')).status).toBe(200)
    const { exitCode, stderr } = await server.stop()
    const [, ...lines] = stderr.trimEnd().split('\n')
    expect({ exitCode, lines }).toEqual({
      exitCode: 0,
      lines: [
        expect.stringMatching(/ info {2}SIGHUP changes nothing in live mode$/),
        expect.stringMatching(/ info {2}GET {4}200 .* \/status /),
        expect.stringMatching(/ info {2}stopping$/),
      ],
    })
  }))

test('SIGHUP does not end a sandbox that runs below nohup', async () => {
  const server = await start([], { through: ['nohup'] })
  server.signal('SIGHUP')
  expect((await server.request('/status')).status).toBe(200)
  expect(await server.stop()).toMatchObject({ exitCode: 0 })
})

test('a sandbox whose terminal is closed empties its log into the database, and ends with 0', () =>
  inFolder(async (dataDir) => {
    const ready = Promise.withResolvers<void>()
    let screen = ''
    const child = Bun.spawn([...COMMAND, 'serve', '--port', '0', '--data-dir', dataDir], {
      env: { PATH: process.env.PATH },
      terminal: {
        data: (_, bytes) => {
          screen += new TextDecoder().decode(bytes)
          if (screen.includes('Ctrl+C')) ready.resolve()
        },
      },
    })
    await ready.promise
    child.terminal?.close()
    expect(await child.exited).toBe(0)
    expect(readdirSync(dataDir)).not.toContain('scrip.sqlite-wal')
  }))

test('SIGTERM to the start script reaches the program and leaves no process', async () => {
  const script = { command: [process.execPath, 'run', 'start'], cwd: join(import.meta.dir, '../..') }
  const program = await start([], { ...script, env: { SCRIP_PORT: '0' } })
  program.signal('SIGTERM')
  expect(await program.ended()).toMatchObject({ exitCode: 0 })
  await expect(program.request('/status')).rejects.toThrow()
})

const BODY = JSON.stringify({ email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' })

/** A request of which only the head and a part of the body have been sent. */
const halfSent = async (program: Running): Promise<Connection> => {
  const { access_token } = await loggedIn(program)
  const connection = await Connection.open(program.url)
  const fields = ['host: localhost', `authorization: Bearer ${access_token}`, `content-length: ${BODY.length}`]
  connection.send(`POST /api/v1/beneficiaries HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${BODY.slice(0, 10)}`)
  await program.request('/status') // whoever has the last byte has the earlier ones too
  return connection
}

const isServed = (program: Running): Promise<boolean> =>
  program.request('/status').then(
    () => true,
    () => false,
  )

test('finishes requests in flight and accepts no new ones', async () => {
  const program = await start(['--log-level', 'info'])
  const connection = await halfSent(program)
  program.signal('SIGTERM')
  await program.logged('stopping')
  while (await isServed(program)) await Bun.sleep(10)
  connection.send(BODY.slice(10))
  const response = await connection.closed()
  expect(response).toStartWith('HTTP/1.1 201')
  expect(response).toContain('\r\nConnection: close\r\n')
  expect(await program.ended()).toMatchObject({ exitCode: 0 })
})

test('responds to requests on open connections before it closes them', async () => {
  const program = await start()
  const request = 'GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const connections = await Promise.all(Array.from({ length: 40 }, () => Connection.open(program.url)))
  for (const each of connections) each.send(request)
  for (const each of connections) expect((await each.response()).status).toBe(200)
  // Asleep, it finds the signal and the requests at once when it wakes.
  program.signal('SIGSTOP')
  for (const each of connections) each.send(request)
  program.signal('SIGTERM')
  program.signal('SIGCONT')
  for (const each of connections) {
    expect((await each.response()).status).toBe(200)
    expect(await each.closed()).toBe('')
  }
  expect(await program.ended()).toMatchObject({ exitCode: 0 })
})

/** Another user than root, for whom permissions mean nothing. */
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

test('a live server whose folder has become read-only is not ready, and ends on SIGTERM all the same', () =>
  asOperator(async (operator) => {
    mkdirSync(operator.dataDir, { mode: 0o700 })
    if (isRoot) for (const path of [operator.folder, operator.dataDir]) chownSync(path, NOBODY, NOBODY)
    const through = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []
    const server = await start(['--mode', 'live', '--data-dir', operator.dataDir], { through })
    expect((await server.request('/readyz')).status).toBe(200)
    chmodSync(operator.dataDir, 0o500)
    const ready = await server.request('/readyz')
    expect({ status: ready.status, body: await ready.json() }).toEqual({ status: 503, body: { status: 'unavailable' } })
    chmodSync(operator.dataDir, 0o700)
    expect((await server.request('/readyz')).status).toBe(200)
    chmodSync(operator.dataDir, 0o500)
    expect(await server.stop()).toMatchObject({ exitCode: 0 })
    chmodSync(operator.dataDir, 0o700)
  }))

test('SIGTERM ends those who wait for a request, an event or a delivery, with what there is', async () => {
  const program = await start()
  const connections = await Promise.all(
    ['requests?wait=30s', 'events?wait=30s', 'inbox?wait=30s'].map(async (path) => {
      const connection = await Connection.open(program.url)
      connection.send(`GET /_sandbox/${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
      return connection
    }),
  )
  await program.request('/livez') // whoever has this has the earlier requests too, and the log does not show it
  program.signal('SIGTERM')
  for (const connection of connections) expect(await connection.response()).toMatchObject({ status: 200, body: '[]' })
  expect(await program.ended()).toMatchObject({ exitCode: 0 })
})

test('a second signal ends it immediately', async () => {
  const program = await start(['--log-level', 'info'])
  const connection = await halfSent(program)
  program.signal('SIGTERM')
  await program.logged('stopping')
  program.signal('SIGINT')
  const { exitCode } = await program.ended()
  expect(exitCode).not.toBe(0)
  expect(await connection.closed()).toBe('')
})
