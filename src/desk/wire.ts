import { type Static, Type } from '@sinclair/typebox'
import type { EndedAct } from '../pages/act-form.ts'

/** The protocol of the desk's page and its server. */

/** A value as it arrives: amounts are texts for people, and rows that the server reads one by one are an array. */
export type OnWire<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends { words: string }
    ? string
    : Value extends { toJSON: () => unknown }
      ? object
      : Value extends Iterable<infer One>
        ? OnWire<One>[]
        : { [Name in keyof Value]: OnWire<Value[Name]> }

/** A page makes the ids of its acts, so that a request that it repeats does nothing twice. */
const Filled = Type.Object({
  id: Type.String({ pattern: '^act_[\\w-]{16,64}$' }),
  command: Type.String(),
  input: Type.Record(Type.String(), Type.String()),
  file: Type.Optional(Type.String()),
})

export const Requested = Type.Object({
  acts: Type.Array(Filled),
  isDryRun: Type.Boolean(),
  seen: Type.Optional(Type.Integer({ description: 'The last row of the audit that the desk had seen' })),
})
export type Requested = Static<typeof Requested>

/** A line of the response to it. */
export type ActsLine<Result, Sums> =
  | { progress: [what: string, done: number, total: number] }
  | { ended: EndedAct<Result> }
  /** The last line of several acts: what is summed of those that are not refused. */
  | { sums: Sums }
  | { error: string }
