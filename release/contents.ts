import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { commandLine } from '../src/commands/command-line.ts'
import { manualOf } from '../src/commands/help/manual.ts'
import type { ArchivedFile } from './archives.ts'
import { type Metafile, PROJECT, ROOT } from './compile.ts'
import { locked } from './lock.ts'

export interface Content {
  name: string
  version: string
  license: string
  as: 'code' | 'data' | 'runtime'
  /** The digest of the published package, in hexadecimal digits. */
  sha512: string
  texts: string[]
  needs: string[]
}

const DATA_SOURCES = ['cldr-core', 'cldr-localenames-full', 'currency-codes', 'lucide']
/** Bundled by a macro while the program is built, so that its bundle does not name them. */
const PAGE_LIBRARIES = ['preact']
const RUNTIME = 'bun'
const LICENCES = join(import.meta.dir, 'licences')
const LICENCE_FILE = /^(?:licen[cs]e|notice|copying)\b/i

/** @throws Error when a licence has no text */
export const contentsOf = (meta: Metafile): Content[] => {
  const files = bundledFiles(meta)
  const folders = [...new Set(files.flatMap((file) => packageFolder(file) ?? []))].sort()
  const contents = [
    ...folders.map((folder) => describe(folder, 'code')),
    ...PAGE_LIBRARIES.map((name) => describe(`node_modules/${name}`, 'code')),
    ...DATA_SOURCES.map((name) => describe(`node_modules/${name}`, 'data')),
    describe(`node_modules/${RUNTIME}`, 'runtime'),
  ]
  const names = new Set(contents.map(({ name }) => name))
  return contents.map((content) => ({ ...content, needs: content.needs.filter((name) => names.has(name)) }))
}

export const neededByProgram = (contents: readonly Content[]): string[] =>
  contents.filter(({ name, as }) => as !== 'code' || name in PROJECT.dependencies).map(({ name }) => name)

const bundledFiles = ({ outputs }: Metafile): string[] => [
  ...new Set(
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
    ),
  ),
]

/** The innermost package of a file, such as node_modules/elysia; undefined for our own files. */
const packageFolder = (file: string): string | undefined =>
  /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0].replace(/^.*?(?=node_modules\/)/, '')

interface Installed {
  name: string
  version: string
  license: string
}

const describe = (folder: string, as: Content['as']): Content => {
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Installed
  const { resolved, needs, sha512 } = locked(folder.replaceAll('node_modules/', ''))
  if (resolved !== `${name}@${version}`) throw new Error(`${folder} is ${name}@${version}, and not what bun.lock names`)
  return {
    name,
    version,
    license,
    as,
    sha512: sha512.toString('hex'),
    texts: as === 'runtime' ? textsBelow(join(LICENCES, name)) : textsOf(folder, license),
    needs,
  }
}

/** The texts of the package; the licence's standard text if it has none. */
const textsOf = (folder: string, license: string): string[] => {
  const licenceFiles = readdirSync(join(ROOT, folder))
    .filter((file) => LICENCE_FILE.test(file))
    .sort()
    .map((file) => join(ROOT, folder, file))
  if (licenceFiles.length > 0) return licenceFiles.map(readText)
  const standard = join(LICENCES, `${license}.txt`)
  if (!existsSync(standard))
    throw new Error(`${folder} comes without its licence: add ${basename(standard)} to licences`)
  return [readText(standard)]
}

/** Standard texts that the page of the runtime names, too. */
const ALSO_OF_RUNTIME = ['Apache-2.0.txt']

/** A page that names the licence of each package, and below it each text under that name. */
const textsBelow = (folder: string): string[] =>
  [...readdirSync(folder), ...ALSO_OF_RUNTIME].sort().map((file) => {
    const text = readText(join(ALSO_OF_RUNTIME.includes(file) ? LICENCES : folder, file))
    return file.endsWith('.md') ? text : `${'-'.repeat(file.length)}\n${file}\n${'-'.repeat(file.length)}\n\n${text}`
  })

const readText = (path: string): string =>
  readFileSync(path, 'utf8').replaceAll('\r\n', '\n').replaceAll('\f', '').trim()

const FILES = [
  'alerts.yml',
  'compose.yaml',
  'dashboard.json',
  'restore-drill.sh',
  'running-live.md',
  'scrip-backup.service',
  'scrip.service',
]

/** Files that a pipeline or a test copies. */
const PIPELINE_FILES = ['ScripContainer.java', 'action.yml', 'scrip-container.mjs', 'scrip.gitlab-ci.yml']

/** The texts at the top of an archive. */
const TEXTS = ['CHANGELOG.md', 'LICENSE', 'README.md']

/** The files of an archive, besides the executable and the notices. */
export const releaseFiles = async (): Promise<ArchivedFile[]> => [
  ...TEXTS.map((name) => ({ path: name, bytes: readFileSync(join(ROOT, name)) })),
  ...(await operatorFiles()),
]

/** The files that operators install beside the executable and `scrip docs` prints, and those that pipelines copy. */
const operatorFiles = async (): Promise<ArchivedFile[]> => [
  ...PIPELINE_FILES.map((name) => ({ path: `ci/${name}`, bytes: readFileSync(join(ROOT, 'release/ci', name)) })),
  ...FILES.map((name) => ({ path: `live/${name}`, bytes: readFileSync(join(ROOT, 'docs/operate', name)) })),
  { path: 'live/scrip.1', bytes: Buffer.from(manualOf(await commandLine({}))) },
]
