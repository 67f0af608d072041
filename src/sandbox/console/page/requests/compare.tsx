import { diffLines } from 'diff'
import { useMemo } from 'preact/hooks'
import { get } from '../api.ts'
import { prettyOf } from '../body.tsx'
import { Select } from '../forms.tsx'
import { useLoaded } from '../hooks.ts'
import { go, type Place } from '../place.ts'
import { store } from '../store.ts'
import type { RequestDetail } from '../types.ts'
import { Code, clockTime, Failed, visible } from '../ui.tsx'

const OFFERED_MAX = 50

/** Offers requests of the same operation and world. */
export const CompareForm = ({ recorded, world, place }: { recorded: RequestDetail; world: string; place: Place }) => {
  const { id, method, route } = recorded
  const others = store.rows
    .filter(({ head, isEarlier }) => !isEarlier && head.world === world && head.id !== id)
    .filter(({ head }) => head.method === method && head.route === route)
    .slice(0, OFFERED_MAX)
  if (others.length === 0) return null
  const options = others.map(({ head }): [string, string] => {
    return [String(head.id), `${head.id}: ${head.response.status} at ${clockTime(head.at)}`]
  })
  return (
    <label class="compare">
      Compare with{' '}
      <Select
        value={String(place.beside ?? '')}
        options={[['', 'no other request'], ...options]}
        onChoose={(value) => go({ ...place, beside: value === '' ? undefined : Number(value) })}
      />
    </label>
  )
}

/** What differs between two requests, and between their responses. */
export const Comparison = ({ recorded, beside, world }: { recorded: RequestDetail; beside: number; world: string }) => {
  const { value: other, error } = useLoaded(() => get<RequestDetail>(`/requests/${beside}`, { world }), [beside, world])
  return (
    <section class="part" aria-label={`Compared with request ${beside}`}>
      <h3>
        Request {beside} <span aria-hidden="true">→</span> request {recorded.id}
      </h3>
      <Failed error={error} />
      {other && (
        <>
          <Difference before={textOf(other, 'request')} after={textOf(recorded, 'request')} label="Requests compared" />
          <Difference
            before={textOf(other, 'response')}
            after={textOf(recorded, 'response')}
            label="Responses compared"
          />
        </>
      )}
    </section>
  )
}

const textOf = ({ method, path, request, response }: RequestDetail, part: 'request' | 'response'): string => {
  const { body } = part === 'request' ? request : response
  const first = part === 'request' ? `${method} ${path}` : String(response.status)
  return visible(`${first}\n${body === null ? '' : (prettyOf(body) ?? body)}\n`)
}

const Difference = ({ before, after, label }: { before: string; after: string; label: string }) => {
  const parts = useMemo(() => diffLines(before, after), [before, after])
  return (
    <Code label={label}>
      {parts.map(({ value, added, removed }, index) => {
        const Element = added ? 'ins' : removed ? 'del' : 'span'
        return <Element key={index}>{value.replace(/^(?=.)/gm, added ? '+ ' : removed ? '- ' : '  ')}</Element>
      })}
    </Code>
  )
}
