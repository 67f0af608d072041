import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { type ArchivedFile, tarGz, zip } from './archives.ts'
import { compile, PROJECT, ROOT } from './compile.ts'
import { type Content, contentsOf } from './contents.ts'
import { notesOf } from './notes.ts'
import { noticesOf } from './notices.ts'
import { operatorFiles } from './operator-files.ts'
import { mainPackage, type Package, packageFile, platformPackage } from './packages.ts'
import { fetchRuntime } from './runtime.ts'
import { sbomOf } from './sbom.ts'
import { archiveName, executableName, formOf, isWindows, TARGETS, type Target, withPackages } from './targets.ts'

/** `bun run release` makes everything twice and compares. A target that fails is left out. */

const OUT = join(ROOT, 'dist/release')
const WORK = join(ROOT, 'dist/release-work')
const FAILED = 1
const USAGE = 2

const say = (text: string): void => void process.stderr.write(`release: ${text}\n`)
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const write = (path: string, content: Uint8Array | string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

const runtimes = new Map<Target, Promise<string>>()

/** Fetched once. @throws Error when it is not the locked one */
const runtimeOf = (target: Target): Promise<string> => {
  const fetched = runtimes.get(target) ?? fetchRuntime(target, join(WORK, 'runtimes'))
  runtimes.set(target, fetched)
  return fetched
}

interface Compiled {
  target: Target
  path: string
  contents: Content[]
}

/** @throws Error when the program cannot be compiled, or is of another form */
const compileFor = async (target: Target, folder: string): Promise<Compiled> => {
  const path = join(folder, target.name, executableName(target))
  const runtime = await runtimeOf(target)
  const meta = await compile({ entry: 'src/main.ts', target: target.runtime, runtime, outfile: path })
  const form = formOf(readFileSync(path))
  if (form !== target.form) throw new Error(`is ${form ?? 'no executable'} and not ${target.form}`)
  return { target, path, contents: contentsOf(meta) }
}

const publish = async (compiled: readonly Compiled[], contents: readonly Content[], out: string): Promise<void> => {
  const notices = noticesOf(contents)
  const forOperators = await operatorFiles()
  write(join(out, 'sbom.cdx.json'), sbomOf(contents))
  write(join(out, 'THIRD-PARTY-NOTICES.txt'), notices)
  const writePacked = async (packed: Package) =>
    write(join(out, 'npm', packageFile(packed)), await tarGz('package', packed.files))
  await writePacked(await mainPackage())
  for (const { target, path } of compiled) {
    const executable = readFileSync(path)
    const name = archiveName(target)
    const files: ArchivedFile[] = [
      { path: executableName(target), bytes: executable, isExecutable: true },
      { path: 'LICENSE', bytes: readFileSync(join(ROOT, 'LICENSE')) },
      { path: 'THIRD-PARTY-NOTICES.txt', bytes: Buffer.from(notices) },
      ...forOperators,
    ]
    const folder = `${PROJECT.name}-${PROJECT.version}-${target.name}`
    write(join(out, name), isWindows(target) ? zip(folder, files) : await tarGz(folder, files))
    const packed = platformPackage(target, executable, notices)
    if (packed) await writePacked(packed)
    say(`${target.name}: packed`)
  }
}

/** The SHA-256 of all files below a folder, in the order of their names. */
const digestsOf = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [
        path.slice(folder.length + 1).replaceAll('\\', '/'),
        createHash('sha256').update(readFileSync(path)).digest('hex'),
      ]),
  )

const chosenTargets = (): readonly Target[] => {
  const { target: names = [] } = parseArgs({ options: { target: { type: 'string', multiple: true } } }).values
  const unknown = names.filter((name) => !TARGETS.some((target) => target.name === name))
  if (unknown.length > 0) {
    say(`no such target: ${unknown.join(', ')}; there are ${TARGETS.map(({ name }) => name).join(', ')}`)
    process.exit(USAGE)
  }
  return names.length === 0 ? TARGETS : withPackages(TARGETS.filter(({ name }) => names.includes(name)))
}

const makeOnce = async (
  targets: readonly Target[],
  round: string,
  failures: Map<Target, string>,
): Promise<Compiled[]> => {
  const compiled: Compiled[] = []
  for (const target of targets.filter((candidate) => !failures.has(candidate))) {
    try {
      compiled.push(await compileFor(target, join(WORK, round, 'executables')))
      say(`${target.name}: compiled`)
    } catch (error) {
      failures.set(target, reasonOf(error))
      say(`${target.name}: FAILED: ${reasonOf(error)}`)
    }
  }
  const [first] = compiled
  if (!first) throw new Error('nothing could be made')
  const other = compiled.find(({ contents }) => !Bun.deepEquals(contents, first.contents))
  if (other) throw new Error(`${other.target.name} is made of other packages than ${first.target.name}`)
  await publish(compiled, first.contents, join(WORK, round, 'out'))
  return compiled
}

const release = async (): Promise<number> => {
  const targets = chosenTargets()
  for (const folder of [OUT, WORK]) rmSync(folder, { recursive: true, force: true })
  const failures = new Map<Target, string>()
  say(`${PROJECT.name} ${PROJECT.version}, for ${targets.map(({ name }) => name).join(', ')}`)
  await makeOnce(targets, 'first', failures)
  say('and again, to compare')
  await makeOnce(targets, 'second', failures)
  const out = join(WORK, 'first/out')
  const [first, second] = [digestsOf(out), digestsOf(join(WORK, 'second/out'))]
  const different = [...first].flatMap(([file, digest]) => (second.get(file) === digest ? [] : [file]))
  if (different.length > 0) throw new Error(`not the same when made twice: ${different.join(', ')}`)
  say(`${first.size} files are the same when made twice`)

  renameSync(out, OUT)
  write(join(OUT, 'SHA256SUMS'), [...first].map(([file, digest]) => `${digest}  ${file}\n`).join(''))
  const made = targets.filter((target) => !failures.has(target))
  write(join(OUT, 'RELEASE-NOTES.md'), notesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), made))
  const missing = [...failures.keys()].map(({ name }) => name)
  say(`done${missing.length > 0 ? ` without ${missing.join(', ')}` : ''}: ${OUT}`)
  return failures.size === 0 ? 0 : FAILED
}

try {
  process.exitCode = await release()
} catch (error) {
  say(`FAILED: ${reasonOf(error)}`)
  process.exitCode = FAILED
} finally {
  rmSync(WORK, { recursive: true, force: true })
}
