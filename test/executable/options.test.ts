import { describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { commandLine } from '../../src/commands/command-line.ts'
import { withServeOptions } from '../../src/config/options.ts'
import { freePort } from '../free-port.ts'
import { folderTest, inFolder, loggedIn, run, start } from '../program.ts'

/** Flags, their variables and their defaults (contract C1). */

describe('a flag overrides its variable, and the variable overrides PORT and the default', () => {
  test.each([
    ['--port', ['--port', 'FREE'], { SCRIP_PORT: '1', PORT: '2' }],
    ['SCRIP_PORT', [], { SCRIP_PORT: 'FREE', PORT: '2' }],
    ['PORT', [], { PORT: 'FREE' }],
  ])('%s', async (_, args, env) => {
    const port = String(await freePort())
    const filled = (text: string) => text.replace('FREE', port)
    const program = await start(args.map(filled), {
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)])),
    })
    expect(program.url).toBe(`http://127.0.0.1:${port}`)
    await program.stop()
  })
})

test('variables have the meaning of their flags', async () => {
  const program = await start([], {
    env: {
      SCRIP_PORT: '0',
      SCRIP_ACCESS_TTL: '90s',
      SCRIP_REFRESH_TTL: '2d',
      SCRIP_CHARGE_TTL: '30s',
      SCRIP_RATE_LIMIT: '7/m',
      SCRIP_LOG_FORMAT: 'json',
      SCRIP_LOG_LEVEL: 'info',
      SCRIP_SEED: 'a seed',
      SCRIP_PUBLIC_URL: 'https://rewards.example.com/',
    },
  })
  const pair = (await loggedIn(program)) as unknown as Record<string, string | number>
  expect(pair.expires_in).toBe(90)
  const issuedAtMs = Date.parse(String(pair.access_expires_at)) - 90_000
  expect(Date.parse(String(pair.refresh_expires_at)) - issuedAtMs).toBe(2 * 86_400_000)

  const headers = { authorization: `Bearer ${pair.access_token}` }
  const product = await program.request('/api/v1/products/1', { headers })
  expect(product.headers.get('x-ratelimit-limit')).toBe('7')
  expect(await product.json()).toMatchObject({ image_url: 'https://rewards.example.com/cards/1' })

  const charge = async () => {
    const body = JSON.stringify({ denomination: 100, quantity: 2 })
    return (await program.request('/api/v1/products/1/charges', { method: 'POST', headers, body })).headers.get(
      'x-cache',
    )
  }
  const advance = (duration: string) =>
    program.request('/_sandbox/clock', { method: 'POST', body: JSON.stringify({ advance: duration, frozen: true }) })
  await advance('PT1S')
  expect([await charge(), await charge()]).toEqual(['MISS', 'HIT'])
  await advance('PT29S')
  expect(await charge()).toBe('HIT')
  await advance('PT1S')
  expect(await charge()).toBe('MISS')
  expect((await program.stop()).stderr).toContain('"level":"info"')
})

test('the variables of a child of scrip run are ignored', async () => {
  const env = { SCRIP_URL: 'x', SCRIP_USERNAME: 'x', SCRIP_PASSWORD: 'x', SCRIP_ACCESS_TOKEN: 'x' }
  const program = await start([], { env: { SCRIP_PORT: '0', ...env } })
  expect((await loggedIn(program)).access_token).toBeString()
  await program.stop()
})

