/** The form of an act on a page, which is made of its declaration (decision 143), and its outcome. */

export interface ActField {
  name: string
  label: string
  /** The kind of text that it takes. */
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
  /** The fields that say how a file is read that names several records. */
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
