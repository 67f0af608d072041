import { Database, type Statement } from 'bun:sqlite'
import schema from '../../src/db/migrations/0001_schema.sql' with { type: 'text' }

/**
 * What Scrip is measured against: the same responses from the runtime alone. A token is looked up in a map, a response
 * that is known is a copy of a prepared response, and a beneficiary is one prepared insert in a transaction of its own,
 * as durable as Scrip's. No framework, no validation, no limits, no request ids, no errors but 401 and 404.
 */

/** A response of Scrip's, to be given again. */
export interface Prepared {
  body: string
  headers: Record<string, string>
}

/** What raw is given to start with, in a file. */
export interface Preparation {
  token: string
  /** Where beneficiaries are saved. */
  databasePath: string
  /** By path and query for GET; for POST followed by a space and the body. */
  responses: Record<string, Prepared>
  beneficiaryHeaders: Record<string, string>
}

export const BENEFICIARIES = '/api/v1/beneficiaries'
/** The same, but that the inserts which arrive in one turn of the event loop share a commit. */
export const SHARED_BENEFICIARIES = '/shared/beneficiaries'
/** The same, into a table with every index that a list of Scrip's goes along. */
export const INDEXED_BENEFICIARIES = '/indexed/beneficiaries'
/**
 * Before any other path: the same response with what the contract asks for of every one, which is an identifier of its own
 * and a body that is UTF-8 and JSON.
 */
export const DUTIFUL = '/dutiful'

const COLUMNS = `(
  id TEXT PRIMARY KEY, client_id INTEGER NOT NULL, email TEXT NOT NULL, first_name TEXT NOT NULL,
  last_name TEXT NOT NULL, email_folded TEXT NOT NULL, first_name_folded TEXT NOT NULL,
  last_name_folded TEXT NOT NULL, search_folded TEXT NOT NULL, country TEXT, phone TEXT, metadata TEXT NOT NULL,
  total_payouts INTEGER NOT NULL, total_amount_minor INTEGER NOT NULL, last_payout_at_ms INTEGER, created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID`
/** The table and the index that inserts are made into. */
export const BENEFICIARY_TABLE = [
  `CREATE TABLE beneficiaries ${COLUMNS}`,
  'CREATE INDEX beneficiaries_created ON beneficiaries (client_id, created_at_ms, id)',
]
/** The same table by another name, and its indexes as Scrip's migration makes them. */
const INDEXED = 'indexed_beneficiaries'
const INDEXED_TABLE = [
  `CREATE TABLE ${INDEXED} ${COLUMNS}`,
  ...[...schema.matchAll(/CREATE INDEX (\w+)\s+ON beneficiaries ([^;]+)/g)].map(
    ([, name, columns]) => `CREATE INDEX indexed_${name} ON ${INDEXED} ${columns}`,
  ),
]

interface NewBeneficiary {
  email: string
  first_name: string
  last_name: string
  country: string
  phone: string
  metadata: object
}

const open = (path: string): Database => {
  const sqlite = new Database(path, { create: true, strict: true })
  sqlite.run('PRAGMA journal_mode = WAL')
  sqlite.run('PRAGMA synchronous = FULL')
  for (const statement of [...BENEFICIARY_TABLE, ...INDEXED_TABLE]) sqlite.run(statement)
  return sqlite
}

const serve = ({ token, databasePath, responses, beneficiaryHeaders }: Preparation): Bun.Server<undefined> => {
  const clients = new Map([[`Bearer ${token}`, 1]])
  const prepared = new Map(
    Object.entries(responses).map(([asked, { body, headers }]) => [
      asked,
      new Response(Buffer.from(body), { headers }),
    ]),
  )
  const created = { status: 201, headers: beneficiaryHeaders }
  const sqlite = open(databasePath)
  const [begin, commit] = [sqlite.query('BEGIN IMMEDIATE'), sqlite.query('COMMIT')]
  const insertInto = (table: string) =>
    sqlite.query(`INSERT INTO ${table} VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?, 0, 0, NULL, ?)`)
  const [insert, insertIndexed] = [insertInto('beneficiaries'), insertInto(INDEXED)]
  let saved = 0

  const responseTo = (asked: string): Response => {
    const known = prepared.get(asked)
    return known ? (known.clone() as Response) : new Response(null, { status: 404 })
  }
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let responseCount = 0
  const respondWithHeaders = ({ method }: Request, path: string, bytes: ArrayBuffer | undefined): Response => {
    const text = utf8.decode(bytes)
    if (method === 'POST') JSON.parse(text)
    const response = responseTo(method === 'POST' ? `${path} ${text}` : path)
    response.headers.set('x-request-id', `req_raw_${++responseCount}`)
    return response
  }
  const save = (clientId: number, beneficiary: NewBeneficiary, into: Statement = insert): Response => {
    const { email, first_name, last_name, country, phone, metadata } = beneficiary
    const nowMs = Date.now()
    const id = `ben_${nowMs.toString(36).padStart(12, '0')}${(++saved).toString(36).padStart(13, '0')}`
    const lowerCased = [email.toLowerCase(), first_name.toLowerCase(), last_name.toLowerCase()] as const
    into.run(id, clientId, email, first_name, last_name, ...lowerCased, country, phone, JSON.stringify(metadata), nowMs)
    const body = {
      id,
      ...beneficiary,
      total_payouts: 0,
      total_amount: 0,
      last_payout_at: null,
      created_at: new Date(nowMs).toISOString(),
    }
    return new Response(JSON.stringify(body), created)
  }

  let waiting: (() => () => void)[] = []
  const commitWaiting = (): void => {
    const saves = waiting
    waiting = []
    begin.run()
    const responses = saves.map((each) => each())
    commit.run()
    for (const tell of responses) tell()
  }
  const saveTogether = (clientId: number, beneficiary: NewBeneficiary, into: Statement): Promise<Response> =>
    new Promise((resolve) => {
      const length = waiting.push(() => {
        const response = save(clientId, beneficiary, into)
        return () => resolve(response)
      })
      if (length === 1) setImmediate(commitWaiting)
    })

  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const clientId = clients.get(request.headers.get('authorization') ?? '')
      if (clientId === undefined) return new Response(null, { status: 401 })
      const { url } = request
      const path = url.slice(url.indexOf('/', 8))
      if (path.startsWith(DUTIFUL)) {
        const asked = path.slice(DUTIFUL.length)
        if (request.method === 'GET') return respondWithHeaders(request, asked, undefined)
        return request.arrayBuffer().then((bytes) => respondWithHeaders(request, asked, bytes))
      }
      if (request.method === 'GET') return responseTo(path)
      if (path === BENEFICIARIES)
        return request.json().then((beneficiary) => save(clientId, beneficiary as NewBeneficiary))
      if (path === SHARED_BENEFICIARIES || path === INDEXED_BENEFICIARIES) {
        const into = path === SHARED_BENEFICIARIES ? insert : insertIndexed
        return request.json().then((beneficiary) => saveTogether(clientId, beneficiary as NewBeneficiary, into))
      }
      return request.text().then((text) => responseTo(`${path} ${text}`))
    },
  })
}

if (import.meta.main) {
  const path = process.argv[2] ?? ''
  const server = serve((await Bun.file(path).json()) as Preparation)
  process.stdout.write(`ready url=http://127.0.0.1:${server.port}\n`)
}
