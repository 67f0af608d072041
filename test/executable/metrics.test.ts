import { describe, expect, test } from 'bun:test'
import { bearer, loggedIn, login, type Place, type Running, run, start } from '../program.ts'
import { HUNDRED } from '../records.ts'
import { ask } from '../socket.ts'

/** `/metrics` as Prometheus reads it: parsed by its text format, not by looking for words. */

interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const FAMILY = new RegExp(`^# HELP (${NAME}) .+\n# TYPE \\1 (counter|gauge|histogram)\n([^]*)$`)
const LABEL = '[a-zA-Z_]\\w*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"'
const VALUE = 'NaN|[+-]?Inf|[-+0-9.e]+'

/** Reads the text format, and refuses what promtool would: samples without a type, twice, or out of their family. */
const parse = (page: string): { families: Set<string>; samples: Sample[] } => {
  expect(page).toEndWith('\n')
  const families = new Set<string>()
  const samples = new Map<string, Sample>()
  for (const block of page.split(/^(?=# HELP )/m)) {
    expect(block).toMatch(FAMILY)
    const [, family = '', type, lines = ''] = FAMILY.exec(block) ?? []
    expect(families).not.toContain(family)
    families.add(family)
    if (type === 'counter') expect(family).toEndWith('_total')
    const name = family + (type === 'histogram' ? '(?:_bucket|_sum|_count)' : '')
    const sample = new RegExp(`^((${name})(?:\\{(${LABEL}(?:,${LABEL})*)\\})?) (${VALUE})$`)
    for (const line of lines.split('\n').filter((text) => text !== '')) {
      expect(line).toMatch(sample)
      const [, series = '', name = '', labels = '', value = ''] = sample.exec(line) ?? []
      expect(samples).not.toContainKey(series)
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [label, text])
      samples.set(series, { name, labels: Object.fromEntries(pairs), value: Number(value) })
    }
  }
  return { families, samples: [...samples.values()] }
}

class Scraped {
  readonly #families: Set<string>
  readonly samples: Sample[]
  constructor(page: string) {
    const { families, samples } = parse(page)
    this.#families = families
    this.samples = samples
  }

  /** The value of the one sample with these labels; 0 when there is none. */
  value(name: string, labels: Record<string, string> = {}): number {
    expect([...this.#families].some((family) => name.startsWith(family))).toBe(true)
    const found = this.samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
    )
    expect(found.length).toBeLessThan(2)
    return found[0]?.value ?? 0
  }
}

interface Measured {
  program: Running
  metricsUrl: string
  scrape: () => Promise<Scraped>
}

/** Starts a server with metrics on a free port, which its log names. */
const measured = async (program: Promise<Running>, work: (measured: Measured) => Promise<void>): Promise<void> => {
  const running = await program
  try {
    await running.logged('/metrics')
    const metricsUrl = /"url":"(http:\/\/127\.0\.0\.1:\d+\/metrics)"/.exec(running.log())?.[1] ?? ''
    await work({
      program: running,
      metricsUrl,
      scrape: async () => {
        const response = await fetch(metricsUrl)
        expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
        return new Scraped(await response.text())
      },
    })
  } finally {
    await running.stop()
  }
}

const FLAGS = ['--metrics-port', '0', '--log-format', 'json', '--log-level', 'info']

describe('metrics of a sandbox', () => {
  test('count and time requests by method, route and status, never by path', () =>
    measured(start(FLAGS), async ({ program, scrape }) => {
      const init = bearer(await loggedIn(program))
      for (const id of [1, 2, 999_999]) await program.request(`/api/v1/products/${id}?search=secret`, init)
      await program.request('/no/such/path')
      await program.request('/status')
      const page = await scrape()
      const requests = (method: string, route: string, status: string) =>
        page.value('scrip_http_request_duration_seconds_count', { method, route, status })
      expect(requests('POST', '/auth/login', '200')).toBe(1)
      expect(requests('GET', '/api/v1/products/:id', '200')).toBe(2)
      expect(requests('GET', '/api/v1/products/:id', '404')).toBe(1)
      expect(requests('GET', '(none)', '404')).toBe(1)
      expect(requests('GET', '/status', '200')).toBe(1)
    }))

  test('each bucket of a duration counts the requests that have not taken longer, by the log', () =>
    measured(start(FLAGS), async ({ program, scrape }) => {
      const { headers } = bearer(await loggedIn(program))
      await program.request('/api/v1/countries/1', { headers })
      await program.request('/api/v1/countries/1', { headers: { ...headers, 'x-sandbox-delay': '60' } })
      const page = await scrape()
      const labels = { method: 'GET', route: '/api/v1/countries/:id', status: '200' }
      const { stderr } = await program.stop()
      const durationsMs = stderr
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { route?: string; duration_ms: number })
        .flatMap(({ route, duration_ms }) => (route === labels.route ? [duration_ms] : []))
      expect(durationsMs).toHaveLength(2)
      expect(durationsMs[1]).toBeGreaterThan(59)
      const buckets = page.samples.filter(
        ({ name, labels: { route } }) =>
          name === 'scrip_http_request_duration_seconds_bucket' && route === labels.route,
      )
      expect(buckets.at(-1)).toMatchObject({ labels: { le: '+Inf' }, value: 2 })
      expect(buckets.map(({ value }) => value)).toEqual(
        buckets.map(({ labels: { le = '' } }) => {
          const limitMs = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le) * 1_000
          return durationsMs.filter((durationMs) => durationMs <= limitMs).length
        }),
      )
      const [quickMs = 0, slowMs = 0] = durationsMs
      const sum = page.value('scrip_http_request_duration_seconds_sum', labels)
      expect(sum).toBeCloseTo((quickMs + slowMs) / 1_000, 6)
    }))

  test('count refusals by reason: bad tokens, failed logins, the limit', () =>
    measured(start([...FLAGS, '--rate-limit', '2/h']), async ({ program, scrape }) => {
      const before = await scrape()
      for (const reason of ['unauthorized', 'credentials_wrong', 'rate_limited', 'internal', 'unavailable']) {
        expect(before.value('scrip_refusals_total', { reason })).toBe(0)
      }
      await program.request('/api/v1/countries/1')
      await program.request('/api/v1/countries/1', { headers: { authorization: 'Bearer bad' } })
      await login(program, 'sandbox', 'wrong')
      const init = bearer(await loggedIn(program))
      for (let count = 0; count < 5; count++) await program.request('/api/v1/countries/1', init)
      const page = await scrape()
      const refused = (reason: string) => page.value('scrip_refusals_total', { reason })
      expect([refused('unauthorized'), refused('credentials_wrong'), refused('rate_limited')]).toEqual([2, 1, 3])
    }))

  test('show due work and commits', () =>
    measured(start(FLAGS), async ({ program, scrape }) => {
      const { headers } = bearer(await loggedIn(program))
      await program.request('/_sandbox/clock', { method: 'POST', body: '{"frozen":true}' })
      const body = JSON.stringify({ ...HUNDRED, reference_id: 'p-1', amount: 1 })
      const payout = await program.request('/api/v1/payouts', { method: 'POST', headers, body })
      expect(payout.status).toBe(201)
      const page = await scrape()
      expect(page.value('scrip_due_work')).toBe(1)
      expect(page.value('scrip_due_work_late_seconds')).toBe(0)
      expect(page.value('scrip_commits_total')).toBeGreaterThan(0)
      expect(page.value('scrip_committed_units_total')).toBeGreaterThanOrEqual(page.value('scrip_commits_total'))
    }))

  test('show the process and its version', () =>
    measured(start(FLAGS), async ({ program, scrape }) => {
      await program.request('/auth/login', { method: 'POST', body: '{"username":"sbx_one","password":"x"}' })
      const page = await scrape()
      const version = /version=(\S+)/.exec(program.ready)?.[1] as string
      expect(page.value('scrip_build_info', { version, mode: 'sandbox' })).toBe(1)
      expect(page.value('scrip_worlds')).toBe(2)
      expect(page.value('process_resident_memory_bytes')).toBeGreaterThan(1e7)
      expect(page.value('process_heap_bytes')).toBeGreaterThan(1e6)
      expect(page.value('process_cpu_seconds_total')).toBeGreaterThan(0)
      const ageS = Date.now() / 1_000 - page.value('process_start_time_seconds')
      expect(ageS).toBeWithin(0, 60)
    }))

  test('are on a separate port that serves nothing else', () =>
    measured(start(FLAGS), async ({ program, metricsUrl }) => {
      expect((await program.request('/metrics')).status).toBe(404)
      expect((await fetch(metricsUrl.replace('/metrics', '/status'))).status).toBe(404)
      expect((await fetch(metricsUrl, { method: 'POST' })).status).toBe(405)
      expect(metricsUrl).not.toStartWith(`${program.url}/`)
      expect((await ask(metricsUrl, 'GET /metrics HTTP/1.1\r\nHost: no host\r\n\r\n')).status).toBe(200)
      expect((await ask(metricsUrl, 'GET /other HTTP/1.1\r\nHost: no host\r\n\r\n')).status).toBe(404)
    }))
})

