import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { COMMAND, folderTest, inFolder, type Place, run, start } from '../program.ts'

/** `scrip run`: a sandbox for as long as a command runs (contract C15); `scrip wait` (contract C1). */

/** Runs a command of the shell with a sandbox. */
const shell = (script: string, flags: string[] = [], place: Place = {}) =>
  run(['run', ...flags, '--', 'sh', '-c', script], place)

/** Runs a program text with a sandbox. */
const script = (text: string, flags: string[] = [], place: Place = {}) =>
  run(['run', ...flags, '--', process.execPath, '-e', text], place)

const ASK = `
const { SCRIP_URL: url, SCRIP_USERNAME: username, SCRIP_PASSWORD: password, SCRIP_ACCESS_TOKEN: token } = process.env
const ask = (path, init) => fetch(url + path, { headers: { authorization: 'Bearer ' + token }, ...init })
const say = (value) => console.log(JSON.stringify(value))
`
const responseOf = ({ stdout, stderr }: { stdout: string; stderr: string }): unknown => {
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

describe('the command gets the sandbox', () => {
  const TOLD = `${ASK}
    const login = await ask('/auth/login', { method: 'POST', body: JSON.stringify({ username, password }) })
    const country = await ask('/api/v1/countries/1')
    say({ url, username, statuses: [login.status, country.status], worlds: (await (await ask('/_sandbox')).json()).worlds })`

  test('with address, credentials and an access token of the sandbox client', async () => {
    const response = responseOf(await script(TOLD))
    expect(response).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      username: 'sandbox',
      statuses: [200, 200],
      worlds: ['default'],
    })
  })

  test('starts on a free port, whatever SCRIP_PORT says', async () => {
    const other = await start()
    const { port } = new URL(other.url)
    for (const taken of [port, 'none']) {
      const say = 'console.log(process.env.SCRIP_URL, process.env.SCRIP_PORT)'
      const ended = await run(['run', '--', process.execPath, '-e', say], { env: { SCRIP_PORT: taken } })
      expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
      const [url = '', said] = ended.stdout.trim().split(' ')
      expect(new URL(url).port).not.toBe(port)
      expect(said).toBe(taken)
    }
    await other.stop()
  })

  test('and keeps its own environment', async () => {
    const { stdout } = await shell('echo "$NODE_ENV,$PORT,$OWN"', [], {
      env: { NODE_ENV: '', PORT: '80', OWN: 'mine' },
    })
    expect(stdout).toBe(',80,mine\n')
  })

  test('accepts flags and variables of serve', async () => {
    const response = await script(
      `${ASK} const { headers } = await ask('/api/v1/countries/1')
       say([headers.get('x-ratelimit-limit'), (await ask('/api/v1/products?limt=1')).status])`,
      ['--strict'],
      { env: { SCRIP_RATE_LIMIT: '7/m' } },
    )
    expect(responseOf(response)).toEqual(['7', 400])
  })
})

describe('the standard streams belong to the command', () => {
  test('and nothing else is written to them', async () => {
    const { stdout, stderr } = await shell('printf out; printf err >&2')
    expect({ stdout, stderr }).toEqual({ stdout: 'out', stderr: 'err' })
  })

  test('logs go to standard error on request', async () => {
    const { stdout, stderr } = await shell('echo $SCRIP_URL', ['--log-level', 'info', '--log-format', 'json'])
    expect(stdout).toMatch(/^http:\S+\n$/)
    expect(JSON.parse(stderr)).toMatchObject({ level: 'info', message: 'listening', url: stdout.trim() })
  })

  test('standard input reaches it', async () => {
    const child = Bun.spawn([...COMMAND, 'run', '--', 'cat'], { stdin: new Blob(['from outside']), stdout: 'pipe' })
    expect(await child.stdout.text()).toBe('from outside')
    expect(await child.exited).toBe(0)
  })

  test('arguments are passed unchanged, also those that look like flags', async () => {
    const { stdout } = await run(['run', '--', 'printf', '[%s]', '--seed', '--', 'a b', '--help'])
    expect(stdout).toBe('[--seed][--][a b][--help]')
  })
})

