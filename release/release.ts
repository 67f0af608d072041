import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { type ArchivedFile, tarGz, zip } from './archives.ts'
import { compile, PROJECT, ROOT } from './compile.ts'
import { type Content, contentsOf, releaseFiles } from './contents.ts'
import { fetchRuntime } from './lock.ts'
import { notesOf, noticesOf } from './notices.ts'
import { mainPackage, type Package, packageFile, platformPackage, withoutPackage } from './packages.ts'
import { sbomOf } from './sbom.ts'
import { archiveName, executableName, isWindows, TARGETS, type Target } from './targets.ts'

/** `bun run release`. A target that fails is left out. */

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

interface Compiled {
  target: Target
  path: string
  contents: Content[]
}

/** @throws Error when its runtime is not the locked one, or the program cannot be compiled */
const compileFor = async (target: Target): Promise<Compiled> => {
  const path = join(WORK, target.name, executableName(target))
  const runtime = await fetchRuntime(target, join(WORK, 'runtimes'))
  const meta = await compile({ entry: 'src/main.ts', target: target.runtime, runtime, outfile: path })
  return { target, path, contents: contentsOf(meta) }
}

const publish = async (compiled: readonly Compiled[], contents: readonly Content[]): Promise<void> => {
  const notices = noticesOf(contents)
  const texts = await releaseFiles()
  write(join(OUT, 'sbom.cdx.json'), sbomOf(contents))
  write(join(OUT, 'THIRD-PARTY-NOTICES.txt'), notices)
  const writePacked = async (packed: Package) =>
    write(join(OUT, 'npm', packageFile(packed)), await tarGz('package', packed.files))
  await writePacked(await mainPackage())
  for (const { target, path } of compiled) {
    const executable = readFileSync(path)
    const name = archiveName(target)
    const files: ArchivedFile[] = [
      { path: executableName(target), bytes: executable, isExecutable: true },
      { path: 'THIRD-PARTY-NOTICES.txt', bytes: Buffer.from(notices) },
      ...texts,
    ]
    const folder = `${PROJECT.name}-${PROJECT.version}-${target.name}`
    write(join(OUT, name), isWindows(target) ? zip(folder, files) : await tarGz(folder, files))
    const packed = platformPackage(target, executable, notices)
    if (packed) await writePacked(packed)
    say(`${target.name}: packed${packed ? '' : withoutPackage(target)}`)
  }
}

/** The SHA-256 of all files of the release, in the order of their names. */
const sums = (): string =>
  readdirSync(OUT, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => {
      const digest = createHash('sha256').update(readFileSync(path)).digest('hex')
      return `${digest}  ${path.slice(OUT.length + 1).replaceAll('\\', '/')}\n`
    })
    .join('')

const chosenTargets = (): readonly Target[] => {
  const options = { target: { type: 'string', multiple: true }, help: { type: 'boolean' } } as const
  const { target: names = [], help } = parseArgs({ options }).values
  if (help) {
    say(`[--target NAME]..., by default all: ${TARGETS.map(({ name }) => name).join(', ')}`)
    process.exit()
  }
  const unknown = names.filter((name) => !TARGETS.some((target) => target.name === name))
  if (unknown.length > 0) {
    say(`no such target: ${unknown.join(', ')}; there are ${TARGETS.map(({ name }) => name).join(', ')}`)
    process.exit(USAGE)
  }
  return names.length === 0 ? TARGETS : TARGETS.filter(({ name }) => names.includes(name))
}

const release = async (): Promise<number> => {
  const targets = chosenTargets()
  for (const folder of [OUT, WORK]) rmSync(folder, { recursive: true, force: true })
  say(`${PROJECT.name} ${PROJECT.version}, for ${targets.map(({ name }) => name).join(', ')}`)
  const compiled: Compiled[] = []
  for (const target of targets) {
    try {
      compiled.push(await compileFor(target))
      say(`${target.name}: compiled`)
    } catch (error) {
      say(`${target.name}: FAILED: ${reasonOf(error)}`)
    }
  }
  const [first] = compiled
  if (!first) throw new Error('nothing could be made')
  const other = compiled.find(({ contents }) => !Bun.deepEquals(contents, first.contents))
  if (other) throw new Error(`${other.target.name} is made of other packages than ${first.target.name}`)
  await publish(compiled, first.contents)
  write(join(OUT, 'SHA256SUMS'), sums())
  const made = compiled.map(({ target }) => target)
  write(join(OUT, 'RELEASE-NOTES.md'), notesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), made))
  const missing = targets.filter((target) => !made.includes(target)).map(({ name }) => name)
  say(`done${missing.length > 0 ? ` without ${missing.join(', ')}` : ''}: ${OUT}`)
  return missing.length === 0 ? 0 : FAILED
}

try {
  process.exitCode = await release()
} catch (error) {
  say(`FAILED: ${reasonOf(error)}`)
  process.exitCode = FAILED
} finally {
  rmSync(WORK, { recursive: true, force: true })
}
