import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { forFile } from '../harness.ts'
import { COMMAND, folderTest, type Running, run, start } from '../program.ts'

/** `scrip compare` (contract C15): against another Scrip, and against one whose responses are altered on their way. */

interface Row {
  operation: string
  request: string
  field: string
  expected: string
  found: string
}

const HOST_FLAGS = ['--rate-limit', '100000/h']

/** Makes a record of each kind, so that every operation has something to return. */
const fillWith = async (program: Running): Promise<void> => {
  const post = async (path: string, body: object, token = '') => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await program.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(response.status).toBeLessThan(300)
    return (await response.json()) as { access_token: string }
  }
  const { access_token } = await post('/auth/login', { username: 'sandbox', password: 'sandbox' })
  const ada = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
  await post('/api/v1/beneficiaries', ada, access_token)
  await post('/api/v1/orders', { product_id: 1, denomination: 100, quantity: 1 }, access_token)
  await post(
    '/api/v1/payouts',
    {
      reference_id: 'one',
      wallet_id: 1,
      amount: 10,
      currency: 'USD',
      beneficiary_email: ada.email,
      beneficiary_first_name: ada.first_name,
      beneficiary_last_name: ada.last_name,
    },
    access_token,
  )
  await post('/api/v1/webhooks', { name: 'one', url: 'http://127.0.0.1:9/', events: ['payout.returned'] }, access_token)
}

const host = forFile(await start(HOST_FLAGS))
await fillWith(host)

const compare = async (url: string, flags: string[] = [], env: Record<string, string> = {}) =>
  run(['compare', url, ...flags], { env })

const rowsOf = ({ stdout }: { stdout: string }): Row[] => JSON.parse(stdout)

describe('against another Scrip', () => {
  test('there is no difference: exit code 0', async () => {
    const { exitCode, stdout, stderr } = await compare(host.url)
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    expect(stderr).toMatch(
      /^not compared: GET \/api\/v1\/webhooks\/:id\/deliveries: the list is empty\nno differences in \d+ answers\n$/,
    )
  })

  test('with --json, the list of differences is empty', async () => {
    expect(await compare(host.url, ['--json'])).toEqual({ exitCode: 0, stdout: '[]\n', stderr: '' })
  })

  test('whose limits are lifted, there is no difference', async () => {
    await using lifted = await start(['--rate-limit', 'off'])
    expect(await compare(lifted.url)).toMatchObject({ exitCode: 0, stdout: '' })
  })

  test('whose lists are empty, what they prove nothing about is named', async () => {
    await using empty = await start()
    const { exitCode, stderr } = await compare(empty.url)
    expect(exitCode).toBe(0)
    for (const route of ['beneficiaries', 'orders', 'payouts']) {
      expect(stderr).toContain(`not compared: GET /api/v1/${route}: the list is empty\n`)
      expect(stderr).toContain(`not compared: GET /api/v1/${route}/:id: the host has no record for it\n`)
    }
  })

  test('as a client without a feature, what the feature has is not compared', async () => {
    const { exitCode, stderr } = await compare(host.url, ['--username', 'limited'], { SCRIP_PASSWORD: 'limited' })
    expect(exitCode).toBe(0)
    expect(stderr).toContain('not compared: GET /api/v1/categories: the client does not have the feature\n')
  })

  test('nothing is written, and only the login makes a token', async () => {
    await using watched = await start(['--rate-limit', 'off'])
    await compare(watched.url)
    const requests = (await (await watched.request('/_sandbox/requests')).json()) as {
      method: string
      route: string | null
      changes: unknown[]
    }[]
    expect(requests.length).toBeGreaterThan(50)
    expect(requests.flatMap(({ changes }) => changes)).toEqual([])
    const writing =
      /^(?:GET \/|POST \/auth\/(?:login|refresh)$|POST \/api\/v1\/products\/:id\/(?:charges|availability|discount)$)/
    expect(requests.map(({ method, route }) => `${method} ${route}`).filter((asked) => !writing.test(asked))).toEqual(
      [],
    )
  })
})

describe('the limits of the host', () => {
  test('are waited for and not met', async () => {
    await using slow = await start(['--rate-limit', '20/s'])
    const { exitCode, stdout } = await compare(slow.url)
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    const requests = (await (await slow.request('/_sandbox/requests')).json()) as { response: { status: number } }[]
    expect(requests.filter(({ response }) => response.status === 429)).toEqual([])
  })
})

test('thirteen runs in a row do not meet the limit of failed logins', async () => {
  for (let time = 0; time < 13; time++) expect(await compare(host.url)).toMatchObject({ exitCode: 0 })
})

