import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from '../../release/compile.ts'
import { mainPackage, platformPackage } from '../../release/packages.ts'
import { folderOfFile, isBinary } from '../program.ts'
import { blocksOf, documentText, PAGES } from './documents.ts'
import { done, EXECUTABLE, environment, hasNode, packIn, run, target } from './packages.ts'

/** The npm package, packed, installed in empty folders from its files, and used there as by a stranger. */

const README = join(import.meta.dir, '../../release/npm/README.md')

const installedIn = (folder: string): string[] =>
  readdirSync(join(folder, 'node_modules'))
    .filter((name) => !name.startsWith('.'))
    .sort()

/** A registry that refuses everything and remembers the requests. */
const startRegistry = () => {
  const requests: string[] = []
  const server = Bun.serve({
    port: 0,
    fetch: ({ method, url }) => {
      requests.push(`${method} ${new URL(url).pathname}`)
      return new Response(null, { status: 404 })
    },
  })
  // Without this machine's settings, and without a check for a newer npm.
  const environment = {
    npm_config_registry: server.url.href,
    npm_config_userconfig: '/none/npmrc',
    npm_config_update_notifier: 'false',
    npm_config_fetch_retries: '0',
    BUN_CONFIG_REGISTRY: server.url.href,
  }
  return { requests, environment, stop: () => server.stop(true) }
}

/** Waits until nobody listens at an address. */
const gone = async (url: string): Promise<boolean> => {
  for (let attempts = 0; attempts < 100; attempts += 1) {
    if (!(await fetch(`${url}/status`).catch(() => undefined))) return true
    await Bun.sleep(50)
  }
  return false
}

const SESSION = `
import { startScrip } from 'scrip-sandbox'
const scrip = await startScrip({ args: ['--rate-limit', 'off'] })
const world = await scrip.world('shop')
const charge = async (of) => {
  const body = JSON.stringify({ denomination: 100, quantity: 2 })
  const response = await of.fetch('/api/v1/products/1/charges', { method: 'POST', body })
  return [response.status, (await response.json()).total_payable ?? null]
}
const said = { url: scrip.url, name: world.name, username: world.username, priced: await charge(world) }
await world.addFault({ error: 'charges.rate_failed', times: 1 })
said.struck = await charge(world)
const before = world.accessToken
said.now = (await world.moveClock({ now: '2040-01-01T00:00:00Z', frozen: true })).now
said.expired = await charge(world)
await world.login()
said.again = await charge(world)
await world.resetWorld()
await world.login()
said.isFresh = before !== world.accessToken
said.afterReset = await charge(world)
const [one, other] = await Promise.all([scrip.world(), scrip.world()])
said.apart = one.name !== other.name && one.accessToken !== other.accessToken
await world.dropWorld({ name: world.name })
said.dropped = await charge(world)
said.refused = await scrip.world('No Such Name').catch((error) => error.name + ' ' + error.message)
await scrip.stop()
await scrip.stop()
said.isGone = await fetch(scrip.url + '/status').then(() => false, () => true)
console.log(JSON.stringify(said))
`
const UNTIL_KILLED = `
import { startScrip } from 'scrip-sandbox'
console.log((await startScrip()).url)
setInterval(() => undefined, 1_000)
`
const WITHOUT_STOP = `
import { startScrip } from 'scrip-sandbox'
console.log((await startScrip()).url)
`
const START_FAILS = `
import { startScrip } from 'scrip-sandbox'
await startScrip({ args: ['--no-such-flag'] }).catch((error) => console.log(error.name, error.message))
await startScrip({ executable: '/nowhere/scrip' }).catch((error) => console.log(error.name, error.message))
`
const COVERAGE = `
import { startScrip } from 'scrip-sandbox'
const scrip = await startScrip({ args: ['--coverage', 'coverage.json', '--coverage-min', '50'] })
await scrip.world()
await scrip.stop().catch((error) => console.log(error.message))
`
const REQUIRED = `
const { startScrip, ScripError } = require('scrip-sandbox')
const session = async () => {
  const scrip = await startScrip()
  const world = await scrip.world()
  const status = (await world.fetch('/api/v1/countries/1')).status
  await scrip.stop()
  const imported = await import('scrip-sandbox')
  console.log(status, imported.ScripError === ScripError, imported.startScrip === startScrip)
}
session()
`
const REQUIRED_TYPED = `
import scripSandbox = require('scrip-sandbox')
const start: (options?: scripSandbox.StartOptions) => Promise<scripSandbox.Scrip> = scripSandbox.startScrip
export = start
`
const TYPED = `
import { type Scrip, startScrip, type World } from 'scrip-sandbox'
const scrip: Scrip = await startScrip({ timeoutMs: 10_000 })
const world: World = await scrip.world('typed')
const response: Response = await world.fetch('/api/v1/countries', { headers: { accept: 'application/json' } })
const { now }: { now: string } = await world.moveClock({ advance: 'PT1H' })
export { now, response }
// @ts-expect-error a world's name is text
await scrip.world(1)
`

