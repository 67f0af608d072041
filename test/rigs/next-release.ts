import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { flushFile } from '../../src/db/disk.ts'

/** The sources of a release after this one, which differs from it in its migrations only. */

const ROOT = join(import.meta.dir, '../..')
const WHAT_IS_BUILT = ['src', 'seed', 'docs', 'package.json', 'tsconfig.json', 'LICENSE', 'CHANGELOG.md']
const END_OF_MIGRATIONS = /(const MIGRATIONS[^=]*= \[[^\]]*)\]/

/** Only where there are clients: an empty database is migrated when a release is built. */
export const FAILING_MIGRATION =
  'CREATE TABLE next (id INTEGER NOT NULL) STRICT; INSERT INTO next SELECT NULL FROM clients'

/** Copies the sources to a folder and adds migrations; returns the file that starts the program. */
export const nextSources = (folder: string, migrations: readonly string[]): string => {
  for (const name of WHAT_IS_BUILT) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const file = join(folder, 'src/db/migrate.ts')
  const added = migrations.map((sql, index) => `, { name: 'next_${index + 1}', sql: ${JSON.stringify(sql)} }`)
  const text = readFileSync(file, 'utf8').replace(END_OF_MIGRATIONS, (_, list: string) => `${list}${added.join('')}]`)
  writeFileSync(file, text)
  return join(folder, 'src/main.ts')
}

/** Builds the executable of a release with more migrations. */
export const buildNext = async (folder: string, migrations: readonly string[]): Promise<string> => {
  nextSources(folder, migrations)
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { build: string } }
  const build = scripts.build.replace(/^.*?&& bun /, `${JSON.stringify(process.execPath)} `)
  const child = Bun.spawn(['sh', '-c', build], { cwd: folder, stdout: 'ignore', stderr: 'pipe' })
  if ((await child.exited) !== 0) throw new Error(`the next release was not built: ${await child.stderr.text()}`)
  const executable = join(folder, 'dist/scrip')
  flushFile(executable) // otherwise it reaches the disk half a minute later, and the commits of a server wait for it
  return executable
}
