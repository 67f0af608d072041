/** The operations of the API, as its document describes them, for tools that find and call them. */

interface Described {
  operationId: string
  summary: string
  description?: string
  parameters?: ({ name: string; in: string; required?: boolean; description?: string } | { $ref: string })[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  responses: Record<string, unknown>
}

export interface Document {
  paths: Record<string, Record<string, Described>>
  components?: { parameters?: Record<string, { name: string; in: string; required?: boolean; description?: string }> }
}

export interface FoundOperation {
  operation: string
  method: string
  path: string
  summary: string
  description: string | undefined
  parameters: { name: string; in: string; required: boolean; description: string | undefined }[]
  body_example: unknown
  statuses: string[]
}

const FOUND_MAX = 8
/** Faults and rehearsals have tools and guides of their own; they would repeat in each operation. */
const isOfAll = (name: string): boolean => name.startsWith('X-Sandbox-')

/** The operations of the API that fit most of the words, the best first. */
export const findOperations = ({ paths, components }: Document, text: string): FoundOperation[] => {
  const words = text
    .toLowerCase()
    .split(/[^a-z0-9_/]+/)
    .filter(Boolean)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method: method.toUpperCase(), described })),
  )
  const scored = operations
    .filter(({ path }) => !path.startsWith('/_sandbox'))
    .map((each) => ({ ...each, score: scoreOf(each.method, each.path, each.described, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
  const known = components?.parameters ?? {}
  return scored.slice(0, FOUND_MAX).map(({ path, method, described }) => ({
    operation: described.operationId,
    method,
    path,
    summary: described.summary,
    description: described.description,
    parameters: (described.parameters ?? []).flatMap((given) => {
      const parameter = '$ref' in given ? known[given.$ref.split('/').at(-1) ?? ''] : given
      if (!parameter || isOfAll(parameter.name)) return []
      const { name, in: place, required = false, description } = parameter
      return [{ name, in: place, required, description }]
    }),
    body_example: described.requestBody?.content['application/json']?.example,
    statuses: Object.keys(described.responses),
  }))
}

/** A word in the name counts more than one in the description. */
const scoreOf = (method: string, path: string, described: Described, words: readonly string[]): number => {
  const name = `${described.operationId} ${described.summary} ${method} ${path}`.toLowerCase()
  const about = (described.description ?? '').toLowerCase()
  return words.reduce((score, word) => score + (name.includes(word) ? 3 : 0) + (about.includes(word) ? 1 : 0), 0)
}