describe('the exit code', () => {
  test.each([0, 1, 7, 255])('is that of the command: %i', async (code) => {
    expect((await shell(`exit ${code}`)).exitCode).toBe(code)
  })

  test.each([
    ['TERM', 143],
    ['KILL', 137],
    ['INT', 130],
  ])('is 128 plus the number of the signal that ended it: %s', async (signal, exitCode) => {
    expect((await shell(`kill -${signal} $$`)).exitCode).toBe(exitCode)
  })

  test.each([[['no-such-command']], [['/no/such/command', '--flag']], [['']]])(
    'is 127 if the command is not found: %p',
    async (command) => {
      const { exitCode, stdout, stderr } = await run(['run', '--', ...command])
      expect({ exitCode, stdout }).toEqual({ exitCode: 127, stdout: '' })
      expect(stderr).toStartWith(`scrip: cannot run ${command[0]}: `)
      expect(stderr.trimEnd()).not.toContain('\n')
    },
  )

  test.each([
    ['without the right to execute it', 0o600],
    ['that is not a program', 0o700],
  ])('is 126 for a file %s', (_, mode) =>
    inFolder(async (folder) => {
      const file = join(folder, 'plain')
      writeFileSync(file, 'text', { mode })
      const { exitCode, stderr } = await run(['run', '--', file])
      expect(exitCode).toBe(126)
      expect(stderr).toStartWith(`scrip: cannot run ${file}: `)
    }),
  )

  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['no command', ['run'], {}, /missing required argument 'command'/],
    ['no command after --', ['run', '--seed', '7', '--'], {}, /missing required argument 'command'/],
    [
      'live mode',
      ['run', '--mode', 'live', '--data-dir', '/tmp/none', '--', 'true'],
      {},
      /scrip run has no --mode live/,
    ],
    [
      'live mode in the variable',
      ['run', '--', 'true'],
      { SCRIP_MODE: 'live' },
      /scrip run has no --mode live\nUnset SCRIP_MODE: it always starts a sandbox\./,
    ],
    [
      'a data folder in the variable, to explore',
      ['run', '--explore', '--', 'true'],
      { SCRIP_DATA_DIR: '/tmp/none' },
      /SCRIP_DATA_DIR cannot be used with --explore/,
    ],
    ['an unknown flag', ['run', '--no-such', '--', 'true'], {}, /unknown option '--no-such'/],
    ['an unknown variable', ['run', '--', 'true'], { SCRIP_NO_SUCH: '1' }, /SCRIP_NO_SUCH/],
    ['a percentage that is none', ['run', '--coverage-min', '101%', '--', 'true'], {}, /from 0 to 100/],
  ])('is 2 for %s', async (_, args, env, message) => {
    const { exitCode, stdout, stderr } = await run(args, { env })
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })

  test('is 4 if a file of the sandbox cannot be read, and the command does not run', async () => {
    const { exitCode, stdout } = await shell('echo ran', ['--catalog', '/no/such'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' })
  })
})

describe('a signal', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const)(
    '%s is forwarded to the command',
    async (signal) => {
      const trapped = `trap 'echo heard; exit 9' ${signal.slice(3)}; echo up; while :; do sleep 0.05; done`
      const program = await start(['run', '--', 'sh', '-c', trapped], { env: {} })
      expect(program.ready).toBe('up')
      program.signal(signal)
      const { exitCode, stdout } = await program.ended()
      expect({ exitCode, stdout }).toEqual({ exitCode: 9, stdout: 'up\nheard\n' })
    },
  )

  test.each<[NodeJS.Signals, number]>([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ])('%s ends a command without a trap and the sandbox, and leaves no process', async (signal, code) => {
    const program = await start(['run', '--', 'sh', '-c', 'echo $SCRIP_URL $$; exec sleep 30'], { env: {} })
    const [url, pid] = program.ready.split(' ')
    expect((await fetch(`${url}/status`)).status).toBe(200)
    program.signal(signal)
    expect((await program.ended()).exitCode).toBe(code)
    await expect(fetch(`${url}/status`)).rejects.toThrow()
    expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
  })
})

