/** The form of an act on a page, and what it answers: desk and console make it of the declaration of the act (decision 143). */

export interface ActField {
  name: string
  label: string
  /** What may be written into it. */
  hint?: string
  isRequired: boolean
  choices?: readonly string[]
  isFile?: true
  /** The text when the form opens. */
  preset?: string
}

export interface ActForm {
  /** The words of the command that does the same. */
  command: string
  title: string
  about: string
  /** If the act is about a record, the first one identifies it. */
  fields: readonly ActField[]
  /** How a file is read that names several records. */
  among?: readonly ActField[]
  /** True if a dry run comes first. */
  isMoney: boolean
}

/** An act as a person asks for it. */
export interface FilledAct {
  /** A repeated request with the same id gets the result of the first. */
  id: string
  command: string
  /** The values by the names of its fields. */
  input: Record<string, string>
  /** The text of its file. */
  file?: string
}

/** The end of an act, or of its dry run. */
export interface EndedAct<Result> {
  /** Messages for people. */
  notes: readonly string[]
  result?: Result
  refusal?: string
}
