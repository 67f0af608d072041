import { type ApiDocument, bodyExampleOf, entriesOf } from '../../../docs/document.ts'
import { search, termsIn } from '../../../pages/search.ts'

const FOUND_MAX = 8

/** The operations of the API that match the words best, as a tool reports them. */
export const findOperations = (document: ApiDocument, text: string) => {
  const entries = entriesOf(document)
    .filter(({ path }) => !path.startsWith('/_sandbox'))
    .map(({ method, path, operation }) => ({
      method,
      path,
      operation,
      title: `${operation.summary} ${operation.operationId}`,
      words: `${method} ${path}`,
      text: operation.description,
    }))
  return search(entries, termsIn(text))
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
