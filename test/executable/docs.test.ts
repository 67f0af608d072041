import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import {
  CLIENTS_PATH,
  clientsPage,
  DRAWN,
  ERRORS_PATH,
  errorsPage,
  flagsPage,
  PROXIES_PATH,
  picturePath,
  proxiesPage,
} from '../../docs/make.ts'
import { commandLine } from '../../src/commands/command-line.ts'
import { freePort } from '../free-port.ts'
import { startServer } from '../harness.ts'
import { POSTGRES, Postgres } from '../postgres.ts'
import { blocksOf, documentText, hasShell, PAGES, walk } from './documents.ts'

/** The documentation is typed unchanged, and generated parts are compared with the program. */

const ROOT = join(import.meta.dir, '../..')
/** Typed from the first block to the last, in an empty folder. */
const WALKED = [
  'docs/start/quickstart.md',
  'docs/use/money.md',
  'docs/use/errors.md',
  'docs/use/webhooks.md',
  'docs/operate/running-live.md',
  'docs/operate/more-than-one-machine.md',
]
const port = String(await freePort())
const program = await commandLine({})
const HERE = {
  'scrip &': `scrip --port ${port} &`,
  'scrip wait\n': `scrip wait --port ${port}\n`,
  '127.0.0.1:4747': `127.0.0.1:${port}`,
}
/** Stops jobs of the shell. Their processes are waited for, because bash forgets a job as soon as it has ended. */
const stop = (...jobs: number[]): string =>
  `servers=$(jobs -p ${jobs.map((job) => `%${job}`).join(' ')}); kill $servers; wait $servers\n`
const hasNode = Bun.which('node') !== null

test.skipIf(!hasShell || !hasNode || !Bun.which('patch'))(
  'docs/start/quickstart.md works from installation to a passing test',
  async () => {
    const said = await walk('docs/start/quickstart.md', { replace: HERE })
    expect(said).toMatch(/pass 1\b/)
    expect(said).toMatch(/exit code 1\n[\s\S]*patching file shop\.mjs/)
  },
)

test.skipIf(!hasShell)('docs/use/money.md: every amount matches the server', async () => {
  await walk('docs/use/money.md', { replace: HERE })
})

test.skipIf(!hasShell)('docs/use/errors.md: an error is injected by its name', async () => {
  await walk('docs/use/errors.md')
})

test.skipIf(!hasShell || !hasNode)('docs/use/webhooks.md works from the first delivery to a new secret', async () => {
  const receiverPort = String(await freePort())
  const untilUp = `until curl -s http://127.0.0.1:${receiverPort} >/dev/null; do sleep 0.05; done`
  const said = await walk('docs/use/webhooks.md', {
    replace: { 'scrip trigger': 'scrip trigger --url http://127.0.0.1:4747', 4748: receiverPort, ...HERE },
    before: { 'curl -sS -H "$auth" $api/api/v1/orders': untilUp, 'curl -sS $api/_sandbox/clock': untilUp },
  })
  expect(said.match(/(?:order\.\w+|ping)(?= evt_\w+$)/gm)).toEqual([
    'order.created',
    'order.delivered',
    'order.created',
    'order.delivered',
    'ping',
  ])
})

describe('docs/operate/running-live.md', () => {
  test.skipIf(!hasShell)('works from setup to upgrade', async () => {
    const metricsPort = String(await freePort())
    const server = `scrip serve --mode live --port ${port} --metrics-port ${metricsPort} &\nscrip wait --port ${port}`
    const said = await walk('docs/operate/running-live.md', {
      replace: { '/var/lib/scrip': '$FOLDER/data', '/backup/': '$FOLDER/', '4747': port, '9464': metricsPort },
      console: {
        'systemctl stop scrip': stop(1),
        'systemctl start scrip': server,
        'systemctl stop scrip\nscrip vouchers rekey': `scrip vouchers rekey\n${server}`,
        'install -m 0755 scrip-new': `scrip serve --mode live --data-dir $FOLDER/data --check\n${stop(1)}\n${server}`,
      },
    })
    expect(said).toContain('scrip_refusals_total{reason="unauthorized"} 0')
    expect(said).toMatch(/\bfailure_reason +The account is closed\b/)
    expect(said).toContain('"from":5000,"to":7500}')
  })

  test('reloads no unit that cannot be reloaded', () => {
    const reloaded = [...documentText('docs/operate/running-live.md').matchAll(/systemctl reload (\S+)/g)]
    const isReloadable = (unit = '') => documentText(`docs/operate/${unit}.service`).includes('ExecReload=')
    expect(reloaded.map(([, unit]) => unit).filter((unit) => !isReloadable(unit))).toEqual([])
  })

  test('has valid YAML and a valid compose file', () => {
    for (const { file, text } of blocksOf(documentText('docs/operate/running-live.md'))) {
      if (file?.endsWith('.yml')) expect(Bun.YAML.parse(text)).toBeObject()
    }
    const { services } = Bun.YAML.parse(documentText('docs/operate/compose.yaml')) as {
      services: Record<string, { command: string[]; environment: Record<string, string>; build: string }>
    }
    expect(Object.keys(services)).toEqual(['scrip'])
    for (const { command, environment, build } of Object.values(services)) {
      expect(existsSync(join(ROOT, 'docs/operate', build, 'Dockerfile'))).toBe(true)
      const started = program.commands.find((one) => one.name() === command[0])
      const { unknown } = started?.parseOptions(command.slice(1)) ?? {}
      expect(unknown).toEqual([])
      const variables = started?.options.map(({ envVar }) => envVar)
      expect(Object.keys(environment).filter((name) => !variables?.includes(name))).toEqual([])
    }
  })
})

