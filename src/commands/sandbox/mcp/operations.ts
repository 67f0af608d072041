import { type ApiDocument, bodyExampleOf, entriesOf } from '../../../docs/document.ts'
import { search, termsIn } from '../../../pages/search.ts'

const FOUND_MAX = 8

/** The document is too long for the context of an agent: all operations by name, or one of them with its schemas. */
export const partOf = ({ components, paths, ...document }: ApiDocument, id?: string): object | undefined => {
  const entries = entriesOf({ ...document, components, paths })
  if (id === undefined) {
    const outline: Record<string, Record<string, object>> = {}
    for (const { method, path, operation } of entries) {
      const { operationId, summary, tags } = operation
      outline[path] = { ...outline[path], [method.toLowerCase()]: { operationId, summary, tags } }
    }
    return { openapi: document.openapi, info: document.info, tags: document.tags, paths: outline }
  }
  const found = entries.find(({ operation }) => operation.operationId === id)
  if (!found) return undefined
  const schemas: Record<string, unknown> = {}
  const collect = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (name in schemas) continue
      schemas[name] = components.schemas[name]
      collect(schemas[name])
    }
  }
  collect(found.operation)
  return { paths: { [found.path]: { [found.method.toLowerCase()]: found.operation } }, components: { schemas } }
}

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
