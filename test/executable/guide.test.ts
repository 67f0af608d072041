import { describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { inFolder, run } from '../program.ts'
import { type Block, blocksOf, documentText, hasShell, withScrip } from './documents.ts'

/** The code of the guide for testers runs unchanged, so that it cannot become outdated. */

const blocks = blocksOf(documentText('docs/use/testing-with-scrip.md'))
/** The blocks of the CI guide that are not recipes for one system: test/executable/ci.test.ts runs the others. */
const ofPipelines = blocksOf(documentText('docs/start/ci.md')).filter(({ file = '' }) =>
  ['Makefile', 'beside.sh'].includes(file),
)

const blockOf = (file: string): Block => {
  const block = [...blocks, ...ofPipelines].find((candidate) => candidate.file === file)
  if (!block) throw new Error(`the guide has no ${file}`)
  return block
}

/** Provides a folder with files of the guide, the program as `scrip` in the PATH, and a package with tests. */
const withFiles = (files: Block[], work: (folder: string, env: Record<string, string>) => Promise<void>) =>
  withScrip(async (folder, env) => {
    writeFileSync(join(folder, 'package.json'), '{"scripts":{"test":"node --test"}}')
    for (const { file, text } of files) writeFileSync(join(folder, file ?? ''), text)
    await work(folder, env)
  })

/** Runs a file of the guide with a sandbox, as the guide says. */
const runBlock = async (block: Block, command: string[], flags: string[] = []) => {
  let stdout = ''
  await withFiles([block], async (cwd, env) => {
    const ended = await run(['run', ...flags, '--', ...command], { cwd, env })
    expect({ exitCode: ended.exitCode, stderr: ended.stderr }).toEqual({ exitCode: 0, stderr: '' })
    stdout = ended.stdout
  })
  return stdout
}

const responses = (command: string, ...args: string[]): string =>
  Bun.which(command) ? spawnSync(command, args, { encoding: 'utf8' }).stdout.trim() : ''

const hasNode = responses('node', '-p', '!process.versions.bun && parseInt(process.versions.node) >= 20') === 'true'
const hasNpm = hasNode && /^\d+\./.test(responses('npm', '--version'))
const hasMake = responses('make', '--version') !== ''

describe.skipIf(!hasNode)('the Node test suite', () => {
  const suite = blockOf('rewards.test.mjs')

  test('passes repeatedly on one server', () =>
    withFiles([suite], async (cwd, env) => {
      const twice = ['sh', '-c', 'node --test >first && node --test >second']
      expect(await run(['run', '--', ...twice], { cwd, env })).toMatchObject({ exitCode: 0 })
    }))

  test('fails if Scrip returns another amount', () =>
    withFiles([{ ...suite, text: suite.text.replace('230.1', '230.2') }], async (cwd, env) => {
      expect(await run(['run', '--', 'node', '--test'], { cwd, env })).toMatchObject({ exitCode: 1 })
    }))

  test.skipIf(!hasNpm || !hasMake)('runs from the Makefile', () =>
    withFiles([suite, blockOf('Makefile')], async (cwd, env) => {
      const ended = await run(['run', '--', 'make', 'test'], { cwd, env })
      expect(ended.exitCode).toBe(0)
      expect(readFileSync(join(cwd, 'coverage.txt'), 'utf8')).toContain('documented outcomes covered.')
    }),
  )

  test.skipIf(!hasNpm)('runs against a separate server', async () => {
    const beside = blockOf('beside.sh')
    const text = beside.text.replace('4747', String(await freePort()))
    await withFiles([suite, { ...beside, text }], async (cwd, env) => {
      const ended = await run(['run', '--', 'sh', 'beside.sh'], { cwd, env })
      expect(ended.exitCode).toBe(0)
      expect(ended.stdout).toContain('ready url=')
      expect(ended.stdout).toMatch(/pass 4\b/)
    })
  })
})

describe.skipIf(!hasShell)('the scripts', () => {
  test('late.json is a scenario to begin with', () =>
    withFiles([blockOf('late.json')], async (cwd, env) => {
      const ask = (path: string) =>
        `curl -sS -H "Authorization: Bearer $SCRIP_ACCESS_TOKEN" "$SCRIP_URL/api/v1/${path}"`
      const command = `${ask('orders')} && ${ask('payouts')}`
      const ended = await run(['run', '--scenario', 'late.json', '--', 'sh', '-c', command], { cwd, env })
      expect(ended.stdout).toContain('"status":"PENDING"')
      expect(ended.stdout).toContain('"placed_at":"2030-01-01T12:00:00.000Z"')
      expect(ended.stdout).toContain('"status":"completed"')
    }))

  test('wait.sh waits for the end of a payout', async () => {
    expect(await runBlock(blockOf('wait.sh'), ['bash', 'wait.sh'])).toBe('true\n')
  })

  test('errors.sh injects every documented error', async () => {
    const flags = ['--coverage', 'coverage.txt', '--coverage-min', '70%']
    expect(await runBlock(blockOf('errors.sh'), ['bash', 'errors.sh'], flags)).toBe('all injected\n')
  })

  test('lost.sh loses a response, and its retry buys nothing', async () => {
    expect(await runBlock(blockOf('lost.sh'), ['bash', 'lost.sh'])).toEndWith('true\n')
  })

  test('same.sh prints the same with one seed, and something else with another', async () => {
    const say = (seed: string) => runBlock(blockOf('same.sh'), ['bash', 'same.sh'], ['--seed', seed])
    const [one, again, other] = await Promise.all([say('ci'), say('ci'), say('other')])
    expect(one).toContain('"id":"ben_')
    expect(again).toBe(one)
    expect(other).not.toBe(one)
  })

  test('evidence.sh keeps a failed run and looks into it', async () => {
    await withFiles([blockOf('evidence.sh')], async (cwd, env) => {
      const { exitCode, stdout } = await run(['run', '--', 'bash', 'evidence.sh'], { cwd, env })
      expect(exitCode).toBe(0)
      expect(stdout).toContain('failed as expected\n')
      expect(stdout.match(/^true$/gm)).toHaveLength(2)
    })
  })

  test('reconcile.sh finds a wrong amount', async () => {
    expect(await runBlock(blockOf('reconcile.sh'), ['sh', 'reconcile.sh'])).toBe(
      '230.1\n{"agrees":false,"members":["amount"],"parts_at":"order-1"}\n',
    )
  })

  test('compare.sh finds no difference', async () => {
    await withFiles([blockOf('compare.sh')], async (cwd, env) => {
      const { exitCode, stderr } = await run(['run', '--', 'sh', 'compare.sh'], { cwd, env })
      expect({ exitCode, stderr }).toEqual({
        exitCode: 0,
        stderr: expect.stringMatching(/no differences in \d+ responses\n$/),
      })
    })
  })

  test('snapshot.sh starts from the saved state', async () => {
    expect(await runBlock(blockOf('snapshot.sh'), ['bash', 'snapshot.sh'])).toEndWith('true\n')
  })
})

/** The lines that name a command of the reader; the others run unchanged. */
const lines = blocks
  .filter(({ language }) => language !== 'js')
  .flatMap(({ text }) => text.match(/scrip run (?:.* )?-- (?!sh\b)\S+/g) ?? [])

test.each(lines.map((line) => [line]))('%s: the flags are valid', (line) =>
  inFolder(async (cwd) => {
    const flags = line.replace(/^scrip run| -- \S+$/g, '').match(/\S+/g) ?? []
    expect(await run(['run', ...flags, '--', 'sh', '-c', 'exit 9'], { cwd })).toMatchObject({ exitCode: 9 })
  }),
)

test('every file of the guide is tested', () => {
  const tried = [
    'rewards.test.mjs',
    'wait.sh',
    'late.json',
    'errors.sh',
    'lost.sh',
    'evidence.sh',
    'compare.sh',
    'reconcile.sh',
    'same.sh',
    'snapshot.sh',
  ]
  expect(blocks.flatMap(({ file }) => file ?? [])).toEqual(tried)
  for (const { text } of blocks.filter(({ file }) => !file)) expect(text).toMatch(/^(?:scrip run .*-- .*\n)+$/)
})
