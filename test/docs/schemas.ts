import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Schema } from '../../src/docs/document.ts'

/** Validates against schemas of the document, and refuses members that they do not have. */

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true })
const coercingAjv = new Ajv2020({ coerceTypes: true, allowUnionTypes: true })
for (const each of [ajv, coercingAjv]) addFormats.default(each)

const strict = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(strict)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, strict(value)]))
  return 'properties' in members && !('additionalProperties' in members)
    ? { ...members, additionalProperties: false }
    : members
}

const validators = new WeakMap<Schema, ValidateFunction>()

/** The check of a schema, compiled once. */
export const validatorOf = (schema: Schema): ValidateFunction => {
  const known = validators.get(schema)
  if (known) return known
  const validate = ajv.compile(strict(schema) as Schema)
  validators.set(schema, validate)
  return validate
}

/** The problems of a value; empty if there are none. */
export const faultsOf = (schema: Schema, value: unknown): string[] => {
  const validate = validatorOf(schema)
  return validate(value) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** The problems of a header, which is text on the wire. */
export const headerFaultsOf = (schema: Schema, text: string): string[] => {
  const validate = coercingAjv.compile({ type: 'object', properties: { value: schema } })
  return validate({ value: text }) ? [] : (validate.errors ?? []).map(({ message }) => `${text} ${message}`)
}
