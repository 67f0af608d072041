import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SCREENSHOTS } from '../../src/docs/guides.ts'
import { hasBrowser } from '../browser.ts'
import { inFolder } from '../program.ts'

/** The guide to the desk is walked through in a browser, which takes its pictures: `USER=ada bun docs/desk.ts`. */

setDefaultTimeout(120_000)

const DOCS = join(import.meta.dir, '../../docs')
const PICTURE_BYTES_MAX = 60_000

const named = [...readFileSync(join(DOCS, 'operate/desk.md'), 'utf8').matchAll(/\(\.\.\/pictures\/([\w-]+\.webp)\)/g)]
  .map(([, name = '']) => name)
  .sort()

test('has at most six pictures, each small, and the program carries them', () => {
  expect(named.length).toBeGreaterThan(0)
  expect(named.length).toBeLessThanOrEqual(6)
  expect(Object.keys(SCREENSHOTS).sort()).toEqual(named)
  for (const name of named) expect(statSync(join(DOCS, 'pictures', name)).size).toBeLessThan(PICTURE_BYTES_MAX)
})

test.skipIf(!hasBrowser)('every name in bold is on the pages, and every picture is taken', () =>
  inFolder(async (folder) => {
    const walk = Bun.spawn([process.execPath, join(DOCS, 'desk.ts'), folder], {
      env: { ...process.env, USER: 'ada' },
      stderr: 'pipe',
    })
    const [exitCode, stderr] = await Promise.all([walk.exited, walk.stderr.text()])
    expect({ exitCode, said: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, said: '' })
    const taken = readdirSync(folder).sort()
    expect(taken).toEqual(named)
    for (const name of taken) expect(statSync(join(folder, name)).size).toBeLessThan(PICTURE_BYTES_MAX)
  }),
)