describe('exit 2 with a message, for', () => {
  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['an unknown flag', ['--no-such'], {}, /unknown option '--no-such'/],
    ['an unknown command', ['dance'], {}, /unknown command 'dance'\nTry scrip --help/],
    ['an unknown variable', [], { SCRIP_NO_SUCH: '1' }, /SCRIP_NO_SUCH/],
    ['an unknown mode', ['--mode', 'production'], {}, /--mode/],
    ['an unknown mode in the variable', [], { SCRIP_MODE: 'production' }, /SCRIP_MODE/],
    ['a port that is none', ['--port', '65536'], {}, /A port is a number from 0 to 65535/],
    ['a PORT that is none', [], { PORT: '70000' }, /PORT is not a port: 70000/],
    ['a time without a unit', ['--access-ttl', '60'], {}, /A time is a number and a unit/],
    ['a time of nothing', ['--charge-ttl', '0s'], {}, /A time is a number and a unit/],
    ['a time beyond all bounds', ['--refresh-ttl', '36501d'], {}, /at most 36500d/],
    [
      'a fee beyond all',
      ['--payout-fee', '100.01'],
      {},
      /A fee is a percentage from 0 to 100 with at most two decimals/,
    ],
    ['a fee of three decimals', ['--conversion-fee', '0.125'], {}, /A fee is a percentage/],
    ['a fee below nothing', [], { SCRIP_PAYOUT_FEE: '-1' }, /A fee is a percentage/],
    ['a fee in the sandbox', ['--conversion-fee', '0.5'], {}, /--conversion-fee is not available in sandbox mode/],
    [
      'a fee of the sandbox in a variable',
      [],
      { SCRIP_PAYOUT_FEE: '1' },
      /SCRIP_PAYOUT_FEE is not available in sandbox mode/,
    ],
    ['limits that are none', ['--rate-limit', '1000'], {}, /Limits look like/],
    ['an unknown log format', ['--log-format', 'xml'], {}, /--log-format/],
    ['an unknown log level', ['--log-level', 'loud'], {}, /--log-level/],
    ['a public URL that is none', ['--public-url', 'example'], {}, /A URL looks like/],
    ['an empty folder name', [], { SCRIP_DATA_DIR: '' }, /SCRIP_DATA_DIR/],
    ['a flag without its value', ['--seed'], {}, /--seed/],
    ['live mode without a folder', ['--mode', 'live'], {}, /--data-dir/],
    ['a switch whose variable is neither 1 nor true', [], { SCRIP_STRICT: '0' }, /SCRIP_STRICT is invalid: 0/],
    [
      'prices that live mode would keep for more than an hour',
      ['--mode', 'live', '--data-dir', '/tmp/none', '--charge-ttl', '61m'],
      {},
      /--charge-ttl is at most 1h in live mode/,
    ],
    ['a proxy that is not a network', ['--trusted-proxy', '10.0.0.0/33'], {}, /Networks look like/],
    ['an empty sandbox token', ['--sandbox-token', ''], {}, /--sandbox-token/],
    ['an empty sandbox token in the variable', [], { SCRIP_SANDBOX_TOKEN: '' }, /SCRIP_SANDBOX_TOKEN/],
    ['a secret file that is empty', [], { SCRIP_SANDBOX_TOKEN_FILE: '/dev/null' }, /\/dev\/null is empty/],
    ['a secret file that is not there', [], { SCRIP_SANDBOX_TOKEN_FILE: '/no/such' }, /\/no\/such/],
  ])('%s', async (_, args, env, message) => {
    const { exitCode, stdout, stderr } = await run(args, { env })
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })

  test.each<[string, string[], Record<string, string>]>([
    ['--seed', ['--seed', 'ci'], {}],
    ['SCRIP_SEED', [], { SCRIP_SEED: 'ci' }],
    ['--snapshot', ['--snapshot', 'world.json'], {}],
    ['SCRIP_SNAPSHOT', [], { SCRIP_SNAPSHOT: 'world.json' }],
    ['--sandbox-token', ['--sandbox-token', 'open sesame'], {}],
    ['SCRIP_SANDBOX_TOKEN', [], { SCRIP_SANDBOX_TOKEN: 'open sesame' }],
    ['SCRIP_SANDBOX_TOKEN_FILE', [], { SCRIP_SANDBOX_TOKEN_FILE: '/no/such' }],
    ['--strict', ['--strict'], {}],
    ['SCRIP_STRICT', [], { SCRIP_STRICT: '1' }],
  ])('%s in live mode, before a folder is made', (name, args, env) =>
    inFolder(async (folder) => {
      const dataDir = join(folder, 'data')
      const ended = await run(['--mode', 'live', '--data-dir', dataDir, ...args], { env })
      expect(ended).toEqual({
        exitCode: 2,
        stdout: '',
        stderr: `scrip: ${name} is not available in live mode\nLeave it out.\n`,
      })
      expect(existsSync(dataDir)).toBe(false)
    }),
  )

  folderTest('a secret as a flag in live mode, which accepts variables and files', async (folder) => {
    const live = ['--mode', 'live', '--data-dir', join(folder, 'data')]
    const key = 'a1'.repeat(32)
    expect(await run([...live, '--voucher-key', key])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'scrip: any user of this machine can read --voucher-key\nIn live mode, set SCRIP_VOUCHER_KEY or SCRIP_VOUCHER_KEY_FILE.\n',
    })
    const file = join(folder, 'key')
    writeFileSync(file, key, { mode: 0o600 })
    await (await start(live, { env: { SCRIP_PORT: '0', SCRIP_VOUCHER_KEY: key } })).stop()
    await (await start(live, { env: { SCRIP_PORT: '0', SCRIP_VOUCHER_KEY_FILE: file } })).stop()
  })
})

test('serve knows the variables of all commands', async () => {
  const variables = (command: Command): string[] => [
    ...command.options.flatMap(({ envVar }) => envVar ?? []),
    ...command.commands.flatMap(variables),
  ]
  const ofServe = new Set(withServeOptions(new Command()).options.map(({ envVar }) => envVar))
  const others = [...new Set(variables(await commandLine({})))].filter((name) => !ofServe.has(name))
  expect(others).toContain('SCRIP_COVERAGE')
  const env = Object.fromEntries(others.map((name) => [name, '1']))
  const program = await start(['serve'], { env: { SCRIP_PORT: '0', ...env } })
  await program.stop()
})

describe('the command line', () => {
  test('--version and version print the version', async () => {
    const [flag, command] = await Promise.all([run(['--version']), run(['version'])])
    expect(flag).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '' })
    expect(command).toEqual(flag)
  })

  test('--help shows every flag of serve with its variable and its default', async () => {
    const { exitCode, stdout } = await run(['serve', '--help'])
    expect(exitCode).toBe(0)
    for (const { long, envVar } of withServeOptions(new Command()).options) {
      expect(stdout).toContain(`${long} `)
      expect(stdout).toContain(String(envVar))
    }
    for (const value of ['127.0.0.1', '4747', 'sandbox', '1000/h,100/m', '1h', '7d', '5m', 'pretty', 'info']) {
      expect(stdout).toMatch(new RegExp(`default:\\s+"?${value}`))
    }
  })

  test('openapi prints the document that is served', async () => {
    const program = await start(['--public-url', 'https://rewards.example.com'])
    const served = await (await program.request('/openapi.json')).json()
    const { exitCode, stdout, stderr } = await run(['openapi', '--public-url', 'https://rewards.example.com'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual(served)
    await program.stop()
  })

  test('health exits with 0 if a server responds, otherwise with 1', async () => {
    const program = await start()
    const port = new URL(program.url).port
    expect(await run(['health', '--url', program.url])).toEqual({ exitCode: 0, stdout: 'ready\n', stderr: '' })
    expect(await run(['health'], { env: { SCRIP_PORT: port } })).toMatchObject({ exitCode: 0 })
    await program.stop()
    expect(await run(['health', '--port', port])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining(program.url),
    })
  })
})
