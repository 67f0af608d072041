import { describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commandLine } from '../../src/commands/command-line.ts'
import { COMMAND, inFolder } from '../program.ts'
import { type Block, blocksOf, documentText } from './documents.ts'

/** docs/start/ci.md: the scripts of each job run in a project, and its files are valid. */

const blocks = blocksOf(documentText('docs/start/ci.md'))
const blockOf = (name: string): Block => {
  const block = blocks.find(({ file }) => file === name)
  if (!block) throw new Error(`docs/start/ci.md has no ${name}`)
  return block
}
const yamlOf = <Document>(name: string): Document => Bun.YAML.parse(blockOf(name).text) as Document

/** A project whose only test buys a card, with the same key in each attempt, and the archive of a release. */
const inProject = (work: (folder: string) => Promise<void>): Promise<void> =>
  inFolder(async (folder) => {
    const files = blocksOf(documentText('docs/start/quickstart.md')).filter(({ file }) => file)
    for (const { file = '', text } of files.filter(({ file }) => !file?.startsWith('second'))) {
      writeFileSync(join(folder, file), text)
    }
    spawnSync('patch', ['shop.mjs', 'idempotency.diff'], { cwd: folder })
    const project = { name: 'shop', version: '1.0.0', scripts: { test: 'node --test' } }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(project))
    const lock = { ...project, lockfileVersion: 3, packages: { '': { name: 'shop', version: '1.0.0' } } }
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
    const release = join(folder, 'release/scrip-1.0.0-linux-x64')
    mkdirSync(release, { recursive: true })
    mkdirSync(join(folder, 'tools'))
    writeFileSync(join(release, 'scrip'), `#!/bin/sh\nexec ${COMMAND.map((word) => `'${word}'`).join(' ')} "$@"\n`)
    chmodSync(join(release, 'scrip'), 0o755)
    const archive = join(folder, 'tools/scrip-1.0.0-linux-x64.tar.gz')
    spawnSync('tar', ['-czf', archive, '-C', dirname(release), 'scrip-1.0.0-linux-x64'])
    writeFileSync(join(folder, 'tools/SHA256SUMS'), `${sumOf(archive)}  scrip-1.0.0-linux-x64.tar.gz\n`)
    await work(folder)
  })

const sumOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:SCRIP_|GITHUB_|PORT$)/.test(name)),
)

const bash = (script: string, cwd: string, env: Record<string, string> = {}) => {
  const { status, stdout, stderr } = spawnSync('bash', ['-eo', 'pipefail', '-c', script], {
    cwd,
    env: { ...inherited, ...env },
    encoding: 'utf8',
  })
  return { status, said: status === 0 ? '' : stdout + stderr, stderr }
}

const canRun = ['bash', 'node', 'npm', 'patch', 'tar'].every((command) => Bun.which(command))

const shipped = (name: string): string => readFileSync(join(import.meta.dir, '../../release/ci', name), 'utf8')

interface Step {
  run?: string
  uses?: string
  with?: Record<string, string>
  env?: Record<string, string>
}

interface Action {
  inputs: Record<string, { default?: string }>
  runs: { steps: Step[] }
}

describe.skipIf(!canRun)('GitHub Actions', () => {
  const { jobs } = yamlOf<{ jobs: Record<string, { steps: Step[] }> }>('.github/workflows/test.yml')
  const action = Bun.YAML.parse(shipped('action.yml')) as Action

  /** The steps of the shipped action, with its inputs in their variables. */
  const stepsOf = (step: Step): Step[] => {
    if (step.uses !== './.github/actions/scrip') return [step]
    const inputOf = (name: string): string => step.with?.[name] ?? action.inputs[name]?.default ?? ''
    return action.runs.steps.map(({ run, env = {} }) => ({
      ...(run !== undefined && { run }),
      env: Object.fromEntries(
        Object.entries(env).map(([name, text]) => [
          name,
          text.replace(/^\$\{\{ inputs\.(\w+) \}\}$/, (_, input: string) => inputOf(input)),
        ]),
      ),
    }))
  }

  const unpacked = (cwd: string, archive: string) => {
    const [unpack] = action.runs.steps
    const env = { RUNNER_TEMP: join(cwd, 'temp dir'), GITHUB_PATH: join(cwd, 'path'), ARCHIVE: archive }
    return bash(unpack?.run ?? '', cwd, env)
  }

  test('the action takes a path or a pattern with spaces', () =>
    inProject(async (cwd) => {
      renameSync(join(cwd, 'tools'), join(cwd, 'my tools'))
      for (const archive of ['my tools/scrip-1.0.0-linux-x64.tar.gz', 'my tools/scrip-*-linux-x64.tar.gz'])
        expect(unpacked(cwd, archive)).toMatchObject({ status: 0, said: '' })
      expect(readFileSync(join(cwd, 'temp dir/scrip/scrip'), 'utf8')).toStartWith('#!/bin/sh')
    }))

  test('the action refuses an archive that has another sum, or none', () =>
    inProject(async (cwd) => {
      const archive = 'tools/scrip-1.0.0-linux-x64.tar.gz'
      appendFileSync(join(cwd, archive), 'x')
      expect(unpacked(cwd, archive)).toMatchObject({ status: 1, stderr: expect.stringContaining('did NOT match') })
      writeFileSync(join(cwd, 'tools/SHA256SUMS'), '')
      expect(unpacked(cwd, archive).status).not.toBe(0)
      expect(existsSync(join(cwd, 'temp dir/scrip/scrip'))).toBe(false)
    }))

  test('the action documents its inputs, and has those that the recipes set', () => {
    for (const { uses, with: inputs = {} } of Object.values(jobs).flatMap(({ steps }) => steps)) {
      if (uses === './.github/actions/scrip') expect(action.inputs).toContainKeys(Object.keys(inputs))
    }
  })

  test.each(Object.keys(jobs))('the job %s succeeds', (name) =>
    inProject(async (cwd) => {
      const [path, env] = [join(cwd, 'path'), { RUNNER_TEMP: join(cwd, 'temp'), GITHUB_PATH: join(cwd, 'path') }]
      writeFileSync(path, '')
      for (const { run, env: stepEnv } of (jobs[name]?.steps ?? []).flatMap(stepsOf)) {
        if (run === undefined) continue
        const added = readFileSync(path, 'utf8').trim()
        const { status, said } = bash(run, cwd, { ...env, ...stepEnv, PATH: `${added}:${process.env.PATH}` })
        expect({ run, status, said }).toEqual({ run, status: 0, said: '' })
      }
    }),
  )
})

