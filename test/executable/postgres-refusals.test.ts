import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { POSTGRES, Postgres } from '../postgres.ts'
import { launch, run } from '../program.ts'
import { serve } from '../rigs/server.ts'
import { KEYS, LIVE, serving, withPostgres } from './postgres.ts'

/** A server or a command refuses because of PostgreSQL, its certificate, the keys or the folder (contract C18). */

/** A certificate authority, and a certificate of `localhost` that the user of PostgreSQL can read. */
const makeCertificates = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'scrip-tls-'))
  const request = (name: string, ...args: string[]) =>
    Bun.$`openssl req -nodes -newkey rsa:2048 -keyout ${name}.key -subj /CN=${name} ${args}`.cwd(folder).quiet()
  for (const authority of ['ca', 'other']) await request(authority, '-x509', '-days', '2', '-out', `${authority}.crt`)
  await request('server', '-addext', 'subjectAltName=DNS:localhost', '-out', 'server.csr')
  await Bun.$`openssl x509 -req -in server.csr -days 2 -CA ca.crt -CAkey ca.key -CAcreateserial -copy_extensions copy -out server.crt`
    .cwd(folder)
    .quiet()
  if (process.getuid?.() === 0) await Bun.$`chown -R postgres ${folder}`.quiet()
  await Bun.$`chmod 600 ${folder}/server.key`.quiet()
  return folder
}

if (!Bun.which('openssl') && process.env.TEST_ALL === '1') throw new Error('openssl is not installed')
const tls = POSTGRES !== undefined && Bun.which('openssl') ? await makeCertificates() : ''