/** Serves the responses of a Scrip, altered for some requests. */
const altered = async (alterations: readonly Alteration[], work: (url: string) => Promise<void>): Promise<void> => {
  const hit = new Set<string>()
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const text = await request.text()
      const { method } = request
      const headers = new Headers(request.headers)
      headers.delete('host')
      const response = await fetch(host.url + pathname + search, {
        method,
        headers,
        ...(text !== '' && { body: text }),
      })
      const altered: Altered = {
        status: response.status,
        headers: new Headers(response.headers),
        text: await response.text(),
      }
      for (const { what, on, change, instead } of alterations) {
        if (!on.test(`${method} ${pathname}${search} ${response.status}`)) continue
        hit.add(what)
        if (instead) return instead()
        change?.(altered)
      }
      for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) altered.headers.delete(name)
      return new Response(altered.text, altered)
    },
  })
  try {
    await work(`http://127.0.0.1:${proxy.port}`)
    expect([...hit].sort()).toEqual(alterations.map(({ what }) => what).sort())
  } finally {
    await proxy.stop(true)
  }
}

interface Altered {
  status: number
  headers: Headers
  text: string
}

interface Alteration {
  what: string
  /** Method, path and query, and the status of the response as it is. */
  on: RegExp
  change?: (response: Altered) => void
  /** What is sent in its place. */
  instead?: () => Response
  found: Row
}

const inBody =
  (change: (body: never) => unknown) =>
  (response: Altered): void => {
    const body = JSON.parse(response.text)
    change(body as never)
    response.text = JSON.stringify(body)
  }

const toStatus =
  (status: number) =>
  (response: Altered): void => {
    response.status = status
  }

const toText =
  (change: (text: string) => string) =>
  (response: Altered): void => {
    response.text = change(response.text)
  }

const row = (operation: string, request: string, field: string, expected: string, found: string): Row => ({
  operation,
  request,
  field,
  expected,
  found,
})

type Item = Record<string, unknown>