describe('the port of the metrics', () => {
  test('is off unless it is given', async () => {
    const program = await start(['--log-format', 'json', '--log-level', 'info'])
    expect((await program.stop()).stderr).not.toContain('/metrics')
  })

  test.each<[string, string[], Place, number, RegExp]>([
    ['the port of the API', ['--port', '4801', '--metrics-port', '4801'], {}, 2, /Use another port for metrics/],
    ['the port of the API, by variables', [], { env: { SCRIP_PORT: '1', SCRIP_METRICS_PORT: '1' } }, 2, /another port/],
    ['the bare PORT', ['--metrics-port', '4801'], { env: { PORT: '4801' } }, 2, /another port/],
    ['no port', ['--metrics-port', 'all'], {}, 2, /A port is a number/],
    ['left out beside its host', ['--metrics-host', '0.0.0.0'], {}, 2, /Set --metrics-port/],
    [
      'on an address of another machine',
      ['--port', '0', '--metrics-port', '0', '--metrics-host', '192.0.2.1'],
      {},
      3,
      /192\.0\.2\.1/,
    ],
  ])('is refused if it is %s', async (_, args, place, exitCode, words) => {
    const ended = await run(args, place)
    expect([ended.exitCode, ended.stdout]).toEqual([exitCode, ''])
    expect(ended.stderr).toMatch(words)
  })

  test('exits with 3 if it is in use, like the API port', async () => {
    const taken = new URL((await started).url).port
    const metrics = await run(['--port', '0', '--metrics-port', taken])
    expect([metrics.exitCode, metrics.stdout]).toEqual([3, ''])
    expect(metrics.stderr).toContain(`cannot bind 127.0.0.1:${taken}`)
    expect(await run(['--port', taken, '--metrics-port', '0'])).toMatchObject({ exitCode: 3 })
    await (await started).stop()
  })
  const started = start()
})
