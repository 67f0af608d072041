import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob, Transpiler } from 'bun'
import { startBinary } from './binary.ts'

/**
 * Builds the executable and runs the tests. Tests of modules run in process. Tests of the API run twice: in process, and
 * against the executable. With `--all`, as in `.ci/run`, tests of the program as a whole run too, against the executable
 * alone: its commands, crashes, guides, pages and rigs. Ends with one line, `N passed, N failed`.
 */

/** Folders whose tests start the program: from its sources they show nothing that the executable does not. */
const PROGRAM_TESTS = ['test/rigs/', 'test/executable/']
/** By one of these a file reaches the executable: the others would only run the same twice. */
const REACHES_EXECUTABLE = /\b(?:startServer|sharedServer|startBinary|againstBinary|BINARY|EXECUTABLE)\b/
const HARNESS = 'test/harness.ts'
const ALL = '--all'

/** For one test, in milliseconds. It ends a test that hangs, so it is far beyond what a busy machine needs. */
const PATIENCE_MS = 120_000

const bun = process.execPath
const root = join(import.meta.dir, '..')
let passed = 0
let failed = 0

const suite = async (title: string, files: readonly string[], env: Record<string, string>): Promise<void> => {
  console.log(`\n${title}`)
  // Files of a worker share the modules that they load: each would load and warm up the whole program otherwise.
  const flags = ['--parallel', '--no-isolate', '--timeout', String(PATIENCE_MS)]
  const child = Bun.spawn([bun, 'test', ...flags, ...files], {
    cwd: root,
    env: { ...process.env, ...env },
    stdout: 'inherit',
    stderr: 'pipe',
  })
  // The runner reports to standard error; a file that does not load is counted there and nowhere else.
  let report = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stderr) {
    process.stderr.write(chunk)
    report += decoder.decode(chunk, { stream: true })
  }
  const exitCode = await child.exited
  const passedHere = countOf(report, 'pass')
  const failedHere = countOf(report, 'fail')
  passed += passedHere
  failed += failedHere
  if (failedHere === 0 && (exitCode !== 0 || passedHere === 0)) failed += 1
}

/** The last count: a test that fails may show the report of tests that it ran itself. */
const countOf = (report: string, word: 'pass' | 'fail'): number =>
  Number([...report.matchAll(new RegExp(`^\\s*(\\d+) ${word}$`, 'gm'))].at(-1)?.[1] ?? 0)

const build = async (): Promise<boolean> =>
  (await Bun.spawn([bun, 'run', 'build'], { cwd: root, stdout: 'inherit', stderr: 'inherit' }).exited) === 0

const isProgramTest = (file: string): boolean => PROGRAM_TESTS.some((folder) => file.startsWith(folder))

const transpiler = new Transpiler({ loader: 'ts' })
/** Whether a file asks for a server or the executable, or one of the helpers that it imports does. */
const reachesExecutable = (file: string, seen = new Set<string>()): boolean => {
  if (!file.startsWith('test/') || file === HARNESS || seen.has(file)) return false
  seen.add(file)
  const text = readFileSync(join(root, file), 'utf8')
  if (REACHES_EXECUTABLE.test(text)) return true
  const imported = transpiler.scanImports(text).filter(({ path }) => path.startsWith('.'))
  return imported.some(({ path }) => reachesExecutable(join(dirname(file), path), seen))
}

const only = process.argv.slice(2).filter((argument) => argument !== ALL)
const isWanted = (file: string): boolean => process.argv.includes(ALL) || !isProgramTest(file)
const all = [...new Glob('test/**/*.test.ts').scanSync(root)].sort()
const inProcess = all.filter((file) => !isProgramTest(file))
const againstExecutable = all.filter((file) => isWanted(file) && (isProgramTest(file) || reachesExecutable(file)))

if (await build()) {
  await suite('In process', only.length > 0 ? only : inProcess, { TEST_TARGET: 'process' })
  const server = await startBinary(['--rate-limit', 'off'])
  const env = { TEST_TARGET: 'binary', TEST_SERVER: server.url }
  await suite('Against the executable', only.length > 0 ? only : againstExecutable, env)
  await server.stop()
} else failed += 1

console.log(`\n${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
