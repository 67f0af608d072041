import { beforeAll, expect, test } from 'bun:test'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { forFile } from '../harness.ts'
import { POSTGRES } from '../postgres.ts'
import { COMMAND, folderOfFile, inFolder, login, run, start } from '../program.ts'
import { Customer, codesOf, HAMPER, Operator, TEA } from './live.ts'
import { KEYS, withPostgres } from './postgres.ts'

/** Every example of the help, as a person would type it. */

const EXAMPLES = readFileSync(join(import.meta.dir, '../../src/commands/help/examples.txt'), 'utf8')
  .trimEnd()
  .split('\n')

/** These serve until they are stopped. */
const SERVES = /^scrip(?: serve.*| listen.*| requests tail.*| desk.*)?$/
/** These need PostgreSQL. */
const IN_POSTGRES = /^scrip postgres /

const root = folderOfFile()
/** A live folder with all that the examples name, and one with a client that has done nothing. */
const [stocked, bare] = [join(root, 'stocked'), join(root, 'bare')]
const ids = { request: '', order: 7, payout: '', webhook: '', event: '', beneficiary: '' }

beforeAll(async () => {
  const [operator, other] = [new Operator(stocked), new Operator(bare)]
  for (const folder of [stocked, bare]) mkdirSync(folder)
  const credentials = await operator.stocked()
  await other.json('client', 'add', 'acme')
  await operator.json('wallet', 'add', 'acme', 'GBP', '--postpaid', '5000')
  for (const [name, content] of Object.entries({
    'catalog.json': { products: [TEA, HAMPER] },
    'codes.jsonl': codesOf(1, 'TEA-8', 'TEA-9'),
    'rates.json': { base: 'USD', rates: { EUR: '0.92' } },
    secret: 'sandbox',
    'list.csv': 'reference,type,amount,currency\nsalary-1,payout,100,USD\n',
    'list.jsonl': '{"reference":"salary-1","type":"payout","amount":100,"currency":"USD"}\n',
  }))
    operator.file(name, content)
  const hampers = Array.from({ length: 3 * ids.order }, (_, number) => `HAMPER-${number}`)
  await operator.json('vouchers', 'import', operator.file('hampers.jsonl', codesOf(HAMPER.id, ...hampers)))
  await using server = await operator.serve('--webhook-allow', '127.0.0.0/8')
  const customer = await Customer.of(server, credentials)
  while ((await customer.order(HAMPER.id, 3)).id < ids.order);
  const saved = await customer.post('/beneficiaries', {
    email: 'ada@example.com',
    first_name: 'Ada',
    last_name: 'Lovelace',
  })
  ids.beneficiary = ((await saved.json()) as { id: string }).id
  const hook = await customer.post('/webhooks', { name: 'hook', url: 'https://127.0.0.1:9/', events: ['payout.*'] })
  ids.webhook = ((await hook.json()) as { id: string }).id
  ids.payout = (await customer.payout('salary-1')).id
  const [event] = await customer.read<{ id: string }[]>('/events?type=payout.created')
  ids.event = event?.id ?? ''
  operator.file('paid.txt', `${ids.payout}\n`)
  operator.file('bank.csv', `Date;Reference;Amount\n2026-11-02;${ids.payout};-100,00\n2026-11-02;Rent;-900,00\n`)
})

const sandbox = forFile(await start(['--rate-limit', 'off']))
await login(sandbox, 'sbx_checkout', 'sandbox')
const [newest] = (await (await sandbox.request('/_sandbox/requests?world=checkout')).json()) as { id: number }[]
ids.request = String(newest?.id)
await run(['trigger', 'ping', '--url', sandbox.url]) // an event that was there before

/** The commands that make what an example needs, in its copy of the folder. */
const BEFORE: readonly [example: RegExp, ...commands: string[]][] = [
  [/^scrip client enable/, 'client disable acme'],
  [/^scrip wallet close/, 'wallet default 1'],
  [/^scrip orders refund/, 'orders deliver 7'],
  [/^scrip payouts fail/, 'payouts advance PAYOUT', 'payouts advance PAYOUT'],
  [/^scrip payouts return/, 'payouts advance PAYOUT --to completed'],
  [/^scrip (?:restore|verify) \/backup/, 'backup FOLDER/scrip.sqlite'],
]

/** A command that writes, and takes a lost response for a failure. */
const PAYING = `const { SCRIP_URL, SCRIP_ACCESS_TOKEN } = process.env
await fetch(SCRIP_URL + "/api/v1/orders", {
  method: "POST",
  headers: { authorization: "Bearer " + SCRIP_ACCESS_TOKEN },
  body: JSON.stringify({ product_id: 1, denomination: 100, quantity: 1 }),
})`