describe.skipIf(tls === '')('refuses', () => {
  const { postgres, newFolder, newInstallation } = withPostgres()
  beforeAll(async () => {
    await postgres().sql(`ALTER SYSTEM SET ssl_cert_file = '${tls}/server.crt'`)
    await postgres().sql(`ALTER SYSTEM SET ssl_key_file = '${tls}/server.key'`)
    await useTls('on')
  })
  afterAll(() => rmSync(tls, { recursive: true, force: true }))

  const useTls = async (state: 'on' | 'off'): Promise<void> => {
    await postgres().sql(`ALTER SYSTEM SET ssl = ${state}`)
    await postgres().sql('SELECT pg_reload_conf()')
    while ((await postgres().sql('SHOW ssl'))[0] !== state) await Bun.sleep(20)
  }
  const refusal = async (args: string[], env: Record<string, string>) => {
    const { exitCode, stderr } = await run(args, { env })
    return [exitCode, stderr]
  }
  const ofServer = async (url: string) => {
    const dataDir = newFolder()
    const [exitCode, stderr] = await refusal(serving(dataDir), { ...KEYS, SCRIP_POSTGRES: url })
    return [exitCode, String(stderr).replace(`${dataDir}: `, '')]
  }

  test('a certificate that its URL does not trust', async () => {
    const name = new URL((await newInstallation()).SCRIP_POSTGRES).pathname.slice(1)
    const at = (host: string, query: string): string => `postgres://scrip@${host}:${postgres().port}/${name}?${query}`
    const noCertificate = join(tls, 'none.pem')
    writeFileSync(noCertificate, '')
    const remedy = '\nName the host that it is for, and its certificate authority in sslrootcert.\n'
    const refused = async (host: string, query: string) => await ofServer(at(host, query))
    expect(await refused('localhost', 'sslmode=verify-full')).toEqual([
      4,
      `scrip: PostgreSQL: its certificate is refused: unable to verify the first certificate${remedy}`,
    ])
    for (const mode of ['', 'sslmode=verify-ca&'])
      expect(await refused('localhost', `${mode}sslrootcert=${tls}/other.crt`)).toEqual([
        4,
        expect.stringContaining('its certificate is refused: '),
      ])
    expect(await refused('127.0.0.1', `sslrootcert=${tls}/ca.crt`)).toEqual([
      4,
      expect.stringMatching(/^scrip: PostgreSQL: its certificate is refused: .* does not match certificate/),
    ])
    expect(await refused('localhost', 'sslrootcert=/none')).toEqual([
      4,
      'scrip: /none does not exist\nCheck its name and its folder.\n',
    ])
    expect(await refused('localhost', `sslrootcert=${noCertificate}`)).toEqual([
      4,
      `scrip: sslrootcert: ${noCertificate} contains no certificate\nGive a PEM file with CA certificates.\n`,
    ])
    for (const [host, query] of [
      ['localhost', 'sslmode=require'],
      ['127.0.0.1', `sslmode=verify-ca&sslrootcert=${tls}/ca.crt`],
      ['localhost', `sslrootcert=${tls}/ca.crt`],
    ] as const) {
      const args = ['client', 'list', '--data-dir', newFolder()]
      expect(await run(args, { env: { ...KEYS, SCRIP_POSTGRES: at(host, query) } })).toMatchObject({ exitCode: 0 })
    }
    await useTls('off')
    const status = await refusal(['postgres', 'status'], { SCRIP_POSTGRES: at('localhost', 'sslmode=require') })
    expect(status).toEqual([
      1,
      'scrip: cannot connect to PostgreSQL: it ends the connection instead of using TLS\nCheck that it is running and that this machine can reach it.\n',
    ])
  })

  test('a wrong password, a missing database and missing rights', async () => {
    const rules = join(postgres().data, 'pg_hba.conf')
    writeFileSync(rules, `host all locked 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, 'utf8')}`)
    await postgres().sql("CREATE ROLE locked LOGIN PASSWORD 'right'")
    await postgres().sql('SELECT pg_reload_conf()')
    const { SCRIP_POSTGRES, ...env } = await newInstallation()
    expect(
      await run(['client', 'add', 'ada', '--data-dir', newFolder()], { env: { ...env, SCRIP_POSTGRES } }),
    ).toMatchObject({ exitCode: 0 })
    const { host, pathname } = new URL(SCRIP_POSTGRES)
    expect(await ofServer(`postgres://locked:wrong@${host}${pathname}`)).toEqual([
      4,
      'scrip: PostgreSQL: password authentication failed for user "locked"\nCheck user and password in SCRIP_POSTGRES, and pg_hba.conf of PostgreSQL.\n',
    ])
    expect(await ofServer(`postgres://locked:right@${host}${pathname}`)).toEqual([
      4,
      'scrip: the user has no rights on the schema scrip\nGrant USAGE and CREATE on it, or make the user its owner.\n',
    ])
    const database = pathname.slice(1)
    await postgres().sql('GRANT USAGE, CREATE ON SCHEMA scrip TO locked', database)
    for (const granted of ['', 'GRANT ALL ON ALL TABLES IN SCHEMA scrip TO locked']) {
      await postgres().sql(granted, database)
      expect(await ofServer(`postgres://locked:right@${host}${pathname}`)).toEqual([
        4,
        'scrip: the user may not write the tables and sequences of the schema scrip\nUse the user that created them, or grant it to this one.\n',
      ])
    }
    expect(await ofServer(`postgres://scrip@${host}/missing`)).toEqual([
      4,
      'scrip: PostgreSQL: database "missing" does not exist\nCreate the database, or use another one.\n',
    ])
  })

  test('a PostgreSQL that would lose commits, or is a standby', async () => {
    await using careless = await Postgres.start(['fsync=off'])
    expect(await ofServer(await careless.create('record'))).toEqual([
      4,
      'scrip: this PostgreSQL has fsync off, and would lose commits\nSet fsync to on.\n',
    ])
    await using primary = await Postgres.start()
    await using standby = await primary.standby()
    expect(await ofServer(standby.url('postgres'))).toEqual([
      4,
      'scrip: this PostgreSQL is a standby, which takes no writes\nUse the primary, or list all servers.\n',
    ])
  })

  test('a role or a database whose transactions are read-only by default', async () => {
    const env = await newInstallation()
    const database = new URL(env.SCRIP_POSTGRES).pathname.slice(1)
    await postgres().sql(`ALTER DATABASE ${database} SET default_transaction_read_only = on`)
    expect(await ofServer(env.SCRIP_POSTGRES)).toEqual([
      4,
      'scrip: default_transaction_read_only is on for this user or database, which then takes no writes\nReset it: ALTER ROLE or ALTER DATABASE ... RESET default_transaction_read_only.\n',
    ])
  })

  test('a parameter of the URL that it does not know, by its name', async () => {
    const { SCRIP_POSTGRES } = await newInstallation()
    const [exitCode, stderr] = await ofServer(`${SCRIP_POSTGRES}?connect_timeout=10`)
    expect([exitCode, String(stderr).split('\n')[0]]).toEqual([
      2,
      'scrip: SCRIP_POSTGRES has the unknown parameter connect_timeout; known are sslmode, sslrootcert, host',
    ])
  })

  test('a voucher key that differs from that of the other servers, before and when it is replaced', async () => {
    const env = await newInstallation()
    const [first, second] = [newFolder(), newFolder()]
    const a = await serve([...LIVE, '--data-dir', first], { env })
    const another = { ...env, SCRIP_VOUCHER_KEY: '33'.repeat(32) }
    const wrong =
      'the voucher key is not the one that encrypted the codes of this database\nSet that key with SCRIP_VOUCHER_KEY, SCRIP_VOUCHER_KEY_FILE or the file voucher.key of the data folder.\n'
    expect(await refusal(serving(second), another)).toEqual([4, expect.stringContaining(`${second}: ${wrong}`)])
    const renewing = { ...env, SCRIP_NEW_VOUCHER_KEY: '33'.repeat(32) }
    const rekey = ['vouchers', 'rekey', '--data-dir', first]
    expect(await refusal(rekey, renewing)).toEqual([
      4,
      expect.stringContaining('another scrip serve is using this folder'),
    ])
    expect(await a.stop()).toMatchObject({ exitCode: 0 })
    expect(await run(rekey, { env: renewing })).toMatchObject({ exitCode: 0 })
    expect(await refusal(serving(first), env)).toEqual([4, expect.stringContaining(`${first}: ${wrong}`)])
    const renewed = await serve([...LIVE, '--data-dir', second], { env: another })
    expect(await renewed.stop()).toMatchObject({ exitCode: 0 })
  })

  test('a database of a newer release, also while a server waits', async () => {
    const env = await newInstallation()
    const database = env.SCRIP_POSTGRES?.split('/').at(-1)
    const [first, second] = [newFolder(), newFolder()]
    const a = await serve([...LIVE, '--data-dir', first], { env })
    const b = launch(serving(second), { env })
    const followers = () => postgres().sql('SELECT count(*) FROM scrip.followers', database)
    while ((await followers())[0] === '0') await Bun.sleep(20)
    await postgres().sql("UPDATE scrip.installation SET schema_version = 999, release = '9.9.9'", database)
    const { exitCode, stderr } = await b.ended
    expect(exitCode).toBe(4)
    expect(stderr).toMatch(
      new RegExp(
        `scrip: ${second}: the record is at schema 999, and this program knows schemas up to \\d+: it was created by a newer release, or by a build before the first one\\nRun Scrip 9\\.9\\.9, which created it\\.\\n$`,
      ),
    )
    await a.kill()
    expect(await refusal(serving(second), env)).toEqual([4, expect.stringContaining('the record is at schema 999')])
  })

  test('a database whose last commits somebody has deleted, instead of pulling it again and again', async () => {
    const env = await newInstallation()
    const dataDir = newFolder()
    expect(await run(['client', 'add', 'ada', '--data-dir', dataDir], { env })).toMatchObject({ exitCode: 0 })
    await postgres().sql('DELETE FROM scrip.changes', env.SCRIP_POSTGRES?.split('/').at(-1))
    for (const folder of [dataDir, newFolder()]) {
      const lacking = expect.stringContaining(
        'scrip.changes lacks the last commit of the record: somebody has deleted it',
      )
      expect(await refusal(serving(folder), env)).toEqual([4, lacking])
    }
  })

  test('every write to a copy without --postgres', async () => {
    const env = await newInstallation()
    const dataDir = newFolder()
    expect(await run(['client', 'add', 'ada', '--data-dir', dataDir], { env })).toMatchObject({ exitCode: 0 })
    const copied = expect.stringContaining('is a copy of the record ')
    const keys = { ...KEYS, SCRIP_NEW_VOUCHER_KEY: '33'.repeat(32) }
    for (const args of [serving(dataDir), ['client', 'add', 'bob', '--data-dir', dataDir]])
      expect(await refusal(args, KEYS)).toEqual([4, copied])
    expect(await refusal(['vouchers', 'rekey', '--data-dir', dataDir], keys)).toEqual([4, copied])
    const backup = newFolder()
    expect(await run(['backup', backup, '--data-dir', dataDir], { env: KEYS })).toMatchObject({ exitCode: 0 })
    expect(await refusal(['restore', backup, '--force', '--data-dir', dataDir], KEYS)).toEqual([
      4,
      `scrip: ${dataDir}: this folder is a copy of a record in PostgreSQL, which servers would go on to serve\nUse an empty folder.\n`,
    ])
    for (const command of ['client list', 'verify'])
      expect(await run([...command.split(' '), '--data-dir', dataDir], { env: KEYS })).toMatchObject({ exitCode: 0 })
  })

  test('an upload of an empty folder; an upload that is done is in the audit', async () => {
    const env = await newInstallation()
    const dataDir = newFolder()
    expect(await refusal(['postgres', 'init', '--data-dir', dataDir], env)).toEqual([
      1,
      `scrip: ${dataDir} contains no data\nscrip serve creates an empty record itself.\n`,
    ])
    expect(await run(['client', 'add', 'ada', '--data-dir', dataDir])).toMatchObject({ exitCode: 0 })
    const { SCRIP_POSTGRES } = env
    expect(await run(['postgres', 'init', '--data-dir', dataDir], { env: { SCRIP_POSTGRES } })).toMatchObject({
      exitCode: 2,
    })
    const made = await run(['postgres', 'init', '--json', '--data-dir', dataDir], { env })
    const { installation } = JSON.parse(made.stdout) as { installation: string }
    const rows = await postgres().sql(
      'SELECT command, outcome, after FROM scrip.audit ORDER BY id',
      SCRIP_POSTGRES.split('/').at(-1),
    )
    expect(rows).toEqual([
      'client add|done|{"client_id":1}',
      expect.stringMatching(/^postgres init\|refused\|/),
      `postgres init|done|{"installation":"${installation}"}`,
    ])
    expect(await run(['verify', '--data-dir', dataDir], { env })).toMatchObject({ exitCode: 0 })
  })

  test('keys that are missing, or not those of the database', async () => {
    const env = await newInstallation()
    const { SCRIP_POSTGRES } = env
    const [first, second] = [newFolder(), newFolder()]
    expect(await refusal(serving(first), { SCRIP_POSTGRES })).toEqual([
      2,
      expect.stringContaining('scrip: --postgres needs the keys that all servers share'),
    ])
    const add = ['client', 'add', 'ada', '--data-dir', first]
    expect(await refusal(add, { SCRIP_POSTGRES })).toEqual([
      4,
      expect.stringContaining(`scrip: ${first}: the record is empty, and a new one needs the keys of all servers`),
    ])
    expect(await run(add, { env })).toMatchObject({ exitCode: 0 })
    expect(await refusal(serving(second), { ...env, SCRIP_SIGNING_KEY: '33'.repeat(32) })).toEqual([
      4,
      expect.stringContaining(`scrip: ${second}: the signing key is not the one of the other servers`),
    ])
  })

  test('every failure at the start, at once and with its exit code, with PostgreSQL and without', async () => {
    using taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
    const [wrong, busy, port] = [join(tls, 'wrong.json'), newFolder(), String(taken.port)]
    writeFileSync(wrong, '{')
    await using _ = await serve([...LIVE, '--data-dir', busy], { env: KEYS })
    for (const env of [KEYS, await newInstallation()]) {
      for (const [code, ...flags] of [
        [2, '--access-ttl', 'soon'],
        [3, '--port', port],
        [3, '--host', '192.0.2.1'],
        [3, '--metrics-port', port],
        [1, '--ready-file', '/none/ready'],
        [4, '--catalog', wrong],
        [4, '--rates', wrong],
        [4, '--data-dir', wrong],
        [4, '--data-dir', busy],
      ] as [number, ...string[]][]) {
        const server = launch([...serving(newFolder()), ...flags], { env })
        const ended = await Promise.race([server.ended, Bun.sleep(5_000)])
        server.kill()
        expect({ flags, code: ended?.exitCode, words: ended?.stderr }).toEqual({
          ...{ flags, code },
          words: expect.stringMatching(/^(?:(?!scrip: ).*\n)*scrip: .+\n/),
        })
      }
    }
  })

  test('URLs that are invalid, and flags that cannot be used together', async () => {
    const dataDir = newFolder()
    const named = 'postgres://scrip@127.0.0.1/scrip'
    for (const [args, env, words] of [
      [serving(dataDir), { ...KEYS, SCRIP_POSTGRES: 'mysql://db' }, 'SCRIP_POSTGRES is not a PostgreSQL URL'],
      [
        [...serving(dataDir), '--postgres', 'postgres://a:b@127.0.0.1/c'],
        KEYS,
        'any user of this machine can read the password in --postgres',
      ],
      [
        ['restore', 'file', '--data-dir', dataDir],
        { ...KEYS, SCRIP_POSTGRES: named },
        'scrip restore works on a folder that holds its own record',
      ],
      [['serve', '--postgres', named], {}, '--postgres is not available in sandbox mode'],
    ] as const)
      expect(await refusal([...args], env)).toEqual([2, expect.stringContaining(`scrip: ${words}\n`)])
    expect(existsSync(dataDir)).toBe(false)
  })

  test('a database that cannot hold the data', async () => {
    await postgres().sql("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    await postgres().sql('CREATE ROLE guest LOGIN')
    const { host, pathname } = new URL((await newInstallation()).SCRIP_POSTGRES)
    const ofOthers = await postgres().create('others')
    await postgres().sql('CREATE SCHEMA scrip; CREATE TABLE scrip.clients (id int)', 'others')
    for (const [url, problem] of [
      [ofOthers, 'the schema scrip contains tables of another program'],
      [postgres().url('latin'), 'the database is in LATIN1, and the record needs UTF8'],
      [`postgres://guest@${host}${pathname}`, 'the user may not create the schema scrip'],
    ] as const)
      expect(await ofServer(url)).toEqual([4, expect.stringContaining(problem)])
  })

  test('a folder of another database', async () => {
    const [env, other] = [await newInstallation(), await newInstallation()]
    const dataDir = newFolder()
    expect(await run(['client', 'add', 'ada', '--data-dir', dataDir], { env })).toMatchObject({ exitCode: 0 })
    expect(await run(['client', 'add', 'bob', '--data-dir', newFolder()], { env: other })).toMatchObject({
      exitCode: 0,
    })
    expect(await refusal(serving(dataDir), other)).toEqual([
      4,
      expect.stringContaining('this folder is a copy of the record '),
    ])
  })
})
