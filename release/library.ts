import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivedFile } from './archives.ts'
import { ROOT } from './compile.ts'

/**
 * Compiles the library of the npm package. Types and functions of the control API are generated from the OpenAPI
 * document (decision 18).
 */

interface Operation {
  operationId: string
  summary: string
  parameters?: { name: string; in: string }[]
}

interface Document {
  paths: Record<string, Record<string, Operation>>
}

const CONTROL = '/_sandbox'
const WORK = join(ROOT, 'dist')

/** @throws Error when it does not compile */
export const compileLibrary = async (sources: string): Promise<ArchivedFile[]> => {
  const document = controlDocument()
  mkdirSync(WORK, { recursive: true })
  const folder = mkdtempSync(join(WORK, 'npm-'))
  try {
    cpSync(sources, folder, { recursive: true })
    writeFileSync(join(folder, 'control.ts'), controlSource(document))
    writeTypes(folder, document)
    const compiled = join(folder, 'compiled')
    run([join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder, '--outDir', compiled])
    return readdirSync(compiled)
      .filter((file) => !/^(?:(?:bin|executable)\.d\.ts|openapi\.js)$/.test(file))
      .map((path) => ({
        path,
        bytes: Buffer.from(asPublished(readFileSync(join(compiled, path), 'utf8'))),
        isExecutable: path === 'bin.js',
      }))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The compiler rewrites the extensions of imports in programs, but not in declarations. */
const asPublished = (text: string): string => text.replace(/from '(\.\/[\w-]+)\.ts'/g, "from '$1.js'")

/** The OpenAPI document of the sandbox, with the paths of the control API only. */
const controlDocument = (): Document => {
  const document: Document = JSON.parse(run([join(ROOT, 'src/main.ts'), 'openapi']))
  const paths = Object.entries(document.paths).filter(([path]) => path === CONTROL || path.startsWith(`${CONTROL}/`))
  return { ...document, paths: Object.fromEntries(paths) }
}

/** One function for each operation. */
const controlSource = ({ paths }: Document): string => {
  const methods = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { operationId: id, summary, parameters = [] }]) => {
      const namesIn = (place: string) => parameters.filter((one) => one.in === place).map(({ name }) => name)
      const names = JSON.stringify({ path: namesIn('path'), query: namesIn('query') })
      return {
        declared: `  /** ${summary}: \`${method.toUpperCase()} ${path}\`. */\n  ${id}(...request: Arguments<'${id}'>): Promise<ControlResponse<'${id}'>>`,
        defined: `  ${id}: async (request?: object) => (await ask('${method.toUpperCase()}', '${path}', ${names}, request)) as ControlResponse<'${id}'>,`,
      }
    }),
  )
  return [
    "import type { Arguments, Ask, ControlResponse } from './control-request.ts'\n",
    '/** The operations of `/_sandbox`. Each throws a ScripError if it is refused. */',
    'export interface Control {',
    ...methods.map(({ declared }) => declared),
    '}\n',
    'export const controlWith = (ask: Ask): Control => ({',
    ...methods.map(({ defined }) => defined),
    '})\n',
  ].join('\n')
}

/** openapi-typescript needs the API of TypeScript 5, which it looks for beside itself. */
const writeTypes = (folder: string, document: Document): void => {
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  symlinkSync(join(ROOT, 'node_modules/typescript-5'), join(modules, 'typescript'))
  cpSync(join(ROOT, 'node_modules/openapi-typescript'), join(modules, 'openapi-typescript'), { recursive: true })
  const file = join(folder, 'openapi.json')
  writeFileSync(file, JSON.stringify(document))
  run([join(modules, 'openapi-typescript/bin/cli.js'), file, '--output', join(folder, 'openapi.ts')])
}

/** Returns the output of a command. @throws Error with its whole output if it fails */
const run = (command: string[]): string => {
  const { success, stdout, stderr } = Bun.spawnSync([process.execPath, ...command])
  if (!success) throw new Error(`the npm package does not compile:\n${stdout}${stderr}`)
  return stdout.toString()
}
