import { describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderTest, inFolder, type Place, run } from '../program.ts'

/** `scrip run --summary FILE`: what a run did, in Markdown for the page of a pipeline (contract C15). */

const ASK = `
const { SCRIP_URL: url, SCRIP_ACCESS_TOKEN: token } = process.env
const ask = (method, path, body) => fetch(url + path, { method, headers: { authorization: 'Bearer ' + token }, body: body && JSON.stringify(body) })
`
const script = (text: string, flags: string[], place: Place = {}) =>
  run(['run', ...flags, '--', process.execPath, '-e', ASK + text], place)

const REFUSED = `
await ask('POST', '/api/v1/orders', { product_id: 999, denomination: 100, quantity: 2 })
await ask('GET', '/api/v1/countries/1')
await ask('GET', '/api/v1/products/1?a=|<b>\`x\`')
await ask('POST', '/api/v1/beneficiaries', { email: 'ada@example.com', first_name: 'Ada', last_name: '' })
process.exit(3)`

describe('--summary FILE', () => {
  folderTest(
    'has the command, its end, the refused requests with their messages, and what is not covered',
    async (folder) => {
      const file = join(folder, 'summary.md')
      writeFileSync(file, 'of an earlier step\n')
      const { exitCode } = await script(REFUSED, ['--summary', file])
      expect(exitCode).toBe(3)
      const text = readFileSync(file, 'utf8')
      expect(text).toStartWith('of an earlier step\n## Scrip: `')
      const lines = text.split('\n')
      expect(lines.length).toBeLessThan(62)
      expect(lines[1]).toEndWith('…` failed with exit code 3')
      expect(lines).toContain('4 requests in 1 world, 2 refused.')
      expect(lines).toContain('### Refused requests')
      expect(lines).toContain('| `POST /api/v1/orders` | 404 orders.product\\_not\\_found | Product not found |')
      expect(text).toMatch(/^### Coverage: 4 of \d+ documented outcomes, [\d.]+ %$/m)
      const [first = ''] = text.slice(text.indexOf('| operation')).split('\n').slice(2)
      expect(first).toMatch(/^\| `\w+ \/api\/v1\/\w+[^`]*` \| (?:\w+(?:, )?)+/)
    },
  )

  folderTest('shows a path of others as text', async (folder) => {
    const file = join(folder, 'summary.md')
    await script(`await ask('GET', '/api/v1/nothing?a=|<b>x</b>\`')`, ['--summary', file])
    expect(readFileSync(file, 'utf8')).toContain("| `GET /api/v1/nothing?a=\\|%3Cb%3Ex%3C/b%3E'` |")
  })

  folderTest('says what a lost response led to, by which request', async (folder) => {
    const file = join(folder, 'summary.md')
    const twice = `
      const buy = () => ask('POST', '/api/v1/orders', { product_id: 1, denomination: 100, quantity: 2 })
      await buy().catch(buy)`
    const { exitCode } = await script(twice, ['--explore', '--summary', file])
    expect(exitCode).toBe(1)
    const text = readFileSync(file, 'utf8')
    expect(text).toContain(
      '### Lost responses: 2 runs\n\n| result | request | fault | of | without the fault | with it |\n',
    )
    expect(text).toMatch(/^\| too many \| POST \/api\/v1\/orders \| response lost after its commit \| 2 × .* \|$/m)
  })

  test('exit 2 before the command, if it cannot be written', () =>
    inFolder(async (cwd) => {
      mkdirSync(join(cwd, 'folder'))
      const { exitCode, stderr } = await run(['run', '--summary', 'folder', '--', 'touch', 'ran'], { cwd })
      expect(exitCode).toBe(2)
      expect(stderr).toStartWith('scrip: --summary: cannot write folder: ')
      expect(await Bun.file(join(cwd, 'ran')).exists()).toBe(false)
    }))

  test('exit 2 for the file of another report', () =>
    inFolder(async (cwd) => {
      const { exitCode, stderr } = await run(['run', '--summary', 'a', '--journal', './a', '--', 'true'], { cwd })
      expect({ exitCode, stderr }).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('two reports would be written to the same file'),
      })
    }))
})

describe('In a pipeline of GitHub', () => {
  folderTest('the summary goes to the file that GITHUB_STEP_SUMMARY names', async (folder) => {
    const file = join(folder, 'step.md')
    await script('', [], { env: { GITHUB_STEP_SUMMARY: file } })
    expect(readFileSync(file, 'utf8')).toContain('0 requests in 0 worlds, 0 refused.')
  })

  folderTest('--summary off writes none, and --summary FILE takes its place', async (folder) => {
    const env = { GITHUB_STEP_SUMMARY: join(folder, 'step.md') }
    await script('', ['--summary', 'off'], { env })
    await script('', ['--summary', join(folder, 'own.md')], { env })
    expect(await Bun.file(env.GITHUB_STEP_SUMMARY).exists()).toBe(false)
    expect(readFileSync(join(folder, 'own.md'), 'utf8')).toContain('## Scrip: ')
  })

  test('a file that cannot be written is one line on standard error, and no failure', async () => {
    const { exitCode, stderr } = await script('', [], { env: { GITHUB_STEP_SUMMARY: '/none/step.md' } })
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(/^scrip: the summary is not written: .*\n$/)
  })
})
