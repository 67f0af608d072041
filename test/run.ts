/**
 * Builds the executable, then runs every test of the API twice: in process, and against the executable. Tests of the
 * program as a whole run against the executable alone. Ends with one line, `N passed, N failed`.
 */

import { startBinary } from './binary.ts'

/** Folders whose tests start the program: from its sources they show nothing that the executable does not. */
const PROGRAM_TESTS = ['rigs', 'executable']

/** For one test, in milliseconds. It ends a test that hangs, so it is far beyond what a busy machine needs. */
const PATIENCE_MS = 120_000

const bun = process.execPath
const root = `${import.meta.dir}/..`
let passed = 0
let failed = 0

const suite = async (title: string, args: string[], env: Record<string, string>): Promise<void> => {
  console.log(`\n${title}`)
  const child = Bun.spawn([bun, 'test', '--parallel', '--no-isolate', '--timeout', String(PATIENCE_MS), ...args], {
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

const countOf = (report: string, word: 'pass' | 'fail'): number =>
  Number(report.match(new RegExp(`^\\s*(\\d+) ${word}$`, 'm'))?.[1] ?? 0)

const build = async (): Promise<boolean> =>
  (await Bun.spawn([bun, 'run', 'build'], { cwd: root, stdout: 'inherit', stderr: 'inherit' }).exited) === 0

const only = process.argv.slice(2)
if (await build()) {
  const ignored = PROGRAM_TESTS.flatMap((folder) => ['--path-ignore-patterns', `test/${folder}/**`])
  await suite('In process', only.length === 0 ? ignored : only, { TEST_TARGET: 'process' })
  const server = await startBinary(['--rate-limit', 'off'])
  await suite('Against the executable', only, { TEST_TARGET: 'binary', TEST_SERVER: server.url })
  await server.stop()
} else failed += 1

console.log(`\n${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
