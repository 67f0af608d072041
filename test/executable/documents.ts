import { expect } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMAND, inFolder } from '../program.ts'

/** The code in the documentation, which runs unchanged. */

const ROOT = join(import.meta.dir, '../..')

export interface Block {
  language: string
  /** The file that it belongs to; undefined for the shell. */
  file: string | undefined
  text: string
}

/** All pages of the documentation. */
export const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

export const documentText = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The fenced blocks of a document, in order. */
export const blocksOf = (text: string): Block[] =>
  [...text.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(([, language = '', file, code = '']) => ({
    language,
    file,
    text: code,
  }))

/** Provides a folder in which the program is `scrip`, and the environment that finds it there. */
export const withScrip = (work: (folder: string, env: Record<string, string>) => Promise<void>): Promise<void> =>
  inFolder(async (folder) => {
    const program = join(folder, 'scrip')
    writeFileSync(program, `#!/bin/sh\nexec ${COMMAND.map((word) => `'${word}'`).join(' ')} "$@"\n`)
    chmodSync(program, 0o755)
    await work(folder, { PATH: `${folder}:${process.env.PATH}` })
  })

/** True if the shell code of a document can run here. */
export const hasShell = ['bash', 'curl', 'jq', 'sed', 'grep'].every((command) => Bun.which(command))

/** The separator of the outputs of two blocks. */
const MARK = '\x1e'

export interface Walk {
  /** The replacements of the document's addresses and folders: `4747` becomes a free port. */
  replace?: Readonly<Record<string, string>>
  /** Shell code that runs before the block that begins with some words: what happens meanwhile in the world. */
  before?: Readonly<Record<string, string>>
  /** The way to run a `console` block here, by a command in it. */
  console?: Readonly<Record<string, string>>
}

/**
 * Types all `sh` blocks of a document into one shell, which ends at the first that fails; a `json` block without a file
 * has to be what the block before it printed last. Blocks in `console` need what is not here and are left out.
 */
export const walk = async (path: string, { replace = {}, before = {}, console = {} }: Walk = {}): Promise<string> => {
  const blocks = blocksOf(documentText(path))
  const script = ['set -euo pipefail', "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
  const expected = new Map<number, unknown>()
  let typed = 0
  for (const { language, file, text } of blocks) {
    if (language === 'sh' && file === undefined) {
      script.push(...Object.entries(before).flatMap(([words, code]) => (text.startsWith(words) ? [code] : [])))
      script.push(text, `printf '${MARK}'`)
      typed += 1
    } else if (language === 'json' && file === undefined) {
      expected.set(typed - 1, JSON.parse(text))
    } else if (language === 'console') {
      script.push(...Object.entries(console).flatMap(([words, code]) => (text.startsWith(words) ? [code] : [])))
    }
  }
  expect(typed).toBeGreaterThan(0)
  let output = ''
  await withScrip(async (cwd, env) => {
    for (const { file, text } of blocks) if (file !== undefined) writeFileSync(join(cwd, file), text)
    const whole = Object.entries(replace).reduce(
      (text, [words, other]) => text.replaceAll(words, other.replace('$FOLDER', cwd)),
      script.join('\n'),
    )
    const inherited = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(?:SCRIP_|PORT$)/.test(name)),
    )
    const ended = spawnSync('bash', ['-c', whole], { cwd, env: { ...inherited, ...env }, encoding: 'utf8' })
    output = ended.stdout
    expect({ path, status: ended.status, stderr: ended.status === 0 ? '' : ended.stderr + output.slice(-500) }).toEqual(
      { path, status: 0, stderr: '' },
    )
  })
  const outputs = output.split(MARK)
  for (const [index, printed] of expected) {
    const last = outputs[index]?.trim().split('\n').at(-1) ?? ''
    expect({ block: index, printed: JSON.parse(last) as unknown }).toMatchObject({ block: index, printed })
  }
  return output
}
