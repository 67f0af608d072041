import { misused, type ProgramError } from '../kernel/exit.ts'

/** The PostgreSQL that holds the data (contract C18). */
export interface PostgresTarget {
  /** Tried in this order, until one of them takes writes. A socket is a path. */
  hosts: readonly { host: string; port: number }[]
  user: string
  password: string | undefined
  database: string
  tls: 'disable' | 'require' | 'verify-ca' | 'verify-full'
  /** A file with the certificates that are trusted instead of those of the system. */
  rootCertificate: string | undefined
}

const PORT = 5432
const TLS = ['disable', 'require', 'verify-ca', 'verify-full'] as const
/** Each separator occurs once, so that no part of a password is mistaken for another part and shown. */
const URL_PARTS = /^postgres(?:ql)?:\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?([^@/?#]*)(?:\/([^@/?#]*))?(?:\?([^@?#]*))?$/
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1|\/.*)$/
const KNOWN = ['sslmode', 'sslrootcert', 'host']

/** Shows nothing of the URL, which may hold a password. @throws ProgramError */
export const parsePostgresUrl = (text: string): PostgresTarget => {
  const [, user, password, authority = '', database, query = ''] = URL_PARTS.exec(text.trim()) ?? []
  if (!URL_PARTS.test(text.trim())) throw wrongUrl('is not a PostgreSQL URL')
  const parameters = new URLSearchParams(query)
  const names = [...parameters.keys()]
  const hosts = hostsOf(authority === '' ? (parameters.get('host') ?? '') : authority)
  if (!user || !database || hosts.length === 0) throw wrongUrl('names no host, user or database')
  // Behind host, user and database, a name cannot be a part of the password.
  const unknown = names.filter((name) => !KNOWN.includes(name))
  if (unknown.length > 0)
    throw wrongUrl(`has the unknown parameter ${unknown.join(', ')}; known are ${KNOWN.join(', ')}`)
  if (new Set(names).size < names.length) throw wrongUrl('has a parameter twice')
  return {
    hosts,
    user: decoded(user),
    password: password ? decoded(password) : undefined,
    database: decoded(database),
    tls: tlsOf(parameters, hosts),
    rootCertificate: parameters.get('sslrootcert') ?? undefined,
  }
}

const wrongUrl = (what: string): ProgramError =>
  misused(
    `SCRIP_POSTGRES ${what}\nIt looks like postgres://scrip:password@db.example.com/scrip?sslmode=verify-full. In a password, write @ as %40, / as %2F, ? as %3F and # as %23.`,
  )

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw wrongUrl('has a % that is not part of an escape')
  }
}

const hostsOf = (authority: string) =>
  authority
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [, bracketed, plain = '', port = String(PORT)] =
        /^(?:\[([^\]]+)\]|([^:]*))(?::(\d{1,5}))?$/.exec(part) ?? []
      const host = bracketed ?? decoded(plain)
      if (host === '' || Number(port) > 65_535) throw wrongUrl('has an invalid host or port')
      return { host, port: Number(port) }
    })

const tlsOf = (parameters: URLSearchParams, hosts: PostgresTarget['hosts']): PostgresTarget['tls'] => {
  const sslmode = parameters.get('sslmode')
  if (sslmode === null) {
    const isLocal = hosts.every(({ host }) => LOOPBACK.test(host))
    return isLocal && !parameters.has('sslrootcert') ? 'disable' : 'verify-full'
  }
  const mode = TLS.find((one) => one === sslmode)
  if (!mode) throw wrongUrl(`has an sslmode other than ${TLS.join(', ')}`)
  // As in libpq, a URL that names an authority asks for the check.
  return mode === 'require' && parameters.has('sslrootcert') ? 'verify-ca' : mode
}
