import { describe, expect, test } from 'bun:test'
import { parsePostgresUrl } from '../../src/config/postgres-url.ts'

describe('the URL of the record', () => {
  test('names hosts, user, password and database', () => {
    expect(parsePostgresUrl('postgres://scrip:p%40ss@db1:5433,[::1]/rewards?sslmode=require')).toEqual({
      hosts: [
        { host: 'db1', port: 5433 },
        { host: '::1', port: 5432 },
      ],
      user: 'scrip',
      password: 'p@ss',
      database: 'rewards',
      tls: 'require',
      rootCertificate: undefined,
    })
  })

  test.each([
    ['postgres://scrip@127.0.0.1/scrip', 'disable'],
    ['postgres://scrip@localhost/scrip', 'disable'],
    ['postgres://scrip@/scrip?host=/run/postgresql', 'disable'],
    ['postgres://scrip@db.example.com/scrip', 'verify-full'],
    ['postgres://scrip@127.0.0.1,db.example.com/scrip', 'verify-full'],
    ['postgres://scrip@localhost/scrip?sslrootcert=/ca.pem', 'verify-full'],
    ['postgres://scrip@db.example.com/scrip?sslmode=disable', 'disable'],
    ['postgres://scrip@db.example.com/scrip?sslmode=require', 'require'],
    ['postgres://scrip@db.example.com/scrip?sslmode=require&sslrootcert=/ca.pem', 'verify-ca'],
  ] as const)('%s means %s', (url, tls) => {
    expect(parsePostgresUrl(url).tls).toBe(tls)
  })

  test.each([
    ['http://db/scrip', 'is not a PostgreSQL URL'],
    ['postgres://db/scrip', 'names no host, user or database'],
    ['postgres://scrip@db', 'names no host, user or database'],
    ['postgres://scrip@db:99999/scrip', 'has an invalid host or port'],
    ['postgres://scrip@db/scrip?sslmode=prefer', 'has an sslmode other than disable, require, verify-ca, verify-full'],
    ['postgres://scrip@db/scrip?options=-c', 'has the unknown parameter options; known are sslmode, sslrootcert, host'],
    [
      'postgres://scrip@db/scrip?sslmode=disable&connect_timeout=10&target_session_attrs=any',
      'has the unknown parameter connect_timeout, target_session_attrs; known are sslmode, sslrootcert, host',
    ],
    ['postgres://scrip:se?cret', 'has an invalid host or port'],
    ['postgres://scrip@db/scrip?sslmode=verify-full&sslmode=disable', 'has a parameter twice'],
    ['postgres://scrip:%zz@db/scrip', 'has a % that is not part of an escape'],
    ['postgres://scrip:se@cret@db/scrip', 'is not a PostgreSQL URL'],
    ['postgres://scrip:se?cret@db/scrip', 'is not a PostgreSQL URL'],
    ['postgres://scrip:se/cret@db/scrip', 'is not a PostgreSQL URL'],
    ['postgres://scrip:se#cret@db/scrip', 'is not a PostgreSQL URL'],
  ])('%s is refused, without showing it', (url, problem) => {
    expect(() => parsePostgresUrl(url)).toThrow(
      `SCRIP_POSTGRES ${problem}\nIt looks like postgres://scrip:password@db.example.com/scrip?sslmode=verify-full. In a password, write @ as %40, / as %2F, ? as %3F and # as %23.`,
    )
  })
})
