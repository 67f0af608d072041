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
  const NOTHING = { before: null, after: null, waiting_orders: null, takes_back_edit: false }

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
          ...{ waiting_orders: null, takes_back_edit: false },
        },
        { change: 'removed', product_id: 2, product: 'Hamper', ...NOTHING, waiting_orders: 0 },
        { change: 'added', product_id: 7, product: 'Basket', ...NOTHING },
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

  stockedTest(
    'import says what it adds, changes and removes, and which orders wait for what it removes',
    async (operator, credentials) => {
      await using server = await operator.serve()
      const customer = await Customer.of(server, credentials)
      await customer.order(HAMPER.id, 1)
      await customer.order(HAMPER.id, 1)
      const next = operator.file('next.json', {
        products: [
          { ...TEA, max_quantity: 5 },
          { ...HAMPER, id: 7 },
        ],
      })
      const rows = await operator.json<object[]>('catalog', 'import', next, '--dry-run')
      expect(rows).toContainEqual({
        change: 'removed',
        product_id: 2,
        product: 'Hamper',
        ...NOTHING,
        waiting_orders: 2,
      })
      const done = await operator.run(['catalog', 'import', next])
      expect(done).toMatchObject({ exitCode: 0, stderr: 'Product 2, Hamper, is removed, and 2 orders wait for it.\n' })
      expect(done.stdout).toMatch(/^products +2\nadded +1\nchanged +1\nremoved +1\n$/m)
    },
  )

  stockedTest(
    'edit changes one product at once, in a dry run nothing, and names each rule that it would break',
    async (operator, credentials) => {
      await using server = await operator.serve()
      const customer = await Customer.of(server, credentials)
      const tea = {
        id: 1,
        name: 'Tea',
        active: true,
        max_quantity: 10,
        gst_percent: 0,
        handling_fee: '0+0%',
        denominations: ['10-50=2.5'],
      }
      const acts = await operator.json<object[]>('audit', 'list')
      const off = ['catalog', 'edit', '1', '--active', 'off']
      expect(await operator.run([...off, '--dry-run', '--json'])).toMatchObject({
        exitCode: 0,
        stdout: `${JSON.stringify({ ...tea, active: false })}\n`,
      })
      expect((await customer.get('/products/1')).status).toBe(200)
      expect(await operator.json<object[]>('audit', 'list')).toEqual(acts)
      expect(await operator.json(...off)).toEqual({ ...tea, active: false })
      expect((await customer.get('/products/1')).status).toBe(404)
      expect((await customer.get('/products/2')).status).toBe(200)
      expect(
        await operator.json('catalog', 'edit', '1', '--active', 'on', '--denomination', '10-50=7.5', '100=0'),
      ).toEqual({
        ...tea,
        denominations: ['10-50=7.5', '100=0'],
      })
      expect(
        await operator.json('catalog', 'edit', '1', '--max-quantity', '3', '--gst', '18', '--handling-fee', '2+1.5%'),
      ).toMatchObject({
        ...{ max_quantity: 3, gst_percent: 18, handling_fee: '2+1.5%', denominations: ['10-50=7.5', '100=0'] },
      })
      expect(await operator.json('catalog', 'edit', '1', '--handling-fee', '1%')).toMatchObject({
        handling_fee: '2+1%',
      })
      const [last] = await operator.json<object[]>('audit', 'list', '--limit', '1')
      expect(last).toMatchObject({
        ...{ command: 'catalog edit', subject: '1', outcome: 'done' },
        ...{ before: { handling_fee: { fixed: 2, percent: 1.5 } }, after: { handling_fee: { fixed: 2, percent: 1 } } },
      })
      for (const [flags, exitCode, words] of [
        [[], 2, 'nothing is to be changed'],
        [['--handling-fee', 'x'], 2, "'x' cannot be read"],
        [['--handling-fee', ''], 2, "'' cannot be read"],
        [['--denomination', '50'], 2, "'50' cannot be read"],
        [['--gst', '-1'], 2, 'must be at least 0'],
        [['--max-quantity', '0'], 2, 'must be at least 1'],
        [['--handling-fee', '101%', '--denomination', '0=1'], 4, 'the catalog has 3 problems:\n'],
        [['--denomination', '50-10=1'], 4, '/denominations/0/max_value: 10 is below min_value'],
      ] as const) {
        const ended = await operator.run(['catalog', 'edit', '1', ...flags])
        expect({ flags, ...ended }).toEqual({ flags, exitCode, stdout: '', stderr: expect.stringContaining(words) })
      }
      expect(await operator.run(['catalog', 'edit', '9', '--active', 'off'])).toEqual({
        ...{ exitCode: 1, stdout: '', stderr: 'scrip: there is no product 9\nSee scrip catalog export.\n' },
      })
    },
  )

  stockedTest(
    'edit outlives a restart with the same file, and the next import says what it takes back',
    async (operator) => {
      const file = operator.file('again.json', { products: [TEA, HAMPER] })
      await operator.json('catalog', 'import', file)
      await operator.json('catalog', 'edit', '2', '--active', 'off')
      await (await operator.serve('--catalog', file)).stop()
      const activeOf = async () => {
        const { products } = JSON.parse((await operator.run(['catalog', 'export'])).stdout) as {
          products: { active: boolean }[]
        }
        return products.map(({ active }) => active)
      }
      expect(await activeOf()).toEqual([true, false])
      expect(await operator.json<object[]>('catalog', 'import', file, '--dry-run')).toEqual([
        {
          ...{
            change: 'changed',
            product_id: 2,
            product: 'Hamper',
            before: { active: false },
            after: { active: true },
          },
          ...{ waiting_orders: null, takes_back_edit: true },
        },
      ])
      expect((await operator.run(['catalog', 'import', file])).stderr).toBe('The edits of product 2 are taken back.\n')
      expect(await activeOf()).toEqual([true, true])
      expect((await operator.run(['catalog', 'import', file])).stderr).toBe('')
    },
  )

  operatorTest('edit of a catalog that is empty is refused', async (operator) => {
    await operator.json('client', 'add', 'acme')
    expect(await operator.run(['catalog', 'edit', '1', '--active', 'off'])).toMatchObject({ exitCode: 1, stdout: '' })
    await operator.json('catalog', 'import', operator.file('none.json', { products: [] }))
    expect(await operator.run(['catalog', 'edit', '1', '--active', 'off'])).toMatchObject({ exitCode: 1, stdout: '' })
  })
})
