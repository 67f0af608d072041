import type { Query, Tx } from '../db/database.ts'
import type { Narrowing, Rows } from '../db/narrowing.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { refused } from '../kernel/exit.ts'
import { DomainError, type Failure } from '../kernel/failure.ts'
import type { Act, Acting, ActResult, ControlOperation, StepContext } from './act.ts'
import type { Administration } from './administration.ts'
import { type Cell, type Columns, type Row, rowOf } from './cells.ts'
import type { Field, Fields, Input } from './fields.ts'

export type Shown<Item> = Columns<Item, Administration>

/** A kind of record, for operators. */
export interface Kind<Id, Item> {
  /** `order`: its name in refusals. */
  name: string
  /** `orders`: the group of its commands. */
  group: string
  /** The command that lists them; by default, `orders list`. */
  listed?: string
  /** The argument that identifies a record. */
  argument: Field<Id>
  find: (query: Query, id: Id) => Item | undefined
  columns: Shown<Item>
  /** The cells that `show` prints; by default, the columns. */
  details?: Shown<Item>
  /** The values in the audit before and after a step; by default, the columns. */
  audited?: Shown<Item>
  /** True if the record allows the act of a verb; by default, it allows every act. */
  allows?: (item: Item, verb: string) => boolean
  /** Advice if there is none. */
  advice?: string
  /** Advice if the status does not allow a step. */
  remedyOf?: (item: Item) => string
  /** True if its steps move money, so that commands can do them as dry runs (contract C19). */
  isMoney?: true
}

/** @param text the id as a person wrote it @throws ProgramError if there is none */
export const get = <Id, Item>(
  { name, group, listed = `${group} list`, advice = `See scrip ${listed}.`, find }: Kind<Id, Item>,
  query: Query,
  id: Id,
  text = String(id),
): Item => {
  const item = find(query, id)
  if (item === undefined) throw refused(`there is no ${name} ${text}\n${advice}`)
  return item
}

type CellName<Item> = { [Name in keyof Item]: Item[Name] extends Cell ? Name : never }[keyof Item] & string

/**
 * Columns of members, with their names in snake_case. Milliseconds are shown as times, minor units as amounts of the currency of the
 * record or of its wallet, and clients and currencies by their names.
 */
