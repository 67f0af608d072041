import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMAND } from '../program.ts'

/** The recipe for a typed client, docs/use/clients.md, followed exactly in a new project with TypeScript 5. */

const ROOT = join(import.meta.dir, '../..')
/** Below the project, so that the generator finds its dependencies. */
const folder = join(ROOT, 'dist/client')
const recipe = readFileSync(join(ROOT, 'docs/use/clients.md'), 'utf8')
const blockOf = (file: string): string => {
  const block = new RegExp(`^\`\`\`\\w+ ${file}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(recipe)?.[1]
  if (block === undefined) throw new Error(`the recipe has no ${file}`)
  return block
}

const writeCommand = (name: string, script: string): void => {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, 'bin', name), 0o755)
}

const shell = async (script: string): Promise<{ exitCode: number; stdout: string; stderr: string }> => {
  const child = Bun.spawn(['sh', '-ec', script], {
    cwd: folder,
    env: { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}`, NO_COLOR: '1' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [exitCode, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  return { exitCode, stdout, stderr }
}

/** @throws Error with the output of a script that fails */
const done = async (script: string): Promise<void> => {
  const { exitCode, stdout, stderr } = await shell(script)
  if (exitCode !== 0) throw new Error(`${script}: ${exitCode}: ${stdout}${stderr}`)
}

const SAID = [
  /^\S.*: 230.1 INR$/m,
  /^DELIVERED: 2 vouchers$/m,
  /^payout created: 4000000.01 INR$/m,
  /^grace@example.com is deleted$/m,
  /^404 NOT_FOUND$/m,
]

describe('the TypeScript guide', () => {
  beforeAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    for (const part of ['bin', 'node_modules/.bin']) mkdirSync(join(folder, part), { recursive: true })
    symlinkSync('../../../node_modules/typescript-5', join(folder, 'node_modules/typescript'))
    cpSync(join(ROOT, 'node_modules/openapi-typescript'), join(folder, 'node_modules/openapi-typescript'), {
      recursive: true,
    })
    symlinkSync('../openapi-typescript/bin/cli.js', join(folder, 'node_modules/.bin/openapi-typescript'))
    symlinkSync('../typescript/bin/tsc', join(folder, 'node_modules/.bin/tsc'))
    writeCommand('scrip', `exec ${COMMAND.map((word) => `'${word}'`).join(' ')} "$@"`)
    writeCommand('bun', `exec '${process.execPath}' "$@"`)
    writeCommand('npx', 'command=$1; shift; exec bun "node_modules/.bin/$command" "$@"')
    if (!Bun.which('node')) writeCommand('node', 'exec bun "$@"')
    writeFileSync(join(folder, 'session.ts'), blockOf('session.ts'))
    // The project follows the recipe, but its packages are already installed.
    const install = /^```console\n([\s\S]*?)^```$/m.exec(recipe)?.[1] ?? ''
    const [init, setType, ...installed] = install.trim().split('\n')
    expect(installed.join(' ')).toBe(
      'npm install openapi-fetch npm install --save-dev openapi-typescript typescript@5 @types/node',
    )
    if (Bun.which('npm')) await done(`${init}\n${setType}`)
    else writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    await done(blockOf('generate.sh'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('generates types that compile, and a session that runs under Node and Bun', async () => {
    const { exitCode, stdout, stderr } = await shell(blockOf('check.sh'))
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    for (const said of SAID) expect(stdout.match(new RegExp(said, 'gm'))).toHaveLength(2)
  })

  test('compiles in the same way with the latest TypeScript', async () => {
    const [compile = ''] = blockOf('check.sh').split('\n')
    expect(compile).toStartWith('npx tsc ')
    const latest = `bun '${join(ROOT, 'node_modules/typescript/bin/tsc')}'`
    // The folder of the test is within a project.
    const { exitCode, stdout, stderr } = await shell(`${compile.replace('npx tsc', latest)} --ignoreConfig --noEmit`)
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  })

  test('compiles with the latest TypeScript under its strictest settings', async () => {
    const flags =
      '--ignoreConfig --noEmit --strict --types node --exactOptionalPropertyTypes --noUncheckedIndexedAccess --module preserve --target esnext'
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    expect(await shell(`bun '${compiler}' ${flags} --skipLibCheck session.ts`)).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    })
  })

  test('does not compile with unknown paths and members', async () => {
    const wrong = `import createClient from 'openapi-fetch'
import type { paths } from './api.d.ts'
const api = createClient<paths>({ baseUrl: '' })
await api.GET('/api/v1/nothing')
await api.GET('/api/v1/products', { params: { query: { limit: 'two' } } })
await api.POST('/auth/login', { body: { username: 'sandbox' } })
const { data } = await api.GET('/api/v1/products/{id}', { params: { path: { id: 1 } } })
console.log(data?.nmae)
`
    writeFileSync(join(folder, 'wrong.ts'), wrong)
    const { stdout } = await shell(
      'npx tsc --noEmit --strict --target es2022 --module preserve --skipLibCheck wrong.ts || true',
    )
    expect([...stdout.matchAll(/^wrong\.ts\((\d+),/gm)].map(([, line]) => Number(line))).toEqual([4, 5, 6, 8])
  })
})
