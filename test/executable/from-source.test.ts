import { expect, test } from 'bun:test'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inFolder, start } from '../program.ts'

/** `npm start` serves what the sources say now (decision 204). */

const root = join(import.meta.dir, '../..')
const SOURCES = ['src', 'seed', 'docs', 'package.json', 'bun.lock', 'tsconfig.json', '.ci']

const inCheckout = (work: (checkout: string) => Promise<void>): Promise<void> =>
  inFolder(async (cwd) => {
    for (const path of SOURCES) cpSync(join(root, path), join(cwd, path), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'))
    await work(cwd)
  })

const npmStart = (cwd: string) => start([], { command: ['sh', '.ci/start'], cwd, env: { SCRIP_PORT: '0' } })

test('npm start serves the sources with their guides and catalog, and the next start an edit of them', () =>
  inCheckout(async (cwd) => {
    const guide = 'docs/use/money.md'
    const served = async () => {
      await using program = await npmStart(cwd)
      const response = await program.request('/docs/guides/money.md')
      const products = await program.request('/cards/1')
      return { statuses: [response.status, products.status], text: await response.text() }
    }
    const before = await served()
    writeFileSync(join(cwd, guide), `${readFileSync(join(cwd, guide), 'utf8')}\nAn edit.\n`)
    const after = await served()
    expect(before.statuses).toEqual([200, 200])
    expect(after).toEqual({ statuses: [200, 200], text: `${before.text}\nAn edit.\n` })
  }))

test('two first npm starts at once both serve', () =>
  inCheckout(async (cwd) => {
    const [one, other] = await Promise.all([npmStart(cwd), npmStart(cwd)])
    await using _one = one
    await using _other = other
    for (const program of [one, other]) expect((await program.request('/docs/guides/money.md')).status).toBe(200)
    expect(readdirSync(join(cwd, 'dist/start')).filter((name) => name.startsWith('making'))).toEqual([])
  }))

test('npm start removes what a start has left that was killed more than an hour ago', () =>
  inCheckout(async (cwd) => {
    const left = (name: string) => join(cwd, 'dist/start', name)
    for (const name of ['making.early', 'making.late']) mkdirSync(left(name), { recursive: true })
    utimesSync(left('making.early'), 0, 0)
    await using _program = await npmStart(cwd)
    expect(readdirSync(join(cwd, 'dist/start')).filter((name) => name.startsWith('making'))).toEqual(['making.late'])
  }))

test('npm start serves a checkout that keeps no bundle', () =>
  inCheckout(async (cwd) => {
    writeFileSync(join(cwd, 'dist'), 'not a folder')
    await using program = await npmStart(cwd)
    expect((await program.request('/docs/guides/money.md')).status).toBe(200)
  }))