export const members = <Item>(...names: CellName<Item>[]): Shown<Item> =>
  Object.fromEntries(
    names.map((name) => {
      const column = name.replace(/Minor$|Ms$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      return [REFERENCES[column] ?? column, (item: Item, names) => cellOf(name, item as never, names)]
    }),
  )

/** Columns of ids, which show a name instead. */
const REFERENCES: Readonly<Record<string, string>> = { client_id: 'client', currency_id: 'currency' }

const cellOf = (name: string, item: Readonly<Record<string, Cell>>, names: Administration): Cell => {
  const value = item[name] ?? null
  if (typeof value !== 'number') return value
  if (name === 'clientId') return names.clientName(value)
  if (name === 'currencyId') return names.shownCurrency(value).currency
  if (name.endsWith('Ms')) return toTimestamp(value)
  if (!name.endsWith('Minor')) return value
  return 'currencyId' in item
    ? names.amount(value, Number(item.currencyId))
    : names.walletAmount(value, Number(item.walletId))
}

/** An operation of the sandbox that does the same as a step (contract C15). */
interface StepOperation<Item> extends ControlOperation {
  /** The last members of its example. */
  endsWith?: object
  /** The failure of a body that its schema cannot express. It takes precedence over a missing record (contract C4). */
  faultOf?(input: object, item: Item | undefined, context: StepContext): Failure | undefined
}

/** An act that changes a record. */
export interface AnyStep<Id, Item, Effect = unknown> extends Act {
  kind: Kind<Id, Item>
  /** The fields besides the record. */
  body: Fields
  /** Takes the step in a transaction. @throws DomainError, ProgramError */
  by(tx: Tx, item: Item, input: object, context: StepContext): Effect
  operation?: StepOperation<Item>
}

interface Step<Id, Item, Effect, Takes extends Fields> extends AnyStep<Id, Item, Effect> {
  body: Takes
  by(tx: Tx, item: Item, input: Input<Takes>, context: StepContext): Effect
}

/** An act that changes a record, and returns it. */
export const step = <Id, Item, Takes extends Fields, Effect>(
  kind: Kind<Id, Item>,
  title: string,
  summary: string,
  body: Takes,
  by: (tx: Tx, item: Item, input: Input<Takes>, context: StepContext) => Effect,
  operation?: StepOperation<Item>,
  /** The result of the command; by default, the record. */
  resultOf?: (item: Item, effect: Effect) => Row,
): Step<Id, Item, Effect, Takes> => ({
  ...{ kind, title, summary, body, by, takes: { id: kind.argument, ...body } },
  ...(operation && { operation, inSandbox: operation.route }),
  ...(kind.isMoney && { isMoney: true }),
  perform: (acting, { id, ...input }: { id: Id } & Input<Takes>) =>
    acting.write((tx) => {
      const item = get(kind, tx, id)
      const [shown, audited] = [kind.columns, kind.audited ?? kind.columns]
      const before = rowOf(audited, item, acting)
      try {
        const effect = by(tx, item, input as never, acting)
        if (resultOf) {
          const result = resultOf(item, effect)
          acting.record(tx, { after: result })
          return result
        }
      } catch (error) {
        if (!kind.remedyOf || !isOfStatus(error)) throw error
        const { status } = rowOf(shown, item, acting)
        const problem = error.failure.isThere ? `${status} already` : `${status}, and cannot be changed like this`
        throw refused(`${kind.name} ${id} is ${problem}\n${kind.remedyOf(item)}`)
      }
      const changed = get(kind, tx, id)
      acting.record(tx, { before, after: rowOf(audited, changed, acting) })
      return rowOf(shown, changed, acting)
    }),
})

/** The failure codes of a step that the status does not allow. */
const STATUS_FAILURES = ['transition_refused', 'payout_not_cancellable']

const isOfStatus = (error: unknown): error is DomainError =>
  error instanceof DomainError && STATUS_FAILURES.includes(error.failure.code)

/** The commands of the acts that a record allows. */
export const actsOn = <Id, Item>({ group, argument, allows }: Kind<Id, Item>, acts: Noun, item: Item): string[] =>
  Object.entries(acts).flatMap(([verb, entry]) => {
    const isOnIt = 'perform' in entry && Object.values(entry.takes)[0] === argument
    return isOnIt && (allows?.(item, verb) ?? true) ? [`${group} ${verb}`] : []
  })

export interface Showing {
  summary: string
  takes: Fields
  show(data: Administration, input: object): Row
}

export const showing = <Id, Item>(kind: Kind<Id, Item>, summary: string): Showing => ({
  summary,
  takes: { id: kind.argument },
  show: (data, { id }: { id: Id }) => rowOf(kind.details ?? kind.columns, get(kind, data.query, id), data),
})

/** Any other act. */
export const act = <Takes extends Fields>(
  title: string,
  summary: string,
  takes: Takes,
  perform: (acting: Acting, input: Input<Takes>) => ActResult | Promise<ActResult>,
  more: Pick<
    Act,
    'isMoney' | 'inNewFolder' | 'alone' | 'preview' | 'readFile' | 'inSandbox' | 'secret' | 'complete'
  > = {},
): Act => ({ title, summary, takes, perform, ...more })

/** An act that makes a record, or replaces something. */
interface CreationAct<Values, Effect> extends Act {
  /** @throws DomainError, ProgramError */
  by: (tx: Tx, input: Values, context: StepContext) => Effect
  operation: ControlOperation
}

export const making = <Takes extends Fields, Values extends object, Effect>(
  title: string,
  summary: string,
  takes: Takes,
  by: (tx: Tx, input: Values, context: StepContext) => Effect,
  perform: (acting: Acting, input: Input<Takes>) => ActResult | Promise<ActResult>,
  operation: ControlOperation,
  more: Pick<Act, 'isMoney' | 'inNewFolder' | 'secret'> = {},
): CreationAct<Values, Effect> & { takes: Takes } => ({
  ...{ title, summary, takes, by, perform, operation, inSandbox: operation.route },
  ...more,
})

export type Listed<Item> = Rows<Item> | readonly Item[]

/** Lists records, the newest first. */
export interface Listing<Item = never, Takes extends Fields = Fields> {
  summary: string
  columns: Shown<Item>
  of: (
    query: Query,
    narrowing: Narrowing,
    input: Input<Takes>,
    data: Administration,
  ) => Listed<Item> | Promise<Listed<Item>>
  takes?: Takes
  /** The columns that a terminal shows, most important first; by default, all. */
  brief?: string
  /** True if its rows belong to clients. */
  client?: true
  /** The verb of the time filter: "placed". */
  times?: string
  statuses?: readonly string[]
  /** The operation that lists the same in a sandbox: `GET /orders`. */
  inSandbox?: string
}

export const listing = <Item, Takes extends Fields = Record<never, never>>(
  summary: string,
  columns: Shown<Item>,
  of: Listing<Item, Takes>['of'],
  more: Pick<Listing<Item, Takes>, 'takes' | 'brief' | 'client' | 'times' | 'statuses' | 'inSandbox'> = {},
) => ({ summary, columns, of, ...more }) as unknown as Listing

/** The acts and lists of a kind of record, by the words of their commands. */
export type Noun = Readonly<Record<string, Act | Showing | Listing>>
