import { type ApiDocument, bodyExampleOf, type DocumentedOperation, entriesOf } from '../../../docs/document.ts'

const FOUND_MAX = 8

/** The operations of the API that match the words best, as a tool reports them. */
export const findOperations = (document: ApiDocument, text: string) => {
  const words = text
    .toLowerCase()
    .split(/[^a-z0-9_/]+/)
    .filter(Boolean)
  return entriesOf(document)
    .filter(({ path }) => !path.startsWith('/_sandbox'))
    .map((entry) => ({ ...entry, score: scoreOf(`${entry.method} ${entry.path}`, entry.operation, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, FOUND_MAX)
    .map(({ method, path, operation }) => ({
      operation: operation.operationId,
      method,
      path,
      summary: operation.summary,
      description: operation.description,
      // Faults have their own tool, and would repeat in each operation.
      parameters: operation.parameters
        .filter(({ name }) => !name.startsWith('X-Sandbox-'))
        .map(({ name, in: place, required, description }) => ({ name, in: place, required, description })),
      body_example: bodyExampleOf(operation),
      statuses: Object.keys(operation.responses),
    }))
}

/** A word in the name counts more than one in the description. */
const scoreOf = (target: string, operation: DocumentedOperation, words: readonly string[]): number => {
  const name = `${operation.operationId} ${operation.summary} ${target}`.toLowerCase()
  const about = operation.description.toLowerCase()
  return words.reduce((score, word) => score + (name.includes(word) ? 3 : 0) + (about.includes(word) ? 1 : 0), 0)
}
