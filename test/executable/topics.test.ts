import { describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { inFolder, run } from '../program.ts'
import { Customer, HAMPER, operatorTest, stockedTest, TEA } from './live.ts'

/** Operators get guides, files, samples and warnings from the executable alone (contract C17). */

const DOCS = join(import.meta.dir, '../../docs')

describe('scrip docs', () => {
  test.each([
    ['quickstart', 'start/quickstart.md'],
    ['testing', 'use/testing-with-scrip.md'],
    ['test-runners', 'start/test-runners.md'],
    ['webhooks', 'use/webhooks.md'],
    ['ci', 'start/ci.md'],
    ['live', 'operate/running-live.md'],
    ['money', 'use/money.md'],
    ['errors', 'use/errors.md'],
    ['clients', 'use/clients.md'],
    ['flags', 'use/flags.md'],
    ['systemd', 'operate/scrip.service'],
    ['systemd-backup', 'operate/scrip-backup.service'],
    ['compose', 'operate/compose.yaml'],
    ['compose-postgres', 'operate/compose-postgres.yaml'],
    ['pytest', 'start/fixtures/scrip_sandbox.py'],
    ['junit', 'start/fixtures/ScripExtension.java'],
    ['alerts', 'operate/alerts.yml'],
    ['dashboard', 'operate/dashboard.json'],
    ['drill', 'operate/restore-drill.sh'],
  ])('%s is docs/%s', (topic, file) =>
    inFolder(async (cwd) => {
      const { exitCode, stdout } = await run(['docs', topic], { cwd })
      expect({ exitCode, isSame: stdout === (await Bun.file(join(DOCS, file)).text()) }).toEqual({
        exitCode: 0,
        isSame: true,
      })
    }),
  )

  test('lists its topics, and refuses others', async () => {
    const { stdout } = await run(['docs'])
    expect(stdout.split('\n').map((line) => line.split(' ')[0])).toEqual(
      expect.arrayContaining(['live', 'man', 'systemd', 'alerts']),
    )
    expect(await run(['docs', 'nothing'])).toMatchObject({ exitCode: 2, stdout: '' })
  })

  test('man is a manual page of all commands', async () => {
    const { stdout } = await run(['docs', 'man'])
    expect(stdout).toContain('.SS scrip orders refund')
    if (!Bun.which('groff')) return
    const {
      status,
      stdout: page,
      stderr,
    } = spawnSync('groff', ['-man', '-Tascii', '-P-c', '-P-b', '-P-u', '-ww'], { input: stdout, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(page).toContain('client rotate')
  })
})

describe('metrics of live mode', () => {
  const metricsOf = async (port: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const gaugeOf = (page: string, metric: string) =>
    page
      .split('\n')
      .find((line) => line.startsWith(`${metric} `))
      ?.slice(metric.length + 1)

  stockedTest('warn before codes and money run out, and when there is no new backup', async (operator, credentials) => {
    await operator.json('wallet', 'threshold', '1', '990')
    const port = String(await freePort())
    const server = await operator.serve('--metrics-port', port)
    const before = await metricsOf(port)
    expect(gaugeOf(before, 'scrip_wallets_low')).toBe('0')
    expect(gaugeOf(before, 'scrip_backup_age_seconds')).toBe('+Inf')
    expect(before).not.toMatch(/^scrip_stock_seconds\{/m)
    await server.stop()
    await operator.json('backup', join(operator.folder, 'backup.sqlite'))
    const again = await operator.serve('--metrics-port', port)
    await (await Customer.of(again, credentials)).order(1, 2)
    const page = await metricsOf(port)
    const tea = '{product_id="1",denomination="10.00",currency="USD"}'
    expect(gaugeOf(page, `scrip_stock_available${tea}`)).toBe('1')
    expect(gaugeOf(page, `scrip_stock_seconds${tea}`)).toBe(String(15 * 86_400))
    expect(gaugeOf(page, 'scrip_stock_available{product_id="2",denomination="10.00",currency="EUR"}')).toBe('3')
    expect(gaugeOf(page, 'scrip_wallets_low')).toBe('1')
    expect(Number(gaugeOf(page, 'scrip_backup_age_seconds'))).toBeWithin(0, 120)
    for (const atOnce of await Promise.all([metricsOf(port), metricsOf(port), metricsOf(port)])) {
      expect(gaugeOf(atOnce, `scrip_stock_available${tea}`)).toBe('1')
      expect(gaugeOf(atOnce, `scrip_stock_seconds${tea}`)).toBe(String(15 * 86_400))
    }
    await again.stop()
    if (Bun.which('promtool')) {
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' })
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
    }
    const alerts = Bun.YAML.parse(await Bun.file(join(DOCS, 'operate/alerts.yml')).text()) as {
      groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[]
    }
    const unknownIn = (expr: string): string[] =>
      (expr.match(/\b(?:scrip(?!_record)|process)_\w+/g) ?? []).filter(
        (name) => !new RegExp(`^${name}[{ ]`, 'm').test(page),
      )
    for (const { alert, expr, annotations } of alerts.groups.flatMap(({ rules }) => rules)) {
      expect({ alert, summary: annotations.summary }).toEqual({ alert, summary: expect.stringMatching(/\S/) })
      expect({ alert, unknown: unknownIn(expr) }).toEqual({ alert, unknown: [] })
    }
    const { panels } = (await Bun.file(join(DOCS, 'operate/dashboard.json')).json()) as {
      panels: { title: string; targets: { expr: string }[] }[]
    }
    for (const { title, targets } of panels) {
      expect(targets).not.toEqual([])
      expect({ title, unknown: targets.flatMap(({ expr }) => unknownIn(expr)) }).toEqual({ title, unknown: [] })
    }
  })
})

describe('scrip catalog', () => {
  operatorTest('init writes a sample that can be imported, and overwrites nothing', async (operator) => {
    const file = join(operator.folder, 'mine.json')
    expect(await run(['catalog', 'init', file])).toMatchObject({ exitCode: 0 })
    await operator.json('client', 'add', 'acme')
    expect(await operator.json('catalog', 'import', file)).toMatchObject({ products: 2 })
    const again = await run(['catalog', 'init', file])
    expect(again).toMatchObject({ exitCode: 1, stdout: '' })
    expect(again.stderr).toContain('overwrites nothing')
  })

  stockedTest(
    'import --dry-run shows what would be added, changed and removed, and imports nothing',
    async (operator) => {
      const before = (await operator.run(['catalog', 'export'])).stdout
      const acts = await operator.json<object[]>('audit', 'list')
      const next = [
        { ...TEA, name: 'Green tea', max_quantity: 5 },
        { ...HAMPER, id: 7, name: 'Basket' },
      ]
      const file = operator.file('next.json', { products: next })
      expect(await operator.json<object[]>('catalog', 'import', file, '--dry-run')).toEqual([
        {
          change: 'changed',
          product_id: 1,
          product: 'Green tea',
          before: { name: 'Tea', max_quantity: 10 },
          after: { name: 'Green tea', max_quantity: 5 },
        },
        { change: 'removed', product_id: 2, product: 'Hamper', before: null, after: null },
        { change: 'added', product_id: 7, product: 'Basket', before: null, after: null },
      ])
      expect((await operator.run(['catalog', 'export'])).stdout).toBe(before)
      expect(await operator.json<object[]>('audit', 'list')).toEqual(acts)
      const wrong = operator.file('wrong.json', { products: [{ ...TEA, currency: 'XXX' }] })
      const refused = await operator.run(['catalog', 'import', wrong, '--dry-run'])
      expect(refused).toMatchObject({ exitCode: 4, stdout: '' })
      expect(refused.stderr).toMatch(/line 1, product 1, .*currency/)
      await operator.json('catalog', 'import', file)
      expect(await operator.json<object[]>('catalog', 'import', file, '--dry-run')).toEqual([])
    },
  )
})
