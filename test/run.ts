import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Glob, Transpiler } from 'bun'
import { BINARY, start } from './program.ts'

/**
 * Builds the executable and runs the tests. Tests of modules run in process. Tests of the API run twice: in process, and
 * against the executable. With `--all`, as in `.ci/run`, tests that take long and those of the program as a whole run too,
 * the latter against the executable alone: its commands, crashes, guides, pages and rigs. Prints a dot for each test that
 * passes, the output of a failing one, the tests that were skipped wherever they ran, and at last `N passed, N failed`.
 */

/** Folders whose tests start the program: from its sources they show nothing that the executable does not. */
const PROGRAM_TESTS = ['test/rigs/', 'test/executable/']
/** The modules that start servers: a file that imports one of them, itself or by a helper, runs against the executable too. */
const STARTS_SERVERS = ['test/harness.ts', 'test/program.ts']
/** Lines in which a file says that it does not run against the executable, or only with --all. */
const IN_PROCESS_ALONE = /^\/\/ Runs in process alone\b/m
const WITH_ALL_ALONE = /^\/\/ Runs with --all alone\b/m
const ALL = '--all'

/** For one test, in milliseconds. It ends a test that hangs, so it is far beyond what a busy machine needs. */
const PATIENCE_MS = 300_000

/** Lines of the runner's own report, in place of which the last line stands. */
const REPORT = /^(?:bun test v.*|\s*\d+ (?:pass|skip|todo|fail|errors?|expect\(\) calls)|Ran \d+ tests.*)$/

const bun = process.execPath
const root = join(import.meta.dir, '..')
const reports = mkdtempSync(join(tmpdir(), 'scrip-tests-'))
const ran = new Set<string>()
const skipped = new Set<string>()
let passed = 0
let failed = 0

const suite = async (name: string, files: readonly string[], env: Record<string, string>): Promise<void> => {
  const outfile = join(reports, name)
  // A file that waits for a server leaves its processor to one more. Files of a worker share the modules that they load: each would
  // load and warm up the whole program otherwise.
  const flags = [`--parallel=${availableParallelism() + 1}`, '--no-isolate', '--timeout', String(PATIENCE_MS)]
  const reporters = ['--dots', '--reporter=junit', `--reporter-outfile=${outfile}`]
  const child = Bun.spawn([bun, 'test', ...flags, ...reporters, ...files], {
    cwd: root,
    // With --all, a program that is missing and can be installed is a failure.
    env: { ...process.env, ...(isAll && { TEST_ALL: '1' }), ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  // The runner reports to standard error; a file that does not load is counted there and nowhere else.
  const [report] = await Promise.all([shown(child.stderr), shown(child.stdout)])
  const exitCode = await child.exited
  const passedHere = countOf(report, 'pass')
  const failedHere = countOf(report, 'fail')
  passed += passedHere
  failed += failedHere
  if (failedHere === 0 && (exitCode !== 0 || passedHere === 0)) failed += 1
  noteTests(readFileSync(outfile, 'utf8'))
}

/** Shows the output except the runner's report, dots at once, and returns all of it. */
const shown = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  let shownTo = 0
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n', shownTo); end !== -1; end = text.indexOf('\n', shownTo)) {
      if (!REPORT.test(text.slice(shownTo, end))) process.stderr.write(text.slice(shownTo, end + 1))
      shownTo = end + 1
    }
    const [dots = ''] = /^\.*/.exec(text.slice(shownTo)) ?? []
    process.stderr.write(dots)
    shownTo += dots.length
  }
  return text
}

/** The last count: a test that fails may show the report of tests that it ran itself. */
const countOf = (report: string, word: 'pass' | 'fail'): number =>
  Number([...report.matchAll(new RegExp(`^\\s*(\\d+) ${word}$`, 'gm'))].at(-1)?.[1] ?? 0)

const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&amp;': '&' }

const noteTests = (report: string): void => {
  const cases = report.matchAll(/<testcase name="([^"]*)" classname="([^"]*)"[^>]* file="([^"]*)"[^>]*>(\s*<skipped)?/g)
  for (const [, name, groups = '', file, isSkipped] of cases) {
    // Groups stand innermost first.
    const sentence = [...groups.split(' &gt; ').reverse(), name].join(' > ')
    const test = `${file}: ${sentence.replace(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity)}`
    ;(isSkipped ? skipped : ran).add(test)
  }
}

const build = async (): Promise<boolean> => {
  const child = Bun.spawn([bun, 'run', 'build'], { cwd: root, stdout: 'pipe', stderr: 'pipe' })
  const [exitCode, ...printed] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  if (exitCode !== 0) process.stderr.write(printed.join(''))
  return exitCode === 0
}

const isProgramTest = (file: string): boolean => PROGRAM_TESTS.some((folder) => file.startsWith(folder))
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')

const transpiler = new Transpiler({ loader: 'ts' })
const startsServers = (file: string, seen = new Set<string>()): boolean => {
  if (STARTS_SERVERS.includes(file)) return true
  if (!file.startsWith('test/') || seen.has(file)) return false
  seen.add(file)
  const imported = transpiler.scanImports(textOf(file)).filter(({ path }) => path.startsWith('.'))
  return imported.some(({ path }) => startsServers(join(dirname(file), path), seen))
}

const isAll = process.argv.includes(ALL)
const only = process.argv.slice(2).filter((argument) => argument !== ALL)
const isWanted = (file: string): boolean => isAll || !(isProgramTest(file) || WITH_ALL_ALONE.test(textOf(file)))
const chosen = [...new Glob('test/**/*.test.ts').scanSync(root)].sort().filter(isWanted)
const inProcess = chosen.filter((file) => !isProgramTest(file))
const againstExecutable = chosen.filter(
  (file) => isProgramTest(file) || (startsServers(file) && !IN_PROCESS_ALONE.test(textOf(file))),
)

if (await build()) {
  await suite('process.xml', only.length > 0 ? only : inProcess, { TEST_TARGET: 'process' })
  const server = await start(['--log-level', 'error', '--rate-limit', 'off'], { command: [BINARY] })
  const env = { TEST_TARGET: 'binary', TEST_SERVER: server.url }
  await suite('executable.xml', only.length > 0 ? only : againstExecutable, env)
  await server.stop()
} else failed += 1
rmSync(reports, { recursive: true })

for (const test of skipped.difference(ran)) console.log(`Skipped ${test}`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
