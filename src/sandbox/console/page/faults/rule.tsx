import { useActed, useLoaded } from '../../../../pages/ui/hooks.ts'
import { Tag } from '../../../../pages/ui/pieces.tsx'
import { get } from '../api.ts'
import { hrefOf, type Place, worldOf } from '../place.ts'
import { useNews } from '../store.ts'
import type { Rule } from '../types.ts'

const isUsedUp = ({ times_left }: Rule): boolean => times_left === 0

/** A rule: its effect, its conditions, and how often it applies. */
export const RuleView = ({ rule }: { rule: Rule }) => {
  const { match, when, times_left, probability } = rule
  const where = [match.type, match.method, match.path].filter(Boolean).join(' ')
  const limits = [
    when === 'after' && 'after the work',
    times_left !== null && (isUsedUp(rule) ? 'used up' : `${times_left} left`),
    probability < 1 && `${Math.round(probability * 100)} % of them`,
  ].filter(Boolean)
  return (
    <span>
      <Tag kind={isUsedUp(rule) ? '' : 'bad'}>{effectOf(rule)}</Tag>{' '}
      <span class="mono">{where || (rule.webhook ? 'every event' : 'every request')}</span>{' '}
      <span class="soft">{limits.join(', ')}</span>
    </span>
  )
}

export const effectOf = (rule: Rule): string => {
  const { error, status, webhook, drop, delay_ms, cut_after_bytes, bytes_per_second } = rule
  if (error !== null) return error
  if (webhook) return `webhook: ${webhook}`
  if (status !== null) return `gateway ${status}`
  if (drop) return 'connection closed'
  if (cut_after_bytes !== null) return `cut after ${cut_after_bytes} bytes`
  if (bytes_per_second !== null) return `${bytes_per_second} bytes a second`
  return `delay ${delay_ms} ms`
}

/** The number of active faults in the present world, for the header. */
export const ActiveFaults = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  const news = useNews()
  const acted = useActed()
  const { value: rules = [] } = useLoaded(() => get<Rule[]>('/faults', { world }), [world, news, acted, place])
  const count = rules.filter((rule) => !isUsedUp(rule)).length
  if (count === 0) return null
  return (
    <a class="tag bad" href={hrefOf({ page: 'faults', world })}>
      {count} {count === 1 ? 'fault' : 'faults'} active
    </a>
  )
}
