import { searchForm } from '../kernel/lower-case.ts'

/** The replacement of a text that holds the e-mail address of the person (contract C17). */
export const ERASED = 'erased'

/** Parts of a text that are the same in JSON and in the lower case of SQLite. */
const PLAIN = /[ !#-[\]-~]+/g

/** The person to erase: all data with an e-mail address, or only the data of a saved beneficiary. */
export class Person {
  readonly #email: string
  /** The longest part of the address that SQL finds in every text with the address. */
  readonly part: string

  constructor(
    email: string,
    readonly beneficiaryId: string | undefined,
  ) {
    this.#email = searchForm(email)
    const parts = this.#email.match(PLAIN) ?? []
    this.part = parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '')
  }

  /** True if a payout is to the person. */
  isPayee(beneficiaryId: string | null, email: string | null): boolean {
    if (this.beneficiaryId !== undefined) return beneficiaryId === this.beneficiaryId
    return this.isAddress(email)
  }

  isAddress(email: string | null): boolean {
    return email !== null && searchForm(email) === this.#email
  }

  isNamedIn(text: string | null): boolean {
    return text !== null && searchForm(text).includes(this.#email)
  }

  /** The new values of the columns that hold the address, and of no others. */
  changesIn(
    row: Record<string, unknown>,
    { texts, json = [] }: { texts: readonly string[]; json?: readonly string[] },
  ) {
    const named = [...texts, ...json].filter((name) => typeof row[name] === 'string' && this.isNamedIn(row[name]))
    return Object.fromEntries(
      named.map((name) => [
        name,
        json.includes(name) ? JSON.stringify(this.withoutIn(JSON.parse(String(row[name])))) : ERASED,
      ]),
    )
  }

  /** The replacement of a JSON value. */
  withoutIn(value: unknown): unknown {
    if (typeof value === 'string') return this.isNamedIn(value) ? ERASED : value
    if (Array.isArray(value)) return value.map((item) => this.withoutIn(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [this.isNamedIn(name) ? ERASED : name, this.withoutIn(member)]),
    )
  }
}
