import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { aligned, share } from '../bench/table.ts'
import { Dice } from '../rigs/dice.ts'

/**
 * Changes our own code in small ways, one at a time, and counts how many of these mutants the tests notice. Stryker makes
 * the mutants and needs Node; a sample of them, drawn by a seed, keeps the time within bounds:
 *
 *     bun run mutate [--dir src/kernel] [--since REVISION] [--max 200] [--seed 1]
 */

/** The modules in which money and access are decided, and the tests that speak of each. */
const TESTS: Record<string, readonly string[]> = {
  'src/http': ['test/http', 'test/idempotency'],
  'src/kernel': ['test/kernel', 'test/charges/price.test.ts', 'test/worlds/due.test.ts'],
  'src/wallets': ['test/wallets'],
  'src/charges': ['test/charges'],
  'src/orders': ['test/orders'],
  'src/payouts': ['test/payouts'],
  'src/sessions': [
    'test/sessions',
    'test/http/rate-limit.test.ts',
    'test/http/token-buckets.test.ts',
    'test/sandbox/gate.test.ts',
  ],
}
/** What decides nothing: columns, shapes for the document, and what a sandbox begins with. */
const UNDECIDED = /\/(?:tables|schemas|seed)\.ts$/
/** Words and examples, most of them for the document, which has tests of its own. */
const EXCLUDED = ['StringLiteral', 'ObjectLiteral', 'ArrayDeclaration']
const MUTANTS_OF_A_PLACE_MAX = 4
const PATIENCE_MS = 120_000

const root = resolve(import.meta.dir, '../..')
const { values: options } = parseArgs({
  options: {
    dir: { type: 'string' },
    since: { type: 'string' },
    max: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
  },
})

interface Mutant {
  mutatorName: string
  replacement?: string
  status: string
  location: { start: Place; end: Place }
}
interface Place {
  line: number
  column: number
}
interface Found extends Mutant {
  path: string
  source: string
}

const folder = mkdtempSync(join(tmpdir(), 'scrip-mutation-'))

/** Runs Stryker with a command of tests on what is to be mutated, and returns every mutant. */
const mutate = (places: readonly string[], command: string): Found[] => {
  const report = join(folder, 'report.json')
  const config = join(folder, 'stryker.json')
  writeFileSync(
    config,
    JSON.stringify({
      testRunner: 'command',
      commandRunner: { command },
      coverageAnalysis: 'off',
      mutate: places,
      mutator: { excludedMutations: EXCLUDED },
      reporters: ['json'],
      jsonReporter: { fileName: report },
      tempDirName: join(folder, 'tree'),
      ignorePatterns: ['/dist', '/docs'],
      tsconfigFile: 'none.json',
      logLevel: 'warn',
      timeoutMS: PATIENCE_MS,
      concurrency: 1,
    }),
  )
  const stryker = join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js')
  const { status } = spawnSync('node', [stryker, 'run', config], { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error(`stryker ends with ${status}`)
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as {
    files: Record<string, { source: string; mutants: Mutant[] }>
  }
  return Object.entries(files).flatMap(([path, { source, mutants }]) =>
    mutants.filter(isTried).map((mutant) => ({ ...mutant, path, source })),
  )
}

/** Of an excluded kind, or on a place that was not asked for. */
const isTried = ({ status }: Mutant): boolean => status !== 'Ignored' && !status.endsWith('Error')

const filesOf = (dir: string): string[] => {
  const args = options.since === undefined ? ['ls-files', dir] : ['diff', '--name-only', options.since, '--', dir]
  const { stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  return stdout.split('\n').filter((path) => path.endsWith('.ts') && !UNDECIDED.test(path))
}

/**
 * Stryker takes places, and tries every mutant within one: a place that holds more than a few, such as a whole function, is
 * not drawn. Goes on until there are enough.
 */
const sample = (mutants: readonly Found[], count: number, dice: Dice): Found[] => {
  const left = [...mutants]
  const chosen: Found[] = []
  const tried = new Set<Found>()
  while (left.length > 0 && tried.size < count) {
    const [drawn] = left.splice(dice.below(left.length), 1)
    if (!drawn || tried.has(drawn)) continue
    const within = mutants.filter((each) => isWithin(each, drawn))
    if (within.length > MUTANTS_OF_A_PLACE_MAX) continue
    chosen.push(drawn)
    for (const each of within) tried.add(each)
  }
  return chosen
}

const isWithin = (inner: Found, outer: Found): boolean =>
  inner.path === outer.path &&
  !isBefore(inner.location.start, outer.location.start) &&
  !isBefore(outer.location.end, inner.location.end)

const isBefore = (one: Place, other: Place): boolean =>
  one.line < other.line || (one.line === other.line && one.column < other.column)

/** Where a mutant is, in the words of Stryker and of editors: lines and columns count from 1. */
const placeOf = ({ path, location: { start, end } }: Found): string =>
  `${path}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`

const isNoticed = ({ status }: Mutant): boolean => status === 'Killed' || status === 'Timeout'

const shown = ({ path, source, mutatorName, replacement, location: { start, end } }: Found): string => {
  const lines = source.split('\n').slice(start.line - 1, end.line)
  const last = (lines.pop() ?? '').slice(0, end.column - 1)
  const before = [...lines, last].join('\n').slice(start.column - 1)
  const short = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 90)
  return `${path}:${start.line} ${mutatorName}: ${short(before)} -> ${short(replacement ?? '')}`
}

const rows = [['folder', 'mutants', 'tried', 'noticed', 'survived', 'score']]
const survivors: string[] = []
const dice = new Dice(Number(options.seed))
try {
  for (const [dir, tests] of Object.entries(TESTS)) {
    if (options.dir !== undefined && options.dir !== dir) continue
    const files = filesOf(dir)
    if (files.length === 0) continue
    const all = mutate(files, 'true')
    const places = sample(all, Number(options.max), dice).map(placeOf)
    const tried = mutate(places, [process.execPath, 'test', '--bail', '--timeout', PATIENCE_MS, ...tests].join(' '))
    const survived = tried.filter((mutant) => !isNoticed(mutant))
    rows.push([
      dir,
      String(all.length),
      String(tried.length),
      String(tried.length - survived.length),
      String(survived.length),
      share(1 - survived.length / tried.length),
    ])
    process.stderr.write(`${rows.at(-1)?.join('  ')}\n${survived.map(shown).sort().join('\n')}\n`)
    survivors.push(...survived.map(shown).sort())
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`\n${aligned(rows).join('\n')}\n\n${survivors.join('\n')}`)
