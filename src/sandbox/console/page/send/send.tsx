import { useEffect, useState } from 'preact/hooks'
import { type Entry, errorsIn, exampleValues } from '../../../../docs/document.ts'
import { Body, HeaderList, prettyOf } from '../../../../pages/ui/body.tsx'
import { Button, Field, Form, named, Select } from '../../../../pages/ui/forms.tsx'
import { useLoaded } from '../../../../pages/ui/hooks.ts'
import { act } from '../../../../pages/ui/notices.tsx'
import { Card, Empty, Failed } from '../../../../pages/ui/pieces.tsx'
import { go, type Place } from '../../../../pages/ui/place.ts'
import { ask, get, readClients } from '../api.ts'
import { worldOf } from '../place.ts'
import { openNewest } from '../requests/actions.tsx'
import { Status } from '../requests/tags.tsx'
import type { RequestDetail, Sent } from '../types.ts'
import { exampleOf, readOperations, requestOf, valuesIn } from './operations.ts'
import { TestValues } from './test-values.tsx'

/** A form that writes a request of any operation, or changes one of the log, and sends it as a client of the world. */
export const Send = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  const loaded = useLoaded(async () => {
    const [entries, clients, recorded] = await Promise.all([
      readOperations(),
      readClients(world),
      place.id === undefined ? undefined : get<RequestDetail>(`/requests/${place.id}`, { world }),
    ])
    return { entries, clients, recorded }
  }, [world, place.id])
  const { entries = [], clients = [], recorded } = loaded.value ?? {}
  const from =
    recorded && entries.find(({ method, path }) => method === recorded.method && valuesIn(path, recorded.path))
  const entry = entries.find(({ operation }) => operation.operationId === place.operation) ?? from ?? entries[0]
  return (
    <div class="stack">
      <Failed error={loaded.error} />
      {entry && (
        <Card title={`Send a request in ${world}`}>
          <div class="form">
            <label class="whole">
              Operation
              <select
                value={entry.operation.operationId}
                onChange={(event) => go({ page: 'send', world, operation: event.currentTarget.value })}
              >
                {[...Map.groupBy(entries, ({ operation }) => operation.tags[0] ?? '')].map(([tag, tagged]) => (
                  <optgroup key={tag} label={tag}>
                    {tagged.map(({ method, path, operation }) => (
                      <option key={operation.operationId} value={operation.operationId}>
                        {operation.summary} — {method} {path}
                      </option>
                    ))}
                  </optgroup>
                ))}
              </select>
            </label>
          </div>
          <RequestForm
            key={`${world} ${entry.operation.operationId} ${recorded?.id}`}
            entry={entry}
            recorded={entry === from ? recorded : undefined}
            clients={clients.map(({ username }) => username)}
            world={world}
            place={place}
          />
        </Card>
      )}
    </div>
  )
}

interface FormProps {
  entry: Entry
  recorded: RequestDetail | undefined
  clients: readonly string[]
  world: string
  place: Place
}

const RequestForm = ({ entry, recorded, clients, world, place }: FormProps) => {
  const example = exampleOf(entry)
  const [values, setValues] = useState(() => (recorded && valuesIn(entry.path, recorded.path)) ?? exampleValues(entry))
  const [body, setBody] = useState(() => (recorded?.request.body && prettyOf(recorded.request.body)) ?? example)
  const [client, setClient] = useState(recorded?.client ?? clients[0])
  const [response, setResponse] = useState<Sent>()
  useEffect(() => setClient((chosen) => chosen ?? clients[0]), [clients])
  const set = (name: string, value: string): void => setValues((before) => ({ ...before, [name]: value }))
  const send = () =>
    act(async () => {
      const sent = { ...requestOf(entry, values, example && body), ...(client !== undefined && { client }) }
      setResponse(await ask<Sent>('POST', '/requests', { world, body: sent }))
    })
  return (
    <>
      <Form class="form" onSubmit={send}>
        <label>
          Client
          <Select value={client} options={named(clients)} onChoose={setClient} />
        </label>
        {entry.operation.parameters.map(({ name, in: where, required, description, example: shown }) => (
          <Field
            key={name}
            label={name}
            required={where === 'path' || required}
            placeholder={where === 'path' ? '' : `${shown ?? ''}`}
            title={description}
            list={name === 'X-Sandbox-Fault' ? 'errors' : undefined}
            value={values[name] ?? ''}
            onText={(value) => set(name, value)}
          />
        ))}
        <datalist id="errors">
          {errorsIn(entry.operation).map(({ name, status }) => (
            <option key={name} value={name}>
              {status}
            </option>
          ))}
        </datalist>
        {example !== undefined && (
          <label class="whole">
            Body
            <textarea
              spellcheck={false}
              rows={Math.min(24, (body ?? '').split('\n').length + 1)}
              value={body ?? ''}
              onInput={(event) => setBody(event.currentTarget.value)}
            />
          </label>
        )}
        <TestValues entry={entry} world={world} body={body} onBody={setBody} onValue={set} />
        <button type="submit" class="primary">
          Send in {world}
        </button>
      </Form>
      {response && (
        <section aria-label="Response">
          <p class="line">
            <Status status={response.status} />
            <Button text="Open the request" onClick={() => act(() => openNewest(place, world))} />
          </p>
          {response.status === 0 ? (
            <Empty>The response was lost on purpose. Open the request to see what the server did.</Empty>
          ) : (
            <>
              <Body text={response.body} label="Body of the response" />
              <HeaderList headers={response.headers} />
            </>
          )}
        </section>
      )}
    </>
  )
}
