import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { lstatSync, mkdirSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { launch, run } from '../program.ts'
import { asOperator, Operator, operatorTest, stockedTest } from './live.ts'

/** One process writes a folder: a server performs the acts of commands, or a command holds the folder (contract C20). */

const socketOf = (operator: Operator): string => join(operator.dataDir, 'run', 'scrip.sock')

const amountIn = async (operator: Operator): Promise<number | undefined> =>
  (await operator.json<{ amount: number }[]>('wallet', 'list'))[0]?.amount

/** Sends an act as a command does, and returns the last line. */
const ask = async (operator: Operator, request: object): Promise<object> => {
  const common = { subject: '1', user: 'tester', input: { id: 1, amount: '5' }, isDryRun: false }
  const body = `${JSON.stringify({ ...common, ...request })}\n`
  const response = await fetch('http://scrip/acts', { unix: socketOf(operator), method: 'POST', body })
  return JSON.parse((await response.text()).trim().split('\n').at(-1) ?? '') as object
}

describe('a server', () => {
  stockedTest('is asked at a socket that its owner alone can reach', async (operator) => {
    await using server = await operator.serve()
    const modes = [join(operator.dataDir, 'run'), socketOf(operator)].map((path) => lstatSync(path).mode & 0o777)
    expect(modes).toEqual([0o700, 0o600])
    expect(lstatSync(socketOf(operator)).isSocket()).toBe(true)
    expect(await server.stop()).toMatchObject({ exitCode: 0 })
    expect(lstatSync(socketOf(operator), { throwIfNoEntry: false })).toBeUndefined()
  })

  stockedTest('and a command refuse a link in the place of the socket', async (operator) => {
    const elsewhere = join(operator.folder, 'elsewhere')
    mkdirSync(elsewhere)
    symlinkSync(elsewhere, join(operator.dataDir, 'run'))
    const refused = await operator.run(['serve', '--mode', 'live', '--port', '0'])
    expect(refused).toMatchObject({ exitCode: 4, stdout: '' })
    expect(refused.stderr).toEndWith(`${join(operator.dataDir, 'run')} is a link\nRemove it.\n`)
  })

  stockedTest('refuses an act that it does not know by its name, and does nothing', async (operator) => {
    await using _server = await operator.serve()
    const before = await operator.json('audit', 'list')
    for (const command of ['wallet burn', 'constructor', '__proto__']) {
      expect(await ask(operator, { id: 'act_1', command })).toEqual({
        refusal: expect.stringContaining(`the server does not know scrip ${command}: it is of release `),
        exitCode: 1,
      })
    }
    expect(await operator.json('audit', 'list')).toEqual(before)
  })

  stockedTest('does an act once, however often it is asked for', async (operator) => {
    await using _server = await operator.serve()
    const request = { id: 'act_1', command: 'wallet fund', input: { id: 1, amount: '5' } }
    // The second one may come when the first is done: then the audit answers it.
    const lines = await Promise.all([ask(operator, request), ask(operator, request)])
    const funded = expect.objectContaining({ amount: expect.objectContaining({ minor: 100_500 }) })
    expect(lines).toContainEqual({ result: funded })
    expect(await ask(operator, request)).toMatchObject({ result: { command: 'wallet fund', act: 'act_1' } })
    expect(await amountIn(operator)).toBe(1005)
    const [row] = await operator.json<object[]>('audit', 'list')
    expect(row).toMatchObject({ command: 'wallet fund', act: 'act_1', user: 'tester', outcome: 'done' })
  })

  stockedTest('refuses another act under the id of one, by the name of that one', async (operator) => {
    await using _server = await operator.serve()
    const request = { id: 'act_1', command: 'wallet fund', input: { id: 1, amount: '5' } }
    await ask(operator, request)
    const before = await operator.json<object[]>('audit', 'list')
    for (const other of [
      { ...request, input: { id: 1, amount: '6' } },
      { ...request, subject: '2' },
      { id: 'act_1', command: 'wallet close', input: { id: 1 } },
    ]) {
      expect(await ask(operator, other)).toEqual({
        refusal: `act_1 is the id of another act: scrip wallet fund 1\nNothing was done. See row ${before.length} of the audit.`,
        exitCode: 1,
      })
    }
    expect(await operator.json<object[]>('audit', 'list')).toEqual(before)
    expect(await amountIn(operator)).toBe(1005)
  })

  stockedTest('refuses everything but the request of an act', async (operator) => {
    await using server = await operator.serve()
    const sound = { id: 'act_1', command: 'wallet fund' }
    for (const wrong of [
      { id: '' },
      { id: 1 },
      { subject: 1 },
      { user: null },
      { input: [] },
      { isDryRun: 1 },
      { seen: 'x' },
      { refusal: 1 },
    ]) {
      expect({ wrong, line: await ask(operator, { ...sound, ...wrong }) }).toEqual({
        wrong,
        line: { refusal: 'this socket is only for scrip commands', exitCode: 2 },
      })
    }
    expect(server.log()).not.toContain('an act failed')
  })

  stockedTest('keeps the folder from commands that need it alone', async (operator) => {
    const backup = await operator.backedUp()
    await using _server = await operator.serve()
    for (const command of [
      ['restore', backup, '--force'],
      ['vouchers', 'rekey'],
    ])
      expect(await operator.run(command)).toMatchObject({ exitCode: 4, stdout: '' })
    const rows = await operator.json<object[]>('audit', 'list', '--limit', '2')
    expect(rows).toMatchObject([
      { command: 'vouchers rekey', outcome: 'refused' },
      { command: 'restore', outcome: 'refused' },
    ])
  })

  test('that cannot have a socket serves, logs it once, and keeps commands from writing', () =>
    asOperator(async ({ folder }) => {
      const operator = new Operator(folder, join(folder, 'd'.repeat(100)))
      await operator.stocked()
      const server = await operator.serve()
      const link = join(folder, 'link')
      symlinkSync(operator.dataDir, link)
      for (const [dataDir, cwd] of [
        [operator.dataDir, folder],
        [`./${basename(operator.dataDir)}`, folder],
        ['.', operator.dataDir],
        [link, folder],
      ] as const) {
        const refused = await run(['wallet', 'fund', '1', '5', '--data-dir', dataDir], { cwd })
        expect([refused.exitCode, refused.stderr]).toEqual([
          1,
          expect.stringMatching(/ is longer than the system allows\nStop the server first\.\n$/),
        ])
      }
      expect(await amountIn(operator)).toBe(1000)
      const { stderr } = await server.stop()
      expect(stderr.match(/commands that write cannot reach this server/g)).toHaveLength(1)
      expect(await operator.json('wallet', 'fund', '1', '5')).toMatchObject({ amount: 1005 })
    }))
})

describe('of commands that lose their server', () => {
  stockedTest('each says what became of its act, and none is done twice', async (operator) => {
    const server = await operator.serve()
    const acts = Array.from({ length: 12 }, () => launch(['wallet', 'fund', '1', '1', '--data-dir', operator.dataDir]))
    const database = new Database(join(operator.dataDir, 'scrip.sqlite'), { readonly: true })
    const funded = database.query<{ n: number }, []>("SELECT count(*) AS n FROM audit WHERE command = 'wallet fund'")
    while ((funded.get()?.n ?? 0) < 3) await Bun.sleep(1)
    database.close()
    server.signal('SIGKILL')
    const ended = await Promise.all(acts.map(({ ended }) => ended))
    expect(ended.filter(({ exitCode }) => exitCode !== 0)).toEqual([])
    expect(await amountIn(operator)).toBe(1000 + acts.length)
    expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
  })
})

operatorTest(
  'of a hundred commands at once, without a server, each is done once or has waited 30 s',
  async (operator) => {
    await operator.stocked()
    const all = await Promise.all(Array.from({ length: 100 }, () => operator.run(['wallet', 'fund', '1', '1'])))
    const done = all.filter(({ exitCode }) => exitCode === 0)
    expect(done).not.toEqual([])
    // A slow machine cannot do all of them in this time.
    const refusal = 'scrip: another command has been writing to this folder for too long\nTry again.\n'
    for (const { exitCode, stderr } of all)
      if (exitCode !== 0)
        expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(refusal) })
    expect(await amountIn(operator)).toBe(1000 + done.length)
    expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
  },
)
