import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROJECT } from '../../.ci/release/compile.ts'
import { mainPackage, platformPackage, writePackage } from '../../.ci/release/packages.ts'
import { TARGETS } from '../../.ci/release/targets.ts'
import { runsHere } from '../../.ci/release/trial.ts'
import { BINARY } from '../harness.ts'
import { blocksOf, documentText } from '../program/documents.ts'
import { isBinary } from '../program/program.ts'

/** The npm package, packed, installed in empty folders from its files, and used there as a stranger would. */

const answers = (command: string, ...args: string[]): string =>
  Bun.which(command)
    ? Bun.spawnSync([command, ...args])
        .stdout.toString()
        .trim()
    : ''
const hasNode =
  answers('node', '-p', '!process.versions.bun && parseInt(process.versions.node) >= 20') === 'true' &&
  /^\d+\./.test(answers('npm', '--version'))
const target = TARGETS.find((candidate) => candidate.npm && runsHere(candidate))
const README = join(import.meta.dir, '../../.ci/release/npm/README.md')

const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:SCRIP_|npm_|NODE_|BUN_)/i.test(name)),
)

interface Ended {
  exitCode: number
  stdout: string
  stderr: string
}

const run = async (command: string[], cwd: string, env: Record<string, string> = {}): Promise<Ended> => {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...environment, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [exitCode, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  return { exitCode, stdout, stderr }
}

/** @throws Error with what a command wrote, when it fails */
const done = async (command: string[], cwd: string): Promise<string> => {
  const { exitCode, stdout, stderr } = await run(command, cwd)
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${exitCode}: ${stdout}${stderr}`)
  return stdout
}

/** Waits until nobody answers at an address any more. */
const gone = async (url: string): Promise<boolean> => {
  for (let attempts = 0; attempts < 100; attempts += 1) {
    if (!(await fetch(`${url}/status`).catch(() => undefined))) return true
    await Bun.sleep(50)
  }
  return false
}

const SESSION = `
import { startScrip } from 'scrip'
const scrip = await startScrip({ args: ['--rate-limit', 'off'] })
const world = await scrip.world('shop')
const charge = async (of) => {
  const body = JSON.stringify({ denomination: 100, quantity: 2 })
  const response = await of.fetch('/api/v1/products/1/charges', { method: 'POST', body })
  return [response.status, (await response.json()).total_payable ?? null]
}
const said = { url: scrip.url, name: world.name, username: world.username, priced: await charge(world) }
await world.fault({ error: 'charges.rate_failed', times: 1 })
said.struck = await charge(world)
const before = world.accessToken
said.now = await world.clock({ now: '2040-01-01T00:00:00Z', frozen: true })
said.expired = await charge(world)
await world.login()
said.again = await charge(world)
await world.reset()
said.isFresh = before !== world.accessToken
said.afterReset = await charge(world)
const [one, other] = await Promise.all([scrip.world(), scrip.world()])
said.apart = one.name !== other.name && one.accessToken !== other.accessToken
await world.drop()
said.dropped = await charge(world)
said.refused = await scrip.world('No Such Name').catch((error) => error.name + ' ' + error.message)
await scrip.stop()
await scrip.stop()
said.isGone = await fetch(scrip.url + '/status').then(() => false, () => true)
console.log(JSON.stringify(said))
`
const UNTIL_KILLED = `
import { startScrip } from 'scrip'
console.log((await startScrip()).url)
setInterval(() => undefined, 1_000)
`
const WITHOUT_STOP = `
import { startScrip } from 'scrip'
console.log((await startScrip()).url)
`
const START_FAILS = `
import { startScrip } from 'scrip'
await startScrip({ args: ['--no-such-flag'] }).catch((error) => console.log(error.name, error.message))
await startScrip({ executable: '/nowhere/scrip' }).catch((error) => console.log(error.name, error.message))
`
const COVERAGE = `
import { startScrip } from 'scrip'
const scrip = await startScrip({ args: ['--coverage', 'coverage.json', '--fail-under', '50'] })
await scrip.world()
await scrip.stop().catch((error) => console.log(error.message))
`
const TYPED = `
import { type Scrip, startScrip, type World } from 'scrip'
const scrip: Scrip = await startScrip({ timeoutMs: 10_000 })
const world: World = await scrip.world('typed')
const response: Response = await world.fetch('/api/v1/countries', { headers: { accept: 'application/json' } })
const now: string = await world.clock({ advance: 'PT1H' })
export { now, response }
// @ts-expect-error a world's name is text
await scrip.world(1)
`

describe.skipIf(!isBinary || !target || !hasNode)('the npm package', () => {
  const root = mkdtempSync(join(tmpdir(), 'scrip-npm-test-'))
  const withNpm = join(root, 'with-npm')
  const withBun = join(root, 'with-bun')
  const BUN = process.execPath

  beforeAll(async () => {
    if (!target) return
    const carried = platformPackage(target, readFileSync(BINARY), 'The notices of the release.')
    if (!carried) return
    writePackage(join(root, 'scrip'), mainPackage())
    writePackage(join(root, 'platform'), carried)
    for (const folder of [withNpm, withBun]) {
      mkdirSync(folder)
      for (const [file, text] of Object.entries({ SESSION, UNTIL_KILLED, WITHOUT_STOP, START_FAILS, COVERAGE })) {
        writeFileSync(join(folder, `${file.toLowerCase()}.mjs`), text)
      }
    }
    await done(['npm', 'pack', './scrip', './platform'], root)
    const packed = readdirSync(root)
      .filter((file) => file.endsWith('.tgz'))
      .map((file) => join(root, file))
    await done(['npm', 'install', '--offline', ...packed], withNpm)
    await done([BUN, 'add', '--offline', ...packed], withBun)
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  test('holds the executable, the library and its types, and depends on nothing else', () => {
    expect(
      readdirSync(join(withNpm, 'node_modules'))
        .filter((name) => !name.startsWith('.'))
        .sort(),
    ).toEqual(['@scrip', 'scrip'])
    expect(JSON.parse(readFileSync(join(withNpm, 'node_modules/scrip/package.json'), 'utf8'))).toMatchObject({
      name: 'scrip',
      version: PROJECT.version,
      engines: { node: '>=20' },
    })
  })

  describe.each([
    ['Node', 'node', withNpm],
    ['Bun', process.execPath, withBun],
  ])('under %s', (_, runtime, folder) => {
    test('starts, opens worlds, prices, fails, moves the clock, resets, drops and stops', async () => {
      const said = JSON.parse(await done([runtime, 'session.mjs'], folder))
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

    test('is gone when the process that started it is killed', async () => {
      const child = Bun.spawn([runtime, 'until_killed.mjs'], { cwd: folder, env: environment, stdout: 'pipe' })
      const { value } = await child.stdout.getReader().read()
      const url = new TextDecoder().decode(value).trim()
      expect((await fetch(`${url}/status`)).status).toBe(200)
      child.kill('SIGKILL')
      expect(await gone(url)).toBe(true)
    })

    test('neither holds a process that forgets to stop it nor outlives it', async () => {
      expect(await gone((await done([runtime, 'without_stop.mjs'], folder)).trim())).toBe(true)
    })

    test('says why it does not start', async () => {
      const [flag, missing] = (await done([runtime, 'start_fails.mjs'], folder)).split('\nScripError')
      expect(flag).toMatch(/^ScripError Scrip did not start: ended with 2: .*--no-such-flag/s)
      expect(missing).toMatch(/Scrip did not start: .*ENOENT/)
    })

    test('writes the coverage at the end, and rejects when it is too little', async () => {
      expect(await done([runtime, 'coverage.mjs'], folder)).toMatch(/^Scrip ended with 1: .*50/s)
      expect(JSON.parse(readFileSync(join(folder, 'coverage.json'), 'utf8')).outcomes).toBeArray()
    })

    test.each([
      ['linux', 'mips', 'Scrip has no executable for linux mips. It runs on darwin arm64, darwin x64,'],
      ['darwin', 'arm64', `It is the package @scrip/darwin-arm64, version ${PROJECT.version}: install it beside scrip`],
    ])('says what is missing on %s %s', async (platform, arch, message) => {
      const script = `
        Object.defineProperties(process, { platform: { value: '${platform}' }, arch: { value: '${arch}' } })
        await import('scrip').then((scrip) => scrip.startScrip()).catch((error) => console.log(error.message))`
      writeFileSync(join(folder, 'elsewhere.mjs'), script)
      expect(await done([runtime, 'elsewhere.mjs'], folder)).toContain(message)
    })

    test('waits on Windows by another command, which works here too', async () => {
      const script = `
        const platform = process.platform
        Object.defineProperty(process, 'platform', { value: 'win32', configurable: true })
        const { startScrip } = await import('scrip')
        Object.defineProperty(process, 'platform', { value: platform })
        const scrip = await startScrip()
        console.log((await fetch(scrip.url + '/status')).status)
        await scrip.stop()`
      writeFileSync(join(folder, 'windows.mjs'), script)
      expect(await done([runtime, 'windows.mjs'], folder)).toBe('200\n')
    })

    test('does what its page says', async () => {
      const code = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(README, 'utf8'))?.[1] ?? ''
      writeFileSync(join(folder, 'readme.mjs'), code)
      expect(await done([runtime, 'readme.mjs'], folder)).toBe('230.1\n')
    })
  })

  test('is typed, and needs no types but those of the platform', async () => {
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
  })

  describe('in an empty project, without a network, the lines of the documents', () => {
    const folder = join(root, 'typed')
    // Offline, on a free port, and for this machine; all else is typed as it stands.
    const offline = { npm_config_offline: 'true', npm_config_update_notifier: 'false', PORT: '0' }
    const type = async (line: string): Promise<string> => {
      const here = line.replaceAll('scrip-linux-x64-', `${target?.npm?.name.replace('@', '').replace('/', '-')}-`)
      const { exitCode, stdout, stderr } = await run(['sh', '-c', here], folder, offline)
      expect({ line, exitCode, stderr: exitCode === 0 ? '' : stderr + stdout }).toEqual({
        line,
        exitCode: 0,
        stderr: '',
      })
      return stdout
    }
    const quickstart = blocksOf(documentText('docs/quickstart.md'))
    const [served = '', around = '', help = ''] = readFileSync(README, 'utf8').match(/(?<=^ {4})npx .+$/gm) ?? []

    beforeAll(async () => {
      mkdirSync(folder)
      for (const file of readdirSync(root).filter((name) => name.endsWith('.tgz'))) {
        symlinkSync(join(root, file), join(folder, file))
      }
      const project = { type: 'module', scripts: { test: 'node --test' } }
      writeFileSync(join(folder, 'package.json'), JSON.stringify(project))
      const [install = ''] = quickstart.flatMap(({ text }) => text.match(/^npm install .+$/gm) ?? [])
      await type(install)
      for (const { file, text } of quickstart) if (file !== undefined) writeFileSync(join(folder, file), text)
    })

    test('import { startScrip }, from the README, stands in a test that passes', async () => {
      const [imported = 'nothing'] = /import \{ startScrip \} from 'scrip'/.exec(documentText('README.md')) ?? []
      expect(quickstart.find(({ file }) => file === 'second.test.mjs')?.text).toContain(`\n${imported}\n`)
      const line = quickstart.find(({ text }) => text.startsWith('node --test second'))?.text.trim() ?? ''
      expect(await type(line)).toMatch(/pass 1\b/)
    })

    test('npx scrip run goes around the tests, those that start one of their own, too', async () => {
      expect(around).toContain('npx scrip run -- npm test')
      expect(await type(around)).toMatch(/pass 2\b/)
    })

    test('npx scrip --help helps', async () => {
      expect(await type(help)).toContain('Usage: scrip')
    })

    test('npx scrip serve serves until it is interrupted', async () => {
      expect(served).toContain('npx scrip serve')
      expect(documentText('README.md')).toContain('`npx scrip`')
      const env = { ...environment, ...offline }
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

  describe('npx scrip', () => {
    const command = ['npx', '--offline', 'scrip']

    test('is the executable', async () => {
      expect(await run([...command, 'version'], withNpm)).toMatchObject({ exitCode: 0, stdout: `${PROJECT.version}\n` })
    })

    test('ends as it does', async () => {
      expect((await run([...command, 'serve', '--port', 'none'], withNpm)).exitCode).toBe(2)
      expect((await run([...command, 'run', '--', 'sh', '-c', 'exit 9'], withNpm)).exitCode).toBe(9)
    })

    test.each(['SIGTERM', 'SIGINT'] as const)('passes %s on, once', async (signal) => {
      // The command that npx runs: npx passes signals on to it in turn.
      const child = Bun.spawn(
        [join(withNpm, 'node_modules/.bin/scrip'), 'serve', '--port', '0', '--log-level', 'error'],
        {
          cwd: withNpm,
          env: environment,
          stdin: 'ignore',
          stdout: 'pipe',
          stderr: 'pipe',
        },
      )
      const { value } = await child.stdout.getReader().read()
      const url = /url=(\S+)/.exec(new TextDecoder().decode(value))?.[1] ?? ''
      expect((await fetch(`${url}/status`)).status).toBe(200)
      child.kill(signal)
      expect(await child.exited).toBe(0)
      expect(await gone(url)).toBe(true)
    })
  })
})