describe.skipIf(!canRun)('GitLab CI', () => {
  interface Job {
    extends?: string
    before_script?: string[]
    script?: string[]
    artifacts?: { paths: string[] }
  }
  const document = yamlOf<Record<string, Job>>('.gitlab-ci.yml')
  const { variables, ...template } = Bun.YAML.parse(shipped('scrip.gitlab-ci.yml')) as Record<string, Job> & {
    variables: Record<string, string>
  }

  test.each(Object.keys(document).filter((name) => name !== 'include'))('the job %s succeeds', (name) =>
    inProject(async (cwd) => {
      const job = document[name]
      const { paths = [] } = job?.artifacts ?? {}
      const lines = [...(template[job?.extends ?? '']?.before_script ?? []), ...(job?.script ?? [])]
      expect(lines.length).toBeGreaterThan(4)
      const { status, said } = bash(lines.join('\n'), cwd, variables)
      expect({ status, said }).toEqual({ status: 0, said: '' })
      expect(paths.filter((path) => !existsSync(join(cwd, path)))).toEqual([])
      expect(readFileSync(join(cwd, 'summary.md'), 'utf8')).toStartWith('## Scrip: `npm test` passed\n')
    }),
  )
})

test('Docker Compose: the flags and variables of the service are those of scrip serve', async () => {
  const { services } = yamlOf<{ services: Record<string, { command: string[]; environment: Record<string, string> }> }>(
    'compose.yaml',
  )
  const serving = (await commandLine({})).commands.find((one) => one.name() === 'serve')
  const { command = [], environment = {} } = services.scrip ?? {}
  expect(command[0]).toBe('serve')
  expect(serving?.parseOptions(command.slice(1)).unknown).toEqual([])
  const variables = serving?.options.map(({ envVar }) => envVar)
  expect(Object.keys(environment).filter((name) => !variables?.includes(name))).toEqual([])
  expect(services.tests?.environment.SCRIP_SANDBOX_TOKEN).toBe(environment.SCRIP_SANDBOX_TOKEN as string)
})

/** The part of Testcontainers that the page uses, with the program in place of a container. */
const TESTCONTAINERS = `
import { spawn } from 'node:child_process'
import { once } from 'node:events'
export const Wait = { forHttp: (path, port) => ({ path, port }) }
export class GenericContainer {
  withCommand(command) { this.command = command; return this }
  withExposedPorts(port) { this.port = port; return this }
  withWaitStrategy(wait) { this.wait = wait; return this }
  async start() {
    const child = spawn('scrip', [...this.command, '--host', '0.0.0.0', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(child.stdout, 'data')
    const [, port] = /url=http:..[^:]+:(\\d+)/.exec(line)
    const { status } = await fetch('http://127.0.0.1:' + port + this.wait.path)
    if (status !== 200 || this.wait.port !== this.port) throw new Error('not ready')
    return { getHost: () => '127.0.0.1', getMappedPort: (exposed) => exposed === this.port && port, stop: () => child.kill() }
  }
}
`
const USES_CONTAINER = `
import { SANDBOX_TOKEN, startScripContainer } from './scrip-container.mjs'
const { url, stop } = await startScripContainer()
const headers = { 'x-sandbox-token': SANDBOX_TOKEN }
console.log((await fetch(url + '/_sandbox/clock', { headers })).status, (await fetch(url + '/_sandbox/clock')).status)
await stop()
`

test.skipIf(!canRun)('Testcontainers: the container has the token and is ready', () =>
  inProject(async (cwd) => {
    const module = join(cwd, 'node_modules/testcontainers')
    mkdirSync(module, { recursive: true })
    writeFileSync(join(module, 'package.json'), '{"type":"module","main":"index.js"}')
    writeFileSync(join(module, 'index.js'), TESTCONTAINERS)
    writeFileSync(join(cwd, 'scrip-container.mjs'), shipped('scrip-container.mjs'))
    writeFileSync(join(cwd, 'use.mjs'), USES_CONTAINER)
    const path = `${join(cwd, 'release/scrip-1.0.0-linux-x64')}:${process.env.PATH}`
    const { status, stdout } = spawnSync('node', ['use.mjs'], {
      cwd,
      env: { ...inherited, PATH: path },
      encoding: 'utf8',
    })
    expect({ status, stdout }).toEqual({ status: 0, stdout: '200 401\n' })
  }),
)
