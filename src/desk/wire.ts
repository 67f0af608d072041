/** What the page of the desk and its server say to each other. */

export interface Form {
  command: string
  about: string
  /** The first one is what the act is about, if it is about a record. */
  fields: { name: string; about: string; isRequired: boolean; choices?: readonly string[]; isFile?: true }[]
  /** It moves money: a dry run comes first. */
  isMoney: boolean
}

/** What a form asks for. */
export interface Filled {
  command: string
  /** By the names of its fields. */
  input: Readonly<Record<string, string>>
  /** The text of its file. */
  file?: string | undefined
  /** The row of the audit up to which the desk had seen what was done. */
  seen?: number | undefined
  /** That of its dry run. */
  id?: string
}
