import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordedRequest } from '../../src/sandbox/requests/contract.ts'
import { COMMAND, folderTest, inFolder, type Place, run } from '../program.ts'

/** `scrip run` keeps evidence of a run (contract C15): request log, coverage, worlds, and the last errors. */

const script = (text: string, flags: string[] = [], place: Place = {}) =>
  run(['run', ...flags, '--', process.execPath, '-e', ASK + text], place)

const ASK = `
const { SCRIP_URL: url, SCRIP_ACCESS_TOKEN: token } = process.env
const ask = (path, init, bearer = token) => fetch(url + path, { headers: { authorization: 'Bearer ' + bearer }, ...init })
const post = (path, body, bearer) => ask(path, { method: 'POST', body: JSON.stringify(body) }, bearer)
const logIn = async (username) => (await (await post('/auth/login', { username, password: 'a secret word' })).json()).access_token
`
const BUY = `const order = await (await post('/api/v1/orders', { product_id: 1, denomination: 100, quantity: 2 })).json();`

const linesOf = (file: string): RecordedRequest[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('--journal FILE', () => {
  folderTest('has a JSON object for each request of each world, in the order of their responses', async (folder) => {
    const file = join(folder, 'journal.jsonl')
    const { exitCode } = await script(
      `const other = await logIn('sbx_other')
         await ask('/api/v1/countries/1', {}, other)
         await ask('/api/v1/countries/0')`,
      ['--journal', file],
    )
    expect(exitCode).toBe(0)
    expect(linesOf(file).map(({ world, id, method, path, outcome }) => [world, id, method, path, outcome])).toEqual([
      ['other', 1, 'POST', '/auth/login', 'success'],
      ['other', 2, 'GET', '/api/v1/countries/1', 'success'],
      ['default', 1, 'GET', '/api/v1/countries/0', 'countries.invalid_id'],
    ])
  })

  folderTest('has the requests of worlds that were reset or dropped, and more than a world keeps', async (folder) => {
    const file = join(folder, 'journal.jsonl')
    await script(
      `const gone = await logIn('sbx_gone')
         await ask('/_sandbox/worlds/gone', { method: 'DELETE' })
         for (let i = 0; i < 1_005; i++) await ask('/api/v1/countries/0')
         await ask('/_sandbox/reset', { method: 'POST' })
         await ask('/status')`,
      ['--journal', file],
    )
    const lines = linesOf(file)
    expect(lines).toHaveLength(1_007)
    expect(lines[0]).toMatchObject({ world: 'gone', path: '/auth/login' })
    expect(lines.at(-1)).toMatchObject({ world: 'default', id: 1, path: '/status' })
  })

  folderTest('is a HAR file for a name that ends in .har', async (folder) => {
    const file = join(folder, 'journal.har')
    await script(`await ask('/api/v1/countries/1?x=1'); await ask('/api/v1/countries/0')`, ['--journal', file])
    const { log } = JSON.parse(readFileSync(file, 'utf8'))
    expect(log).toMatchObject({ version: '1.2', creator: { name: 'Scrip' } })
    expect(log.entries).toMatchObject([
      {
        _world: 'default',
        request: {
          method: 'GET',
          url: expect.stringMatching(/^http:.*\/countries\/1\?x=1$/),
          queryString: [{ name: 'x', value: '1' }],
        },
        response: { status: 200 },
      },
      { request: { method: 'GET' }, response: { status: 400 } },
    ])
  })
})

test.each(['journal.jsonl', 'journal.har'])('%s is for its owner alone, whatever was there', (name) =>
  inFolder(async (folder) => {
    const file = join(folder, name)
    writeFileSync(file, 'of an earlier run', { mode: 0o644 })
    await run(['run', '--journal', file, '--', 'true'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
  }),
)

describe('when the command fails', () => {
  test('the last ten requests with a 4xx or a 5xx are on standard error, with world, error and message, how many there were, and what to read', async () => {
    const { exitCode, stderr } = await script(`
      for (let id = 1; id <= 5; id++) await ask('/api/v1/countries/0?before=' + id)
      const other = await logIn('sbx_other')
      for (let id = 1; id <= 8; id++) await ask('/api/v1/products/' + (2_000_000_000 + id), {}, other)
      await ask('/api/v1/countries/1')
      await ask('/api/v1/countries/1', { headers: { authorization: 'Bearer ' + token, 'x-sandbox-fault': 'internal' } })
      await ask('/api/v1/nowhere')
      process.exit(7)`)
    expect(exitCode).toBe(7)
    const lines = stderr.trimEnd().split('\n')
    expect(lines).toHaveLength(12)
    expect(lines[0]).toBe('the last 10 of 15 requests that failed:')
    expect(lines[1]).toMatch(
      /^\d{4}-\d\d-\d\dT\S+Z other 404 products.not_found: GET \/api\/v1\/products\/2000000001 req_other_\d+: Product not found$/,
    )
    expect(lines[9]).toMatch(/ default 500 internal \(injected\): GET \/api\/v1\/countries\/1 req_default_\d+: \S/)
    expect(lines[10]).toMatch(/ default 404 route_not_found: GET \/api\/v1\/nowhere req_\S+: \S/)
    expect(lines[11]).toBe('scrip docs errors: what to do about each error')
  })

  test('nothing is on standard error if all responses were successes, or if it does not fail', async () => {
    expect(await script(`await ask('/api/v1/countries/1'); process.exit(1)`)).toMatchObject({ exitCode: 1, stderr: '' })
    expect(await script(`await ask('/api/v1/countries/0')`)).toMatchObject({ exitCode: 0, stderr: '' })
  })
})

folderTest(
  '--data-dir DIR has the worlds as they ended: their clocks stand still, and their request logs tell what happened',
  async (folder) => {
    const dataDir = join(folder, 'worlds')
    const { exitCode } = await script(
      `await logIn('sbx_other'); await ask('/api/v1/countries/0'); ${BUY} process.exit(1)`,
      ['--data-dir', dataDir],
    )
    expect(exitCode).toBe(1)
    const look = `
    const read = async (path) => (await fetch(url + '/_sandbox' + path)).json()
    console.log(JSON.stringify({
      clocks: [await read('/clock'), await read('/clock?world=other')],
      requests: (await read('/requests?world=*')).map(({ world, path }) => world + ' ' + path),
    }))`
    const seen = JSON.parse((await script(look, ['--data-dir', dataDir])).stdout)
    expect(seen.clocks).toMatchObject([{ frozen: true }, { frozen: true }])
    expect(seen.requests.sort()).toEqual(['default /api/v1/countries/0', 'default /api/v1/orders', 'other /auth/login'])
  },
)

describe('--on failure', () => {
  const FLAGS = (folder: string) => ['journal', 'coverage'].flatMap((name) => [`--${name}`, join(folder, name)])

  folderTest('writes nothing about a run that succeeded, and leaves what is there', async (folder) => {
    writeFileSync(join(folder, 'journal'), 'of an earlier run')
    const { exitCode } = await run(['run', ...FLAGS(folder), '--on', 'failure', '--', 'true'])
    expect(exitCode).toBe(0)
    expect(readdirSync(folder)).toEqual(['journal'])
    expect(readFileSync(join(folder, 'journal'), 'utf8')).toBe('of an earlier run')
  })

  test('tells a pipe nothing of a run that succeeded', async () => {
    const journaled = async (end: string) => {
      const work = `curl -s -o /dev/null $SCRIP_URL/api/v1/orders; ${end}`
      const args = ['run', '--journal', '/dev/stdout', '--on', 'failure', '--', 'sh', '-c', work]
      return (await run(args, { command: ['sh', '-c', '"$@" | cat', 'sh', ...COMMAND] })).stdout
    }
    expect(await journaled('true')).toBe('')
    expect(await journaled('false')).toStartWith('{"id":1,"world":"default",')
  })

  test.each<[string, string[], string, number]>([
    ['a command that failed', [], 'false', 1],
    ['a command that a signal ended', [], 'kill -TERM $$', 143],
    ['a coverage that is too low', ['--coverage-min', '99%'], 'true', 1],
    ['each run with always, the default', ['--on', 'always'], 'true', 0],
  ])('writes all files about %s', (_, flags, command, code) =>
    inFolder(async (folder) => {
      const { exitCode } = await run(['run', ...FLAGS(folder), '--on', 'failure', ...flags, '--', 'sh', '-c', command])
      expect(exitCode).toBe(code)
      expect(readdirSync(folder).sort()).toEqual(['coverage', 'journal'])
    }),
  )
})

describe('a file that cannot be written is a usage error before the command starts', () => {
  test.each(['--journal', '--coverage'])('%s in a folder that is missing, or that is a folder', (flag) =>
    inFolder(async (folder) => {
      mkdirSync(join(folder, 'taken'))
      for (const file of ['/no/such/file', join(folder, 'taken')]) {
        const { exitCode, stdout, stderr } = await run(['run', flag, file, '--', 'echo', 'ran'])
        expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
        expect(stderr).toStartWith(`scrip: ${flag}: cannot write ${file}: `)
      }
      expect(readdirSync(folder)).toEqual(['taken'])
    }),
  )

  folderTest('one file for two of them', async (folder) => {
    const { exitCode, stderr } = await run(['run', '--journal', 'one', '--coverage', './one', '--', 'true'], {
      cwd: folder,
    })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Use another file for each report')
    expect(existsSync(join(folder, 'one'))).toBe(false)
  })
})

test.each(['--journal', '--coverage', '--coverage-min'])(
  '%s cannot be used together with --explore, which has many runs',
  async (flag) => {
    const { exitCode, stderr } = await run(['run', '--explore', flag, '5%', '--', 'true'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(flag) })
  },
)

test.skipIf(!existsSync('/dev/full'))(
  'a full disk does not disturb the command, and then the exit code is 1',
  async () => {
    const { exitCode, stdout, stderr } = await script(`console.log((await ask('/api/v1/countries/1')).status)`, [
      '--journal',
      '/dev/full',
    ])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '200\n' })
    expect(stderr).toMatch(/not written .*file=\/dev\/full cause=.*ENOSPC/)
  },
)
