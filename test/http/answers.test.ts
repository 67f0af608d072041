import { expect, test } from 'bun:test'
import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Tx } from '../../src/db/database.ts'
import { Json } from '../../src/http/json.ts'
import { listOf, operationsOf, pageOf, servedBy } from '../../src/http/operation.ts'
import { paged } from '../../src/http/pagination.ts'
import { pageQuery } from '../../src/http/parameters.ts'
import { once } from '../../src/idempotency/once.ts'
import type { Session } from '../../src/sessions/sessions.ts'

/** The compiler holds what a route returns against its declaration. Each comment fails the check if its line compiles. */

const Card = Type.Object({ id: Type.Integer({ example: 1 }), name: Type.String() }, { title: 'Card' })
type CardWire = Static<typeof Card>
const GOOD: CardWire = { id: 1, name: 'Kettle & Crumb' }

/** Where a record is written, a foreign member is found too: no handler of ours writes one itself. */
const foreignWire = (): CardWire => ({
  id: 1,
  name: '',
  // @ts-expect-error a member is foreign
  colour: 1,
})

const operation = operationsOf({ tag: 'Cards', errorShape: 'structured' })
const about = { summary: '', description: '', errors: {} }
const success = { status: 200, description: 'The card', schema: Card } as const
const plain = operation({ id: 'plain', ...about, success })
const secret = operation({ id: 'secret', ...about, secret: true, success })
const list = operation({ id: 'list', ...about, success: listOf('All cards', Card) })
const page = operation({
  id: 'page',
  ...about,
  query: Type.Object(pageQuery({ limitDefault: 10, limitMax: 100 })),
  success: pageOf('A page of cards', Card),
})
const created = operation({ id: 'created', ...about, body: Card, success: { ...success, status: 201 } })
const onlyOnce = operation({ id: 'onlyOnce', ...about, body: Card, once: true, success: { ...success, status: 201 } })
const nothing = operation({ id: 'nothing', ...about, success: { status: 204, description: 'It is gone' } })

const routes = (session: Session) =>
  new Elysia()
    .get('/plain', () => GOOD, plain)
    .get('/plain/foreign', () => foreignWire(), plain)
    // @ts-expect-error a member is forgotten
    .get('/plain/forgotten', () => ({ id: 1 }), plain)
    // @ts-expect-error a member is misspelt
    .get('/plain/misspelt', () => ({ id: 1, nam: '' }), plain)
    // @ts-expect-error a member is forgotten, and the handler is asynchronous
    .get('/plain/later', async () => ({ id: 1 }), plain)
    // @ts-expect-error JSON of something else
    .get('/plain/json', () => new Json<{ id: number }>('{}'), plain)
    .get('/secret', async () => GOOD, secret)
    // @ts-expect-error a member is forgotten
    .get('/secret/forgotten', async () => ({ id: 1 }), secret)
    .get('/list', () => [GOOD], list)
    // @ts-expect-error a member is forgotten
    .get('/list/forgotten', () => [{ id: 1 }], list)
    // @ts-expect-error a member is misspelt
    .get('/list/misspelt', () => [{ id: 1, nam: '' }], list)
    .get('/page', ({ query, set }) => paged(set, query, { entries: [GOOD], totalCount: 1 }), page)
    // @ts-expect-error a member is forgotten
    .get('/page/forgotten', ({ query, set }) => paged(set, query, { entries: [{ id: 1 }], totalCount: 1 }), page)
    .get('/json', () => Json.of<CardWire>(GOOD), plain)
    // @ts-expect-error a member is misspelt
    .get('/json/misspelt', () => Json.of<CardWire>({ id: 1, nam: '' }), plain)
    // @ts-expect-error a member is foreign
    .get('/json/foreign', () => Json.of<CardWire>({ id: 1, name: '', colour: 1 }), plain)
    .post('/created', ({ body }) => body, created)
    // @ts-expect-error a member is forgotten
    .post('/created/forgotten', () => ({ id: 1 }), created)
    .post('/once', async ({ body, set }) => once(body, session, set, (_: Tx, card) => card), onlyOnce)
    // @ts-expect-error a member is forgotten
    .post('/once/forgotten', async ({ body, set }) => once(body, session, set, () => ({ id: 1 })), onlyOnce)
    // @ts-expect-error a member is misspelt
    .post('/once/misspelt', async ({ body, set }) => once(body, session, set, () => ({ id: 1, nam: '' })), onlyOnce)
    .post(
      '/once/foreign',
      // @ts-expect-error a member is foreign
      async ({ body, set }) => once(body, session, set, () => ({ id: 1, name: '', colour: 1 })),
      onlyOnce,
    )
    // @ts-expect-error the effect happens more than once
    .post('/once/never', () => GOOD, onlyOnce)
    .delete('/nothing', () => undefined, nothing)
    // @ts-expect-error there is no body
    .delete('/nothing/something', () => GOOD, nothing)
    // @ts-expect-error no such parameter
    .get('/query', ({ query }) => [{ ...GOOD, id: query.offset }], page)

test('every kind of route is served as it is declared', () => {
  const statuses = servedBy(routes({} as Session)).map(({ operation: { id, success } }) => `${id} ${success.status}`)
  expect(new Set(statuses)).toEqual(
    new Set(['plain 200', 'secret 200', 'list 200', 'page 200', 'created 201', 'onlyOnce 201', 'nothing 204']),
  )
})
