import type { Registry } from 'prom-client'
import { commitTotals } from '../db/shared-commit.ts'
import type { RequestListener } from '../http/request-timer.ts'
import { SECOND_MS, sinceStartMs, systemClock } from '../kernel/clock.ts'
import { isUnavailable } from '../kernel/failure.ts'
import type { DueWork } from '../worlds/due.ts'
import type { Worlds } from '../worlds/worlds.ts'

interface MetricsOptions {
  version: string
  mode: 'sandbox' | 'live'
  worlds: Worlds
}

const DURATION_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Exported from the start, so that alerts see the first one. */
const WATCHED_REFUSALS = ['unauthorized', 'credentials_wrong', 'rate_limited', 'internal', 'unavailable'] as const
/** Stands for all paths without a route. */
const NO_ROUTE = '(none)'
const MICROSECONDS_PER_SECOND = 1e6

/** Metrics in the text format of Prometheus (decision 0021). */
export const createMetrics = async (options: MetricsOptions) => {
  // Loaded here, so that it costs nothing where no metrics are wanted.
  const prom = await import('prom-client')
  const registry = new prom.Registry()
  const registers = [registry]
  const durations = new prom.Histogram({
    name: 'scrip_http_request_duration_seconds',
    help: 'Responses, and how long they took.',
    labelNames: ['method', 'route', 'status', 'dry_run'],
    buckets: DURATION_BUCKETS_S,
    registers,
  })
  const inFlight = new prom.Gauge({
    name: 'scrip_http_requests_in_flight',
    help: 'Requests without a response yet.',
    registers,
  })
  const refusals = new prom.Counter({
    name: 'scrip_refusals_total',
    help: 'Requests refused, by reason: unauthorized is a missing or bad token, credentials_wrong a failed login.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of WATCHED_REFUSALS) refusals.inc({ reason }, 0)
  addProcessMetrics(prom, registry, options)
  const listener: RequestListener = {
    onArrived: () => inFlight.inc(),
    onEnded: ({ method, route, status, durationMs, failure, isRehearsal }) => {
      inFlight.dec()
      const labels = { method, route: route ?? NO_ROUTE, status, ...(isRehearsal && { dry_run: 'true' }) }
      durations.observe(labels, durationMs / SECOND_MS)
      if (failure) refusals.inc({ reason: failure })
    },
  }
  return {
    listener,
    watchDue: (due: DueWork) => addMeasures(prom.Gauge, registry, dueGauges(due, options.worlds)),
    /** Attempts to deliver events, by what they led to. */
    watchAttempts: (totals: Readonly<Record<string, number>>) => addAttempts(prom, registry, totals),
    /** A gauge with labels, read whenever it is asked for. */
    watch: (...gauge: LabelledGauge) => addLabelled(prom, registry, gauge),
    page: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

export type Metrics = Awaited<ReturnType<typeof createMetrics>>

export type Labelled = readonly [labels: Record<string, string>, value: number]
type Prom = typeof import('prom-client')
type Measure = readonly [name: string, help: string, read: () => number]

const addProcessMetrics = (prom: Prom, registry: Registry, { version, mode, worlds }: MetricsOptions): void => {
  const startedMs = systemClock.nowMs() - sinceStartMs()
  addMeasures(prom.Gauge, registry, [
    ['scrip_worlds', 'Worlds of this process; one in live mode.', () => worlds.names.length],
    ['process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss()],
    ['process_heap_bytes', 'Heap in use in bytes.', () => process.memoryUsage().heapUsed],
    ['process_start_time_seconds', 'Start time of the process in Unix seconds.', () => startedMs / SECOND_MS],
  ])
  addMeasures(prom.Counter, registry, [
    ['scrip_commits_total', 'Commits that were made durable.', () => commitTotals.commits],
    [
      'scrip_committed_units_total',
      'Units of work in them; those beyond one a commit shared it.',
      () => commitTotals.units,
    ],
    ['process_cpu_seconds_total', 'Processor time in seconds.', cpuSeconds],
  ])
  const build = new prom.Gauge({
    name: 'scrip_build_info',
    help: 'What runs here; always 1.',
    labelNames: ['version', 'mode', 'bun'],
    registers: [registry],
  })
  build.set({ version, mode, bun: Bun.version }, 1)
}

type LabelledGauge = [
  name: string,
  help: string,
  labelNames: string[],
  read: () => readonly Labelled[] | Promise<readonly Labelled[]>,
]

/** A warm server has no data of its own to measure, and is measured all the same. */
const whileReadable = async <T>(read: () => T | Promise<T>, otherwise: T): Promise<T> => {
  try {
    return await read()
  } catch (error) {
    if (isUnavailable(error)) return otherwise
    throw error
  }
}

const addLabelled = (prom: Prom, registry: Registry, [name, help, labelNames, read]: LabelledGauge): void => {
  new prom.Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      this.reset()
      const values = await whileReadable(read, [])
      for (const [labels, value] of values) this.set(labels, value)
    },
  })
}

const addAttempts = (prom: Prom, registry: Registry, totals: Readonly<Record<string, number>>): void => {
  new prom.Counter({
    name: 'scrip_webhook_attempts_total',
    help: 'Attempts to deliver an event: retrying is a failure that is tried again, failed the last one.',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [status, count] of Object.entries(totals)) this.inc({ status }, count)
    },
  })
}

const dueGauges = (due: DueWork, worlds: Worlds): readonly Measure[] => {
  const lateMs = (): number => Math.max(0, worlds.default.clock.nowMs() - due.nextMs(worlds.default))
  return [
    [
      'scrip_due_work',
      'Orders and payouts of the default world that wait for a time.',
      () => due.waiting(worlds.default),
    ],
    [
      'scrip_due_work_set_aside',
      'Steps of orders and payouts that failed and are set aside.',
      () => due.setAsideCount(worlds.default),
    ],
    ['scrip_due_work_late_seconds', 'How long the first of them has been overdue.', () => lateMs() / SECOND_MS],
  ]
}

const addMeasures = (Kind: Prom['Gauge' | 'Counter'], registry: Registry, measures: readonly Measure[]): void => {
  for (const [name, help, read] of measures) {
    new Kind({
      name,
      help,
      registers: [registry],
      async collect() {
        this.reset()
        const value = await whileReadable<number | undefined>(read, undefined)
        if (value !== undefined) this.inc(value)
      },
    })
  }
}

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / MICROSECONDS_PER_SECOND
}
