import { type Html, html, prose } from '../pages/html.ts'
import { type ApiDocument, type Parameter, resolved, type Schema, schemaName } from './document.ts'

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

/** The bounds of a value, its length or its number of items, and the unit. */
const RANGES = [
  ['minimum', 'maximum', ''],
  ['minLength', 'maxLength', 'character'],
  ['minItems', 'maxItems', 'item'],
] as const

const FACTS = { const: 'One of', exclusiveMinimum: 'More than', pattern: 'Matches', default: 'Default' } as const

/** A range in words: `8 to 256 characters`, `at least 1`. */
const rangeOf = (schema: Schema, [from, to, noun]: (typeof RANGES)[number]): Html | undefined => {
  const [least, most] = [schema[from], schema[to]]
  if (least === undefined && most === undefined) return undefined
  const unit = noun === '' ? '' : ` ${noun}${(most ?? least) === 1 ? '' : 's'}`
  if (least === undefined) return html`At most ${codeOf(most)}${unit}`
  if (most === undefined) return html`At least ${codeOf(least)}${unit}`
  return least === most ? html`${codeOf(least)}${unit}` : html`${codeOf(least)} to ${codeOf(most)}${unit}`
}

/** The values that a schema allows. One that is taken in either case is shown once. */
const limitsView = ({ items, anyOf, ...rest }: Schema): Html => {
  const schema: Schema = { ...anyOf?.find((one) => one.enum), ...rest }
  const isFirst = (value: unknown, index: number, all: readonly unknown[]): boolean =>
    all.findIndex((one) => String(one).toUpperCase() === String(value).toUpperCase()) === index
  const choices = schema.enum?.filter(isFirst).map((value, index) => html`${index > 0 && ', '}${codeOf(value)}`)
  const ranges = RANGES.flatMap((range) => rangeOf(schema, range) ?? [])
  const named = Object.entries(FACTS)
    .map(([name, words]) => [words, schema[name as keyof typeof FACTS]] as const)
    .filter(([, value]) => value !== undefined)
    .map(([words, value]) => html`${words} ${codeOf(value)}`)
  const facts = [...ranges, ...named]
  if (choices) facts.unshift(html`One of ${choices}`)
  if (facts.length === 0) return html`${items && limitsView(items)}`
  return html`<p class="soft">${facts.map((fact, index) => html`${index > 0 && ' · '}${fact}`)}</p>`
}

const codeOf = (value: unknown): Html => html`<code>${value === '' ? '""' : String(value)}</code>`