const ALTERATIONS: readonly Alteration[] = [
  {
    what: 'another status of a success',
    on: /^GET \/api\/v1\/currencies\/\d{1,3} 200$/,
    change: toStatus(203),
    found: row('GET /api/v1/currencies/:id', 'success', 'status', '200', '203'),
  },
  {
    what: 'another status of an error',
    on: /^GET \/api\/v1\/countries\/2147483647 404$/,
    change: toStatus(410),
    found: row('GET /api/v1/countries/:id', 'an unknown id', 'status', '404', '410'),
  },
  {
    what: 'a header that is missing',
    on: /^GET \/api\/v1\/products\?limit=100 200$/,
    change: ({ headers }) => headers.delete('X-Has-More'),
    found: row('GET /api/v1/products', 'success', 'header x-has-more', 'true or false', 'missing'),
  },
  {
    what: 'a header that is no number',
    on: /^GET \/api\/v1\/wallets\?limit=100 200$/,
    change: ({ headers }) => headers.set('X-Total-Count', 'many'),
    found: row('GET /api/v1/wallets', 'success', 'header x-total-count', 'whole number', 'text'),
  },
  {
    what: 'a limit that is told on all responses but one',
    on: /^GET \/api\/v1\/countries 200$/,
    change: ({ headers }) => headers.delete('X-RateLimit-Reset'),
    found: row('GET /api/v1/countries', 'success', 'header x-ratelimit-reset', 'whole number', 'missing'),
  },
  {
    what: 'another content type',
    on: /^GET \/api\/v1\/categories 200$/,
    change: ({ headers }) => headers.set('content-type', 'text/html'),
    found: row('GET /api/v1/categories', 'success', 'header content-type', 'application/json', 'text/html'),
  },
  {
    what: 'no request id',
    on: /^GET \/status 200$/,
    change: ({ headers }) => headers.delete('X-Request-Id'),
    found: row('GET /status', 'success', 'header x-request-id', 'text', 'missing'),
  },
  {
    what: 'a member that is missing',
    on: /^GET \/api\/v1\/currencies 200$/,
    change: inBody((currencies: Item[]) => delete currencies[7]?.precision),
    found: row('GET /api/v1/currencies', 'success', '[].precision', 'integer', 'missing'),
  },
  {
    what: 'a member that nobody knows',
    on: /^GET \/api\/v1\/subcategories 200$/,
    change: inBody((items: Item[]) => Object.assign(items[3] ?? {}, { parent: 1 })),
    found: row('GET /api/v1/subcategories', 'success', '[].parent', 'missing', 'number'),
  },
  {
    what: 'a number as text',
    on: /^GET \/api\/v1\/transactions\?limit=100 200$/,
    change: inBody((items: Item[]) => Object.assign(items[0] ?? {}, { amount: '12.50' })),
    found: row('GET /api/v1/transactions', 'success', '[].amount', 'number', 'string'),
  },
  {
    what: 'null where there is none',
    on: /^GET \/api\/v1\/wallets\/\d 200$/,
    change: inBody((wallet: Item) => Object.assign(wallet, { reserved_amount: null })),
    found: row('GET /api/v1/wallets/:id', 'success', 'reserved_amount', 'number', 'null'),
  },
  {
    what: 'a member of an object within a list that is no number',
    on: /^GET \/api\/v1\/products\/\d{1,9} 200$/,
    change: inBody((product: { available_denominations: Item[] }) =>
      Object.assign(product.available_denominations[0] ?? {}, { discount: '2.5 %' }),
    ),
    found: row('GET /api/v1/products/:id', 'success', 'available_denominations[].discount', 'number', 'string'),
  },
  {
    what: 'a state that nobody knows',
    on: /^GET \/api\/v1\/orders\?limit=100 200$/,
    change: inBody((orders: Item[]) => Object.assign(orders[0] ?? {}, { status: 'SHIPPED' })),
    found: row(
      'GET /api/v1/orders',
      'success',
      '[].status',
      '"PENDING" or "PROCESSING" or "DELIVERED" or "PARTIALLY_DELIVERED" or "FAILED" or "CANCELLED"',
      '"SHIPPED"',
    ),
  },
  {
    what: 'a time in another format',
    on: /^GET \/api\/v1\/beneficiaries\?limit=100 200$/,
    change: inBody((items: Item[]) => Object.assign(items[0] ?? {}, { created_at: '01.02.2026 10:00' })),
    found: row('GET /api/v1/beneficiaries', 'success', '[].created_at', 'string (date-time)', 'string'),
  },
  {
    what: 'a list within an object',
    on: /^GET \/api\/v1\/payouts\?limit=100 200$/,
    change: toText((text) => `{"items":${text}}`),
    found: row('GET /api/v1/payouts', 'success', 'body', 'array', 'object'),
  },
  {
    what: 'another text of an error',
    on: /^GET \/api\/v1\/products\/2147483647 404$/,
    change: toText((text) => text.replace('Product not found', 'No such product')),
    found: row(
      'GET /api/v1/products/:id',
      'an unknown id',
      'error.message',
      '"Product not found"',
      '"No such product"',
    ),
  },
  {
    what: 'another code of an error',
    on: /^GET \/api\/v1\/countries\/0 400$/,
    change: toText((text) => text.replace('BAD_REQUEST', 'INVALID')),
    found: row('GET /api/v1/countries/:id', 'an invalid id', 'error.code', '"BAD_REQUEST"', '"INVALID"'),
  },
  {
    what: 'another shape of an error',
    on: /^POST \/api\/v1\/products\/2147483647\/charges 404$/,
    change: toText(() => '{"error":{"message":"Product not found"}}'),
    found: row('POST /api/v1/products/:id/charges', 'an unknown id', 'error', '"Product not found"', 'object'),
  },
  {
    what: 'an error without a token that names no scheme',
    on: /^GET \/api\/v1\/transactions\/1 401$/,
    change: ({ headers }) => headers.delete('WWW-Authenticate'),
    found: row('GET /api/v1/transactions/:id', 'no access token', 'header www-authenticate', 'text', 'missing'),
  },
  {
    what: 'a refusal of credentials that tells who exists',
    on: /^POST \/auth\/login 401$/,
    change: toText((text) => text.replace('Invalid credentials', 'Unknown user')),
    found: row('POST /auth/login', 'an unknown username', 'error.message', '"Invalid credentials"', '"Unknown user"'),
  },
  {
    what: 'a login of another type',
    on: /^POST \/auth\/login 200$/,
    change: inBody((login: Item) => Object.assign(login, { token_type: 'MAC' })),
    found: row('POST /auth/login', 'success', 'token_type', '"Bearer"', '"MAC"'),
  },
]

const sorted = (rows: readonly Row[]): Row[] =>
  rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