test('no process remains when the command ends', async () => {
  const { stdout } = await shell('echo $SCRIP_URL $PPID')
  const [url, pid] = stdout.split(' ')
  await expect(fetch(`${url}/status`)).rejects.toThrow()
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
})

describe('coverage', () => {
  const COVER = `${ASK} await ask('/api/v1/countries/1'); await ask('/api/v1/countries/0')`

  folderTest('of all worlds is written to a file, as JSON or a table by its name', async (folder) => {
    const [json, table] = [join(folder, 'coverage.json'), join(folder, 'coverage.txt')]
    const elsewhere = `${COVER}
      const login = await ask('/auth/login', { method: 'POST', body: JSON.stringify({ username: 'sbx_elsewhere', password }) })
      const { access_token } = await login.json()
      await ask('/api/v1/countries/1', { headers: { authorization: 'Bearer ' + access_token } })`
    await Promise.all([script(elsewhere, ['--coverage', json]), script(COVER, ['--coverage', table])])
    const report = JSON.parse(readFileSync(json, 'utf8'))
    expect(report).toMatchObject({ documented: expect.any(Number), exercised: 3 })
    expect(report.outcomes).toContainEqual(
      expect.objectContaining({ operation: 'getCountry', name: 'success', count: 2 }),
    )
    expect(readFileSync(table, 'utf8')).toContain('+ 400 countries.invalid_id')
  })

  test('- writes a table to standard error', async () => {
    const { stdout, stderr } = await script(COVER, ['--coverage', '-'])
    expect(stdout).toBe('')
    expect(stderr).toMatch(/GET \/api\/v1\/countries\/:id\n {2}\+ 200 success/)
    expect(stderr).toMatch(/^2 of \d+ documented outcomes covered\.\n\nPOST /)
  })

  folderTest('--coverage-min is not reached: 1, a line that says so, and the coverage all the same', async (folder) => {
    const file = join(folder, 'coverage.json')
    const { exitCode, stderr } = await script(COVER, ['--coverage', file, '--coverage-min', '90%'])
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^scrip: 2 of \d+ documented outcomes covered: [\d.]+ % is less than 90 %\n$/)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ exercised: 2 })
  })

  test('--coverage-min prints nothing if the command has failed', async () => {
    const { exitCode, stderr } = await shell('exit 3', ['--coverage-min', '90'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: '' })
  })
})

test('a scrip inside scrip run starts its own sandbox', async () => {
  const inner = [...COMMAND, 'run', '--', 'sh', '-c', 'echo $SCRIP_URL'].map((word) => `'${word}'`).join(' ')
  const { exitCode, stdout, stderr } = await shell(`echo $SCRIP_URL; ${inner}`)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const [outer, nested] = stdout.split('\n')
  expect(nested).toMatch(/^http:/)
  expect(nested).not.toBe(outer)
})

describe('scrip wait', () => {
  test('returns once a server responds; like scrip health, it uses no proxy', async () => {
    await using program = await start()
    const env = { HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9' }
    for (const place of [{}, { env }]) {
      const waited = await run(['wait', '--url', program.url], place)
      expect(waited).toEqual({ exitCode: 0, stdout: 'ready\n', stderr: '' })
    }
    expect(await run(['health', '--url', program.url], { env })).toMatchObject({ exitCode: 0 })
  })

  test('waits for a server that has not started', async () => {
    const port = String(await freePort())
    const waiting = run(['wait', '--port', port, '--timeout', '20s'])
    await Bun.sleep(300)
    await using _program = await start(['--port', port])
    expect(await waiting).toMatchObject({ exitCode: 0 })
  })

  test('exits with 5 and the reason after the timeout', async () => {
    const { exitCode, stderr } = await run(['wait', '--url', 'http://127.0.0.1:9', '--timeout', '1s'])
    expect(exitCode).toBe(5)
    expect(stderr).toMatch(
      /^scrip: http:\/\/127\.0\.0\.1:9 was not ready within 1 s: .+\nSee the log of the server, or set --timeout\.\n$/,
    )
  })

  test('an invalid time is a usage error', async () => {
    expect(await run(['wait', '--timeout', 'long'])).toMatchObject({ exitCode: 2 })
  })
})
