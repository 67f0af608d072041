/** What the page of the desk and its server say to each other. */

export interface Field {
  /** Its place among the operands, or its flag. */
  name: string
  about: string
  isRequired: boolean
  choices?: readonly string[]
  isFile?: true
}

export interface Form {
  command: string
  about: string
  fields: Field[]
  /** It moves money: a dry run comes first. */
  isMoney: boolean
}

/** What a form asks for. */
export interface Filled {
  command: string
  args: string[]
  /** By their flags. */
  options: Record<string, string>
  /** The text of its file. */
  file?: string | undefined
  /** The row of the audit up to which the desk had seen what was done. */
  seen?: number | undefined
  /** That of its dry run. */
  id?: string
}