describe('against a Scrip whose responses are altered', () => {
  test('in twenty-one ways at once, all are found and nothing else: exit code 1', () =>
    altered(ALTERATIONS, async (url) => {
      expect(ALTERATIONS).toHaveLength(21)
      const ended = await compare(url, ['--json'])
      expect(ended.exitCode).toBe(1)
      expect(sorted(rowsOf(ended))).toEqual(sorted(ALTERATIONS.map(({ found }) => found)))
      expect(ended.stderr).toMatch(/^scrip: 21 differences in \d+ answers\n$/)
    }))

  test('in values alone, there is no difference', () =>
    altered(
      [
        {
          what: 'another name',
          on: /^GET \/api\/v1\/countries\/\d{1,3} 200$/,
          change: inBody((country: Item) => Object.assign(country, { name: 'Elsewhere' })),
          found: row('', '', '', '', ''),
        },
        {
          what: 'another maximum',
          on: /^POST \/api\/v1\/products\/\d{1,9}\/charges 400$/,
          change: toText((text) => text.replace(/quantity of \d+/, 'quantity of 7')),
          found: row('', '', '', '', ''),
        },
      ],
      async (url) => expect(await compare(url)).toMatchObject({ exitCode: 0, stdout: '' }),
    ))

  test('people get a table', () =>
    altered(ALTERATIONS.slice(0, 2), async (url) => {
      const { stdout } = await compare(url)
      expect(stdout).toMatch(/^operation +request +field +expected +found\n/)
      expect(stdout).toMatch(/GET \/api\/v1\/countries\/:id +an unknown id +status +404 +410\n/)
    }))

  test('a proxy that alters nothing makes no difference', () =>
    altered([], async (url) => expect(await compare(url)).toMatchObject({ exitCode: 0, stdout: '' })))
})

const COUNTRIES = /^GET \/api\/v1\/countries 200$/
const NO_ROW = row('', '', '', '', '')
const refusal = (after: string) => new Response('{}', { status: 429, headers: { 'retry-after': after } })

describe('a 429 of the host', () => {
  test('is waited out, on a public operation too', () => {
    let refused = false
    const once = {
      what: 'a limit of all',
      on: /^GET \/status 200$/,
      change: (response: Altered) => {
        if (refused) return
        response.status = 429
        response.headers.set('retry-after', '1')
        refused = true
      },
      found: NO_ROW,
    }
    return altered([once], async (url) => {
      const { exitCode, stdout, stderr } = await compare(url)
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
      expect(stderr).toContain('waiting 1 s for the rate limit of the host\n')
    })
  })

  const earlier: Alteration = { what: 'another status', on: COUNTRIES, change: toStatus(203), found: NO_ROW }
  const OF_EARLIER = row('GET /api/v1/countries', 'success', 'status', '200', '203')

  test.each([
    ['again and again', '0', 'the host refuses the requests of this client as too many\n'],
    ['for longer than an hour', '999999999', 'the host has no requests left for this client within an hour\n'],
  ])('%s ends the comparison with a report of what was compared until then', (_, after, why) => {
    const always = { what: 'a 429', on: /^POST \/auth\/login 401$/, instead: () => refusal(after), found: NO_ROW }
    return altered([earlier, always], async (url) => {
      const ended = await compare(url, ['--json'])
      expect(ended.exitCode).toBe(1)
      expect(rowsOf(ended)).toEqual([OF_EARLIER])
      expect(ended.stderr).toMatch(/^scrip: 1 differences in \d+ answers, then POST \/auth\/login: /)
      expect(ended.stderr).toContain(why)
    })
  })

  test('is waited out for an hour in all', () => {
    let asked = 0
    const waits = {
      what: 'a limit',
      on: /^GET \/status 200$/,
      instead: () => refusal(asked++ === 0 ? '1' : '3600'),
      found: NO_ROW,
    }
    return altered([waits], async (url) => {
      const { exitCode, stderr } = await compare(url)
      expect(exitCode).toBe(1)
      expect(stderr).toContain('waiting 1 s for the rate limit of the host\n')
      expect(stderr).toContain('no requests left for this client within an hour\n')
    })
  })
})