describe.skipIf(!isBinary || !target || !hasNode)('the npm package', () => {
  const root = folderOfFile()
  const withNpm = join(root, 'with-npm')
  const withBun = join(root, 'with-bun')
  const BUN = process.execPath
  const registry = startRegistry()

  beforeAll(async () => {
    if (!target) return
    const carried = platformPackage(target, EXECUTABLE, 'The notices of the release.')
    if (!carried) return
    const packed = await Promise.all([await mainPackage(), carried].map((one) => packIn(root, one)))
    for (const folder of [withNpm, withBun]) {
      mkdirSync(folder)
      for (const [file, text] of Object.entries({ SESSION, UNTIL_KILLED, WITHOUT_STOP, START_FAILS, COVERAGE })) {
        writeFileSync(join(folder, `${file.toLowerCase()}.mjs`), text)
      }
    }
    await done(['npm', 'install', ...packed], withNpm, registry.environment)
    await done([BUN, 'add', ...packed], withBun, registry.environment)
  })
  afterAll(async () => {
    await registry.stop()
  })

  test('makes no registry request when installed from files', async () => {
    expect(registry.requests).toEqual([])
    await run(['npm', 'view', 'scrip-sandbox'], withNpm, registry.environment)
    expect(registry.requests.splice(0)).toEqual(['GET /scrip-sandbox']) // it would have been heard
  })

  test('contains the executable, the library and its types, without dependencies', () => {
    expect(installedIn(withNpm)).toEqual(['scrip-sandbox', target?.npm?.name ?? ''])
    for (const name of installedIn(withNpm)) {
      const manifest = JSON.parse(readFileSync(join(withNpm, 'node_modules', name, 'package.json'), 'utf8')) as object
      expect(manifest).toMatchObject({ name, version: PROJECT.version })
      expect(Object.keys(manifest).filter((member) => /dependencies/i.test(member))).toEqual([])
    }
  })

  describe.each([
    ['Node', 'node', withNpm],
    ['Bun', process.execPath, withBun],
  ])('under %s', (_, runtime, folder) => {
    test('starts, creates worlds, prices, fails, advances the clock, resets, deletes and stops', async () => {
      const toNowhere = { HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9' } // a sandbox is asked directly
      const said = JSON.parse(await done([runtime, 'session.mjs'], folder, toNowhere))
      expect(said).toMatchObject({
        name: 'shop',
        username: 'sbx_shop',
        priced: [200, 230.1],
        struck: [500, null],
        now: expect.stringMatching(/^2040-01-01T00:00:00/),
        expired: [401, null],
        again: [200, 230.1],
        isFresh: true,
        afterReset: [200, 230.1],
        apart: true,
        dropped: [401, null],
        refused: expect.stringMatching(/^ScripError PUT \/_sandbox\/worlds\/No%20Such%20Name: 400 /),
        isGone: true,
      })
    })

    test('ends if the process that started it is killed', async () => {
      const child = Bun.spawn([runtime, 'until_killed.mjs'], { cwd: folder, env: environment, stdout: 'pipe' })
      const { value } = await child.stdout.getReader().read()
      const url = new TextDecoder().decode(value).trim()
      expect((await fetch(`${url}/status`)).status).toBe(200)
      child.kill('SIGKILL')
      expect(await gone(url)).toBe(true)
    })

    test('does not keep its parent alive, and ends with it', async () => {
      expect(await gone((await done([runtime, 'without_stop.mjs'], folder)).trim())).toBe(true)
    })

    test('reports why it cannot start', async () => {
      const [flag, missing] = (await done([runtime, 'start_fails.mjs'], folder)).split('\nScripError')
      expect(flag).toMatch(/^ScripError Scrip did not start: ended with 2: .*--no-such-flag/s)
      expect(missing).toMatch(/Scrip did not start: .*ENOENT/)
    })

    test('writes the coverage at the end, and rejects if it is too low', async () => {
      expect(await done([runtime, 'coverage.mjs'], folder)).toMatch(/^Scrip ended with 1: .*50/s)
      expect(JSON.parse(readFileSync(join(folder, 'coverage.json'), 'utf8')).outcomes).toBeArray()
    })

    test.each([
      ['linux', 'mips', 'Scrip has no executable for linux mips. It runs on darwin arm64, darwin x64,'],
      ['darwin', 'arm64', `It is the package scrip-sandbox-darwin-arm64, version ${PROJECT.version}: install its file`],
    ])('names the missing package on %s %s', async (platform, arch, message) => {
      const script = `
        Object.defineProperties(process, { platform: { value: '${platform}' }, arch: { value: '${arch}' } })
        await import('scrip-sandbox').then((scrip) => scrip.startScrip()).catch((error) => console.log(error.message))`
      writeFileSync(join(folder, 'elsewhere.mjs'), script)
      expect(await done([runtime, 'elsewhere.mjs'], folder)).toContain(message)
    })

    test('exports the same objects to CommonJS and ES modules', async () => {
      writeFileSync(join(folder, 'required.cjs'), REQUIRED)
      expect(await done([runtime, 'required.cjs'], folder)).toBe('200 true true\n')
    })

    test('works as its README says', async () => {
      const code = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(README, 'utf8'))?.[1] ?? ''
      writeFileSync(join(folder, 'readme.mjs'), code)
      expect(await done([runtime, 'readme.mjs'], folder)).toBe('230.1\n')
    })
  })

  test('has types that need only those of the platform', async () => {
    writeFileSync(join(withNpm, 'typed.mts'), TYPED)
    const flags = [
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--lib',
      'es2022,dom',
      '--types',
      '',
    ]
    const compiler = join(import.meta.dir, '../../node_modules/typescript/bin/tsc')
    expect(await done([BUN, compiler, ...flags, 'typed.mts'], withNpm)).toBe('')
    writeFileSync(join(withNpm, 'required.cts'), REQUIRED_TYPED)
    expect(await done([BUN, compiler, ...flags, 'required.cts'], withNpm)).toBe('')
  })

  test('no document tells users to install our packages by name', () => {
    for (const page of [...PAGES, 'CHANGELOG.md', 'release/npm/README.md']) {
      const text = documentText(page)
      expect({
        page,
        run: text.match(/\b(?:npx|npm exec|bunx|pnpm dlx|yarn dlx)\s+(?:-\S+\s+)*scrip\S*/g) ?? [],
      }).toEqual({ page, run: [] })
      const installed = text.match(/\b(?:npm (?:i|install)|bun add|pnpm add|yarn add) .*/g) ?? []
      expect({ page, installed: installed.filter((line) => /\s@?scrip/.test(line)) }).toEqual({ page, installed: [] })
    }
  })

  describe('the documented commands in a new project with an empty registry', () => {
    const folder = join(root, 'typed')
    // On a free port, and for this machine; everything else is typed unchanged.
    const type = async (line: string): Promise<string> => {
      const here = line.replaceAll('scrip-sandbox-linux-x64-', `${target?.npm?.name}-`)
      const { exitCode, stdout, stderr } = await run(['sh', '-c', here], folder, { ...registry.environment, PORT: '0' })
      expect({ line, exitCode, stderr: exitCode === 0 ? '' : stderr + stdout }).toEqual({
        line,
        exitCode: 0,
        stderr: '',
      })
      return stdout
    }
    const quickstart = blocksOf(documentText('docs/start/quickstart.md'))
    const [served = '', around = '', help = ''] =
      readFileSync(README, 'utf8').match(/(?<=^ {4})node_modules.+$/gm) ?? []

    beforeAll(async () => {
      mkdirSync(folder)
      for (const file of readdirSync(root).filter((name) => name.endsWith('.tgz'))) {
        symlinkSync(join(root, file), join(folder, file))
      }
      await type('npm init --yes')
      await type('npm pkg set scripts.test="node --test"')
      const [install = ''] = quickstart.flatMap(({ text }) => text.match(/^npm install .+$/gm) ?? [])
      await type(install)
      for (const { file, text } of quickstart) if (file !== undefined) writeFileSync(join(folder, file), text)
    })

    test('the import of the README works in a test', async () => {
      const [imported = 'nothing'] =
        /import \{ startScrip \} from 'scrip-sandbox'/.exec(documentText('release/npm/README.md')) ?? []
      expect(quickstart.find(({ file }) => file === 'second.test.mjs')?.text).toContain(`\n${imported}\n`)
      const line = quickstart.find(({ text }) => text.startsWith('node --test second'))?.text.trim() ?? ''
      expect(await type(line)).toMatch(/pass 1\b/)
    })

    test('scrip run works with tests that start their own sandbox', async () => {
      expect(around).toContain('node_modules/.bin/scrip run -- npm test')
      const tests = quickstart.flatMap(({ file, text }) => (file === undefined ? [] : (text.match(/^test\(/gm) ?? [])))
      expect(await type(around)).toMatch(new RegExp(`pass ${tests.length}\\b`))
    })

    test('scrip --help prints help', async () => {
      expect(await type(help)).toContain('Usage: scrip')
    })

    test('scrip serve serves until it is interrupted', async () => {
      expect(served).toContain('node_modules/.bin/scrip serve')
      const env = { ...environment, PORT: '0' }
      // A group of its own, which is interrupted as a whole, as by a terminal.
      const child = spawn('sh', ['-c', served], {
        cwd: folder,
        env,
        detached: true,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const ended = once(child, 'exit')
      const [said] = (await once(child.stdout, 'data')) as [Buffer]
      const url = /^ready url=(\S+)/.exec(said.toString())?.[1] ?? ''
      expect((await fetch(`${url}/docs`)).status).toBe(200)
      process.kill(-(child.pid ?? 0), 'SIGINT')
      await ended
      expect(await gone(url)).toBe(true)
    })
  })
})
