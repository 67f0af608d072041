import { type Static, Type } from '@sinclair/typebox'

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

export interface Form {
  command: string
  about: string
  /** The fields. If the act is about a record, the first one identifies it. */
  fields: { name: string; about: string; isRequired: boolean; choices?: readonly string[]; isFile?: true }[]
  /** True if the act moves money: a dry run comes first. */
  isMoney: boolean
}

const Filled = Type.Object({
  command: Type.String(),
  input: Type.Record(Type.String(), Type.String(), { description: 'The values by the names of its fields' }),
  file: Type.Optional(Type.String({ description: 'The text of its file' })),
  seen: Type.Optional(Type.Integer({ description: 'The last row of the audit that the desk had seen' })),
  id: Type.Optional(Type.String({ description: 'The id of its dry run' })),
})

export type Filled = Static<typeof Filled>

export const Requested = Type.Object({ acts: Type.Array(Filled), isDryRun: Type.Boolean() })
