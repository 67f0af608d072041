import { Html, html, prose } from '../pages/html.ts'
import { type ApiDocument, type Parameter, resolved, type Schema, schemaName } from './document.ts'

/** The members of an object. */

/** Deeper members stand behind the name of their schema. */
const DEPTH_MAX = 4

/**
 * The members of an object, or of the objects of a list; empty for a plain value. Only a request shows which members it
 * needs: a response has them all.
 */
export const membersView = (document: ApiDocument, schema: Schema, isRequest: boolean, depth = 0): Html => {
  const { properties = {}, required = [], additionalProperties } = objectIn(document, schema) ?? {}
  const members = Object.entries(properties)
  if (typeof additionalProperties === 'object') members.push(['(any name)', additionalProperties])
  if (members.length === 0) return html``
  return html`<ul class="members">${members.map(
    ([name, member]) =>
      html`<li>${memberLine(document, {
        name,
        schema: member,
        description: resolved(document, member).description,
        required: isRequest && required.includes(name),
      })}${depth < DEPTH_MAX && nestedView(document, member, isRequest, depth)}</li>`,
  )}</ul>`
}

const nestedView = (document: ApiDocument, member: Schema, isRequest: boolean, depth: number): Html => {
  const inner = membersView(document, member, isRequest, depth + 1)
  return inner.text === '' ? inner : html`<details><summary>Members</summary>${inner}</details>`
}

/** A member of an object, a parameter or a header. */
type Member = Pick<Parameter, 'name' | 'schema' | 'description'> & { required?: boolean }

export const memberLine = (document: ApiDocument, { name, schema, description, required = false }: Member): Html =>
  html`<div class="line"><code>${name}</code> <span class="soft">${typeOf(document, schema)}</span>${
    required && html` <span class="tag bad">required</span>`
  }</div>${description !== undefined && html`<p>${prose(description)}</p>`}${limitsView(schema)}`

/** The object that a schema is, or holds in a list or beside null. */
const objectIn = (document: ApiDocument, schema: Schema): Schema | undefined => {
  const known = resolved(document, schema)
  if (known.properties ?? known.additionalProperties) return known
  const inner = known.items ?? known.anyOf?.find(({ type }) => type !== 'null')
  return inner && objectIn(document, inner)
}

/** The type in words: `list of Product`, `integer or null`. */
export const typeOf = (document: ApiDocument, schema: Schema): string => {
  const name = schemaName(schema)
  if (name !== undefined) return name
  const { items, anyOf, enum: choices, type, format } = schema
  if (anyOf) return anyOf.map((choice) => typeOf(document, choice)).join(' or ')
  if (items) return `list of ${typeOf(document, items)}`
  const types = [type ?? (choices ? 'string' : 'any value')].flat().join(' or ')
  return format === undefined || /^int|^double$/.test(format) ? types : `${types} (${format})`
}

/** The values that a schema allows, as the trade writes them. */
const limitsView = ({ items, anyOf, ...schema }: Schema): Html => {
  const { enum: choices, const: only, default: fallback, pattern } = { ...anyOf?.find((one) => one.enum), ...schema }
  const values = choices ? choicesIn(choices) : only === undefined ? [] : [only]
  const ranges = rangesOf(schema)
  const facts = [
    values.length > 0 &&
      html`One of ${values.map((value, index) => html`${index > 0 && ', '}<code>${String(value)}</code>`)}`,
    ranges.length > 0 && html`${ranges.join(', ')}`,
    pattern !== undefined && html`Matches <code>${pattern}</code>`,
    fallback !== undefined && html`Default <code>${JSON.stringify(fallback)}</code>`,
  ].filter((fact) => fact instanceof Html)
  return facts.length === 0
    ? html`${items && limitsView(items)}`
    : html`<p class="soft">${facts.map((fact, index) => html`${index > 0 && ' · '}${fact}`)}</p>`
}

/** A value that is taken in either case is shown once. */
const choicesIn = (values: readonly unknown[]): unknown[] => {
  const known = new Set<unknown>()
  return values.filter((value) => {
    const key = typeof value === 'string' ? value.toUpperCase() : value
    return !known.has(key) && known.add(key)
  })
}

const rangesOf = ({ minimum, exclusiveMinimum, maximum, minLength, maxLength, minItems, maxItems }: Schema): string[] =>
  [
    exclusiveMinimum !== undefined && `more than ${exclusiveMinimum}`,
    rangeOf(minimum, maximum, ''),
    rangeOf(minLength, maxLength, ' characters'),
    rangeOf(minItems, maxItems, ' items'),
  ].filter((range) => range !== false)

const rangeOf = (least: number | undefined, most: number | undefined, unit: string): string | false => {
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`
  if (least !== undefined) return `at least ${least}${unit}`
  return most !== undefined && `at most ${most}${unit}`
}
