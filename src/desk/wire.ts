/** The protocol of the desk's page and its server. */

export interface Form {
  command: string
  about: string
  /** The fields. If the act is about a record, the first one identifies it. */
  fields: { name: string; about: string; isRequired: boolean; choices?: readonly string[]; isFile?: true }[]
  /** True if the act moves money: a dry run comes first. */
  isMoney: boolean
}

/** A form that was filled in. */
export interface Filled {
  command: string
  /** The values by the names of its fields. */
  input: Readonly<Record<string, string>>
  /** The text of its file. */
  file?: string | undefined
  /** The last row of the audit that the desk had seen. */
  seen?: number | undefined
  /** The id of its dry run. */
  id?: string
}