describe('docs/operate/more-than-one-machine.md', () => {
  test.skipIf(!hasShell || POSTGRES === undefined)('works from one machine to two servers, and back', async () => {
    await using postgres = await Postgres.start()
    const psql = `${POSTGRES}/psql -X -q -At -h 127.0.0.1 -p ${postgres.port}`
    const second = await freePort()
    const said = await walk('docs/operate/more-than-one-machine.md', {
      replace: {
        '/etc/scrip': '$FOLDER/etc',
        '/var/lib/scrip': '$FOLDER/data',
        '/backup/': '$FOLDER/',
        'db.example.com/': `127.0.0.1:${postgres.port}/`,
      },
      before: { 'scrip postgres init': 'env -u SCRIP_POSTGRES_FILE scrip client add acme --data-dir /var/lib/scrip' },
      console: {
        // The role exists: it has made the cluster.
        'psql --file record.sql': `grep DATABASE record.sql | ${psql} -U scrip postgres`,
        'scrip serve': `
          scrip serve --mode live --data-dir /var/lib/scrip --port ${port} &
          scrip wait --port ${port}
          scrip serve --mode live --data-dir /var/lib/scrip-second --port ${second} &
          until [ "$(scrip postgres status --json | jq '.followers | length')" = 1 ]; do sleep 0.1; done`,
        'systemctl stop scrip': stop(1, 2),
        'psql --file reports.sql': `${psql} -U scrip scrip --file reports.sql
          for refused in clients transactions orders payouts beneficiaries vouchers events audit idempotency_keys changes; do
            { ${psql} -U reports scrip -c "SELECT * FROM scrip.$refused" 2>&1 || true; } | grep -q 'permission denied' || echo "reads $refused"
          done
          ${psql} -U reports scrip -c 'SELECT count(*), sum(paid_minor) FROM scrip.payouts JOIN scrip.wallets ON wallets.id = wallet_id'
          ${psql} -U reports scrip -c 'SELECT username FROM scrip.clients'`,
      },
    })
    expect(said.match(/reads .*/g)).toBeNull()
    expect(said).toContain(' role=active\n')
    expect(said).toMatch(/the copy matches the record +0 /)
    expect(said.trimEnd()).toEndWith('acme')
  })

  test.skipIf(!hasShell || POSTGRES === undefined)(
    'makes role and database also where no role is a superuser',
    async () => {
      await using postgres = await Postgres.start()
      const psql = `${POSTGRES}/psql -X -q -At -v ON_ERROR_STOP=1 -h 127.0.0.1 -p ${postgres.port}`
      const owner = 'SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = $$rewards$$'
      const [made] = blocksOf(documentText('docs/operate/more-than-one-machine.md')).filter(
        ({ file }) => file === 'record.sql',
      )
      await Bun.$`sh -c ${`${psql} -U scrip postgres -c 'CREATE ROLE administrator LOGIN CREATEROLE CREATEDB'`}`
      const input = new Response(made?.text.replaceAll('scrip', 'rewards'))
      await Bun.$`sh -c ${`${psql} -U administrator postgres`} < ${input}`
      expect(await Bun.$`sh -c ${`${psql} -U administrator postgres -c '${owner}'`}`.text()).toBe('rewards\n')
    },
  )

  test('has a valid compose file', () => {
    const { services } = Bun.YAML.parse(documentText('docs/operate/compose-postgres.yaml')) as {
      services: Record<string, { build?: string; environment?: Record<string, string> }>
    }
    const variables = program.commands.find((one) => one.name() === 'serve')?.options.map(({ envVar }) => envVar)
    const known = [...(variables ?? []), 'SCRIP_VOUCHER_KEY', 'SCRIP_SIGNING_KEY']
    const servers = Object.values(services).filter(({ build }) => build !== undefined)
    expect(servers).toHaveLength(2)
    for (const { environment = {} } of servers)
      expect(Object.keys(environment).filter((name) => !known.includes(name.replace(/_FILE$/, '')))).toEqual([])
  })
})