describe('what a broken or malicious host sends is cut, and the report says so:', () => {
  const endless = () => {
    const chunk = new TextEncoder().encode(`[${'1,'.repeat(30_000)}`)
    return new ReadableStream({ pull: (controller) => controller.enqueue(chunk) })
  }
  const json = (body: string | Uint8Array<ArrayBuffer> | ReadableStream, headers: Record<string, string> = {}) =>
    new Response(body, { headers: { 'content-type': 'application/json', ...headers } })
  const foundIn = async (instead: () => Response): Promise<Row[]> => {
    let rows: Row[] = []
    await altered([{ what: 'it', on: COUNTRIES, instead, found: NO_ROW }], async (url) => {
      const ended = await compare(url, ['--json'])
      expect(ended.exitCode).toBe(1)
      rows = rowsOf(ended).filter(
        ({ operation, field }) => operation === 'GET /api/v1/countries' && !field.startsWith('header '),
      )
    })
    return rows
  }
  const inBodyOf = (field: string, expected: string, found: string): Row =>
    row('GET /api/v1/countries', 'success', field, expected, found)

  test.each<[string, () => Response, string]>([
    ['a body without end', () => json(endless()), 'more than 4 MiB'],
    ['JSON nested a million times', () => json('['.repeat(1_000_000)), 'nested too deep, or too many values'],
    ['a million values', () => json(`[${'1,'.repeat(1_000_000)}1]`), 'nested too deep, or too many values'],
  ])('%s', async (_, instead, found) => {
    expect(await foundIn(instead)).toEqual([inBodyOf('body', 'array', found)])
  })

  test('a body that is compressed unasked is not unpacked', async () => {
    const bomb = Bun.gzipSync(Buffer.alloc(16_777_216, '['))
    const rows = await foundIn(() => json(bomb, { 'content-encoding': 'gzip' }))
    expect(rows).toEqual([inBodyOf('body', 'array', 'missing')])
  })

  test('members that nobody knows, a hundred thousand', async () => {
    const members = Array.from({ length: 100_000 }, (_, number) => `"m${number}":1`)
    const rows = await foundIn(() => json(`[{${members.join(',')}}]`))
    expect(rows.length).toBeLessThanOrEqual(101)
    expect(rows.at(-1)).toEqual(
      inBodyOf('body', 'at most 100 differences', expect.stringMatching(/^at least \d+ more$/)),
    )
  })

  test('a name of a megabyte', async () => {
    const rows = await foundIn(() => json(`[{"${'n'.repeat(1_000_000)}":1}]`))
    const [long] = rows.filter(({ found }) => found === 'number')
    expect(long?.field).toBe(`[].${'n'.repeat(197)}…`)
  })

  test('an id that is no id is not asked about', () => {
    const ids = ['"../../../_sandbox/reset?x="', '"\\ud800"', '[[[1]]]', '1.5']
    return altered(
      [
        {
          what: 'ids',
          on: /^GET \/api\/v1\/(?:orders|payouts|wallets|beneficiaries)\?limit=100 200$/,
          change: toText((text) => text.replace(/"id":("[^"]*"|\d+)/, () => `"id":${ids.pop()}`)),
          found: NO_ROW,
        },
      ],
      async (url) => {
        const { exitCode, stderr } = await compare(url)
        expect(exitCode).toBe(1)
        for (const name of ['orders', 'payouts', 'wallets', 'beneficiaries'])
          expect(stderr).toContain(`not compared: GET /api/v1/${name}/:id: the host has no record for it\n`)
      },
    )
  })
})

describe('exit code 1, and why, for', () => {
  test('credentials that are refused', async () => {
    const { exitCode, stdout, stderr } = await compare(host.url, ['--username', 'acme'], { SCRIP_PASSWORD: 'wrong' })
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toBe(`scrip: ${host.url} refuses the credentials of acme: 401\nSet --username and SCRIP_PASSWORD.\n`)
  })

  test('a host that does not answer', async () => {
    const { exitCode, stderr } = await compare('http://127.0.0.1:9')
    expect(exitCode).toBe(1)
    expect(stderr).toStartWith('scrip: http://127.0.0.1:9 does not respond: ')
  })

  test('a host that speaks another language', async () => {
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('<html>') })
    const { exitCode, stderr } = await compare(`http://127.0.0.1:${other.port}`)
    await other.stop(true)
    expect(exitCode).toBe(1)
    expect(stderr).toContain('refuses the credentials of sandbox: 200')
  })
})

describe('the credentials', () => {
  test('are those of scrip run', async () => {
    const inner = [...COMMAND, 'compare'].map((word) => `'${word}'`).join(' ')
    const { exitCode, stderr } = await run(['run', '--world', 'own', '--', 'sh', '-c', `${inner} $SCRIP_URL`])
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(/no differences in \d+ answers\n$/)
  })

  folderTest('are read from a file', async (folder) => {
    const file = join(folder, 'password')
    writeFileSync(file, 'limited\n')
    const { exitCode } = await compare(host.url, ['--username', 'limited'], { SCRIP_PASSWORD_FILE: file })
    expect(exitCode).toBe(0)
  })

  test('are not flags', async () => {
    expect(await compare(host.url, ['--password', 'x'])).toMatchObject({ exitCode: 2 })
  })
})

test('exit code 2 for a URL that is none', async () => {
  expect(await compare('localhost:4747')).toMatchObject({ exitCode: 2 })
})