/** The names of the examples, as this machine has them. */
const here = (line: string, folder: string): string =>
  line
    .replace('-- node --test', `-- '${process.execPath}' -e '${PAYING}'`)
    .replace(/-- (?!').*$/, '-- true') // a test suite of somebody's
    .replace('--coverage-min 60%', '--coverage-min 0%')
    .replace('https://example.com --username acme', `${sandbox.url} --username sandbox`)
    .replace(/http:\/\/127\.0\.0\.1:4747|https:\/\/rewards\.example\.com/, sandbox.url)
    .replace('--port 8080', `--port ${sandbox.port}`)
    .replace('/var/lib/scrip', 'data')
    .replace('/backup/', `${folder}/`)
    .replace('requests show 12', `requests show ${ids.request}`)
    .replace('pyt_...', ids.payout)
    .replace('ben_...', ids.beneficiary)
    .replace(/whk_\w+/, ids.webhook)
    .replace(/evt_\w+/, ids.event)
    .replace('$fpath[1]', folder)

const environmentOf = (line: string, folder: string): Record<string, string> => ({
  HOME: folder,
  PATH: `${folder}/bin:${process.env.PATH}`,
  // Whatever serves takes a free port; commands find the sandbox of this file.
  ...(SERVES.test(line) || line.startsWith('scrip run') ? {} : { SCRIP_PORT: String(sandbox.port) }),
  ...(/^scrip(?: serve.*| run.*)?$/.test(line) && !line.includes('--port') && { SCRIP_PORT: '0' }),
  ...(/^scrip (?:listen|trigger|requests)/.test(line) && { SCRIP_URL: sandbox.url }),
  ...(line.startsWith('scrip desk') && { SCRIP_DESK_PORT: '0' }),
  ...(line.includes('rekey') && { SCRIP_NEW_VOUCHER_KEY: '33'.repeat(32) }),
})

/** Runs a line in a folder. What serves is stopped when it has printed its first line. */
const typed = async (line: string, folder: string, more: Record<string, string> = {}) => {
  mkdirSync(join(folder, 'bin'), { recursive: true })
  mkdirSync(join(folder, 'hourly'), { recursive: true })
  mkdirSync(join(folder, '.config/fish/completions'), { recursive: true })
  writeFileSync(join(folder, 'bin/scrip'), `#!/bin/sh\nexec ${COMMAND.map((word) => `'${word}'`).join(' ')} "$@"\n`)
  chmodSync(join(folder, 'bin/scrip'), 0o755)
  const child = Bun.spawn(['bash', '-c', SERVES.test(line) ? `exec ${here(line, folder)}` : here(line, folder)], {
    cwd: folder,
    env: { ...environmentOf(line, folder), ...more },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let stdout = ''
  for await (const chunk of child.stdout) {
    stdout += Buffer.from(chunk).toString()
    if (SERVES.test(line) && stdout.includes('\n')) child.kill('SIGTERM')
  }
  return { exitCode: await child.exited, stderr: await child.stderr.text() }
}

test.each(EXAMPLES.filter((line) => !IN_POSTGRES.test(line)))('%s', (line) =>
  inFolder(async (folder) => {
    const isNew = /^scrip (?:client add|client remove|serve)/.test(line)
    cpSync(isNew ? bare : stocked, folder, { recursive: true })
    if (line.startsWith('scrip client add') || line === 'scrip serve --data-dir data --rate-limit off')
      await Bun.$`rm -r ${folder}/data`.quiet()
    for (const [example, ...commands] of BEFORE) {
      if (!example.test(line)) continue
      for (const command of commands) {
        const args = command.replace('PAYOUT', ids.payout).replace('FOLDER', folder).split(' ')
        const before = await run([...args, '--data-dir', join(folder, 'data')])
        expect({ command, ...before }).toMatchObject({ command, exitCode: 0 })
      }
    }
    const { exitCode, stderr } = await typed(line, folder)
    // The lists lack orders of the client.
    const expected = line.startsWith('scrip reconcile') ? 1 : 0
    expect({ exitCode, stderr }).toEqual({ exitCode: expected, stderr: expected === 1 ? '' : expect.any(String) })
  }),
)

const { newInstallation } = withPostgres()

test.skipIf(POSTGRES === undefined)('scrip postgres', async () => {
  const env = { ...KEYS, ...(await newInstallation()) }
  await inFolder(async (folder) => {
    cpSync(join(bare, 'data'), join(folder, 'live'), { recursive: true })
    for (const line of EXAMPLES.filter((each) => IN_POSTGRES.test(each)))
      expect({ line, ...(await typed(line, folder, env)) }).toMatchObject({ line, exitCode: 0 })
  })
})
