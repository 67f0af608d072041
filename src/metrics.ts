import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { commitTotals } from './db/shared-commit.ts'
import type { RequestListener } from './http/request-watch.ts'
import { SECOND_MS, sinceStartMs, systemClock } from './kernel/clock.ts'
import type { DueWork } from './worlds/due.ts'
import type { Worlds } from './worlds/worlds.ts'

/** What can be counted of a running server, in the text format of Prometheus (decision 0021). */
export interface Metrics extends RequestListener {
  onArrived: () => void
  /** The page that is scraped. */
  page: () => Promise<string>
  contentType: string
}

/** What is looked at when the page is asked for. */
export interface Measured {
  version: string
  mode: 'sandbox' | 'live'
  due: DueWork
  worlds: Worlds
}

/** From a charge out of the cache to a request that waited for a full disk. */
const DURATION_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Refusals that are worth an alert, counted from zero, so that the first one is seen to come. */
const WATCHED_REFUSALS = ['unauthorized', 'credentials_wrong', 'rate_limited', 'internal'] as const
/** Stands for the paths that no route serves, which are endless. */
const NO_ROUTE = '(none)'
const BYTES_PER_UNIT_S = 1e6

export const createMetrics = (measured: () => Measured): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  const durations = new Histogram({
    name: 'scrip_http_request_duration_seconds',
    help: 'Requests answered, and how long that took.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_S,
    registers,
  })
  const inFlight = new Gauge({ name: 'scrip_http_requests_in_flight', help: 'Requests not answered yet.', registers })
  const refusals = new Counter({
    name: 'scrip_refusals_total',
    help: 'Requests refused, by reason: unauthorized is a missing or bad token, credentials_wrong a failed login.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of WATCHED_REFUSALS) refusals.inc({ reason }, 0)
  onScrape(registers, measured)
  return {
    onArrived: () => inFlight.inc(),
    onEnded: ({ method, route, status, durationMs, failure }) => {
      inFlight.dec()
      durations.observe({ method, route: route ?? NO_ROUTE, status }, durationMs / SECOND_MS)
      if (failure) refusals.inc({ reason: failure })
    },
    page: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