describe('generated pages are current: npm run docs writes them', () => {
  test('docs/use/flags.md', async () => {
    expect(documentText('docs/use/flags.md')).toBe(await flagsPage())
  })

  test.each(Object.entries(DRAWN))('docs/pictures/%s.svg', (name, { drawn }) => {
    expect(readFileSync(picturePath(name), 'utf8')).toBe(drawn.text)
  })

  test('docs/operate/behind-a-proxy.md, with what the rig of proxies saw', () => {
    const page = readFileSync(PROXIES_PATH, 'utf8')
    expect(page).toBe(proxiesPage(page))
  })

  test('docs/use/clients.md, with what the clients of docs/use/client-retries.json did', () => {
    const page = readFileSync(CLIENTS_PATH, 'utf8')
    expect(page).toBe(clientsPage(page))
  })

  test('docs/use/errors.md, with advice on every documented error', async () => {
    await using server = await startServer()
    const page = readFileSync(ERRORS_PATH, 'utf8')
    expect(page).toBe(await errorsPage(page))
    const errors = (await (await server.request('/_sandbox/errors?all=true')).json()) as { name: string }[]
    const isNamed = ({ name }: { name: string }) =>
      page.includes(`\`${name}\``) || page.includes(`\`*.${name.split('.').at(-1)}\``)
    expect(errors.filter((error) => !isNamed(error))).toEqual([])
  })
})

describe('in every page', () => {
  test.each(PAGES.map((page) => [page]))('%s: all commands have existing flags', (page) => {
    const text = documentText(page)
    const unfenced = [...text.matchAll(/^ {4}(?:dist\/)?(scrip .+)$/gm)].map(([, line = '']) => line)
    const shown = blocksOf(text).filter(({ language }) => ['console', 'sh', 'make', 'yaml'].includes(language))
    const lines = [...unfenced, ...shown.flatMap(({ text }) => text.match(/(?<![\w/.-])scrip [a-z-].*$/gm) ?? [])]
    for (const line of lines) {
      const words = (line.split(/ -- | #|[|;&>)]/)[0] ?? '').trim().split(/\s+/).slice(1)
      let command = program
      for (const word of words) command = command.commands.find((one) => one.name() === word) ?? command
      if (command.parent === null) command = command.commands.find((one) => one.name() === 'serve') ?? command
      const known = [...command.options.map(({ long }) => long), '--help', '--version']
      const unknown = words.filter((word) => word.startsWith('--') && word !== '--' && !known.includes(word))
      expect({ line, unknown }).toEqual({ line, unknown: [] })
    }
  })

  test.each(PAGES.map((page) => [page]))('%s: all links work', (page) => {
    for (const [, target = ''] of documentText(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue
      const [path = '', heading] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      expect({ page, target, there: existsSync(join(ROOT, file)) }).toEqual({ page, target, there: true })
      if (heading === undefined) continue
      const headings = [...documentText(file).matchAll(/^#+ (.+)$/gm)].map(([, words = '']) =>
        words
          .toLowerCase()
          .replace(/[^\w\s-]/g, '')
          .replace(/\s/g, '-'),
      )
      expect(headings).toContain(heading)
    }
  })

  test('all sources that a page names exist', () => {
    const sources = [...new Glob('{src,test,release,seed,docs}/**/*.{ts,tsx,js,sql}').scanSync(ROOT)]
    const named = PAGES.flatMap((page) =>
      [...documentText(page).matchAll(/`((?:[\w-]+\/)+[\w.-]+\.(?:ts|tsx|js|sql))`/g)].map(([, file = '']) => ({
        page,
        file,
      })),
    )
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter(({ file }) => !sources.some((path) => `/${path}`.endsWith(`/${file}`)))).toEqual([])
  })

  test('a decision has at most 300 words, and is in the list of decisions', () => {
    const decisions = PAGES.filter((page) => /decisions\/\d/.test(page))
    const list = documentText('docs/decisions/README.md')
    expect(decisions.length).toBeGreaterThan(40)
    expect(decisions.filter((page) => !list.includes(`(${page.split('/').at(-1)})`))).toEqual([])
    expect(decisions.filter((page) => documentText(page).trim().split(/\s+/).length > 300)).toEqual([])
  })

  test('the language of a code block says whether it is run', () => {
    // Other tests run the blocks of the guide for testers, and blocks with the name of a file.
    for (const page of PAGES.filter((page) => page !== 'docs/use/testing-with-scrip.md')) {
      for (const { language, file } of blocksOf(documentText(page))) {
        const isRun = (language === 'sh' || language === 'json') && file === undefined && WALKED.includes(page)
        const isShown = language === 'console' || language === 'text' || language === 'http'
        expect({ page, language, file, known: isRun || isShown || file !== undefined }).toMatchObject({ known: true })
      }
    }
  })
})
