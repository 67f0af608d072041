import type { Static } from '@sinclair/typebox'
import { inWords } from '../../../sandbox/requests/in-words.ts'
import type { RequestDetail } from '../../../sandbox/requests/operations.ts'

/** A recorded request in words: what came, why it was refused, and what it changed. */

type Detail = Static<typeof RequestDetail>

export const explain = (detail: Detail): string => {
  const { id, method, path, client, changes, ledger, caused, deliveries } = detail
  return [
    `Request ${id}: ${method} ${path}${client === null ? ' without a valid token' : ` by ${client}`}.`,
    outcomeOf(detail),
    ...inWords(detail).map(({ text }) => `${text}.`),
    ...(changes.length > 0 ? [`Rows: ${rowsIn(changes)}.`] : []),
    ...ledger.map(
      ({ source_type, source_id, lines }) => `Ledger, ${source_type} ${source_id ?? ''}: ${linesIn(lines)}.`,
    ),
    ...(caused.length > 0 ? [`Events: ${caused.map(({ id: event, type }) => `${type} (${event})`).join(', ')}.`] : []),
    ...deliveries.map(
      ({ event_type, attempt, status, response_status }) =>
        `Delivery of ${event_type}, attempt ${attempt}: ${status}${response_status === null ? '' : ` with ${response_status}`}.`,
    ),
  ].join('\n')
}

const outcomeOf = ({ response, outcome, message, fault }: Detail): string => {
  const struck = fault === null ? '' : ` The fault "${fault}" was injected.`
  if (response.status === 0) {
    const isDone = fault?.includes('when=after')
    return `The client got no response.${struck} The work ${isDone ? 'was done before' : 'was not done'}.`
  }
  if (outcome === 'success') return `It succeeded with ${response.status}.${struck}`
  return `It was refused with ${response.status} ${outcome ?? ''}: ${message ?? 'no message'}.${struck}`
}

const rowsIn = (changes: Detail['changes']): string =>
  changes.map(({ table, operation, key }) => `${operation} ${table} ${key}`).join(', ')

const linesIn = (lines: Detail['ledger'][number]['lines']): string =>
  lines
    .map(
      ({ account, wallet_id: wallet, currency, amount }) =>
        `${amount > 0 ? '+' : ''}${amount} ${currency} on ${account}${wallet === null ? '' : ` ${wallet}`}`,
    )
    .join(', ')
