import { commitTotals } from '../db/shared-commit.ts'
import { isDamage } from '../db/storage.ts'
import type { RequestListener } from '../http/request-timer.ts'
import { SECOND_MS, sinceStartMs, systemClock } from '../kernel/clock.ts'
import { isUnavailable } from '../kernel/failure.ts'
import type { Worlds } from '../work/worlds.ts'

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
  // The import is here because it takes 10 ms, which a server without metrics need not pay.
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
  const refusals = new prom.Counter({
    name: 'scrip_refusals_total',
    help: 'Requests refused, by reason: unauthorized is a missing or bad token, credentials_wrong a failed login.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of WATCHED_REFUSALS) refusals.inc({ reason }, 0)
  const listener: RequestListener = {
    onEnded: ({ method, route, status, durationMs, failure, isDryRun }) => {
      const labels = { method, route: route ?? NO_ROUTE, status, ...(isDryRun && { dry_run: 'true' }) }
      durations.observe(labels, durationMs / SECOND_MS)
      if (failure) refusals.inc({ reason: failure })
    },
  }
  const reading =
    (Kind: typeof prom.Gauge | typeof prom.Counter) =>
    (name: string, help: string, read: Read, labelNames: string[] = []): void => {
      new Kind({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          const values = await valuesOf(read)
          // Without a wait in between: two scrapes at once would count twice.
          this.reset()
          for (const [labels, value] of values) this.inc(labels, value)
        },
      })
    }
  /** Adds metrics that are read at each scrape. */
  const metrics = { gauge: reading(prom.Gauge), counter: reading(prom.Counter) }
  addProcessMetrics(metrics, options)
  return { ...metrics, listener, page: () => registry.metrics(), contentType: registry.contentType }
}

export type Metrics = Awaited<ReturnType<typeof createMetrics>>

export type Labelled = readonly [labels: Record<string, string>, value: number]
type Values = number | readonly Labelled[]
type Read = () => Values | Promise<Values>

/** A warm server serves no data, but its process is measured too. */
const valuesOf = async (read: Read): Promise<readonly Labelled[]> => {
  try {
    const values = await read()
    return typeof values === 'number' ? [[{}, values]] : values
  } catch (error) {
    // One that cannot be read, as in a damaged database, hides no other.
    if (isUnavailable(error) || isDamage(error)) return []
    throw error
  }
}

const addProcessMetrics = (
  { gauge, counter }: Pick<Metrics, 'gauge' | 'counter'>,
  { version, mode, worlds }: MetricsOptions,
): void => {
  const startedMs = systemClock.nowMs() - sinceStartMs()
  const build = { version, mode, bun: Bun.version }
  gauge('scrip_worlds', 'Worlds of this process; one in live mode.', () => worlds.names.length)
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss())
  gauge('process_heap_bytes', 'Heap in use in bytes.', () => process.memoryUsage().heapUsed)
  gauge('process_start_time_seconds', 'Start time of the process in Unix seconds.', () => startedMs / SECOND_MS)
  gauge('scrip_build_info', 'Version, mode and runtime; always 1.', () => [[build, 1]], Object.keys(build))
  counter('scrip_commits_total', 'Commits that were made durable.', () => commitTotals.commits)
  counter(
    'scrip_committed_units_total',
    'Units of work in them; those beyond one a commit shared it.',
    () => commitTotals.units,
  )
  counter('process_cpu_seconds_total', 'Processor time in seconds.', cpuSeconds)
}

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / MICROSECONDS_PER_SECOND
}
