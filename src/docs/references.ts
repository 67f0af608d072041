import type { ApiDocument, DocumentedOperation, DocumentedResponse, Header, Parameter } from './document.ts'

/** Parts that operations have in common are served once, among the components, and referred to. */

/** The served document, in which repeated parts are references. */
export const withReferences = (document: ApiDocument): object => {
  const operations = [...operationsIn(document.paths), ...operationsIn(document.webhooks)]
  const parameters = new Parts<Parameter>(
    'parameters',
    operations.flatMap(({ parameters }) => parameters),
  )
  const responses = new Parts<DocumentedResponse>(
    'responses',
    operations.flatMap(({ responses }) => Object.values(responses)),
  )
  const once = responses.distinct
  const headers = new Parts<Header>(
    'headers',
    once.flatMap(({ headers = {} }) => Object.values(headers)),
  )
  const examples = new Parts<object>('examples', once.flatMap(examplesIn))

  const responseObject = ({ headers: sent, content, ...response }: DocumentedResponse): object => ({
    ...response,
    ...(sent && { headers: mapped(sent, (header, name) => headers.place(name, header)) }),
    ...(content && {
      content: mapped(content, ({ examples: named, ...one }) => ({
        ...one,
        ...(named && { examples: mapped(named, (example, name) => examples.place(name, example)) }),
      })),
    }),
  })
  const operationObject = (operation: DocumentedOperation): object => ({
    ...operation,
    parameters: operation.parameters.map((one) => parameters.place(one.name.replace(/^X-|-/g, ''), one)),
    responses: mapped(operation.responses, (response, status) =>
      responses.place(NAMES[status] ?? `Status${status}`, response, responseObject),
    ),
  })
  const place = (operations: Operations): object => mapped(operations, (methods) => mapped(methods, operationObject))
  const [paths, webhooks] = [place(document.paths), place(document.webhooks)]
  const shared = [parameters, headers, examples, responses].map(({ kind, placed }) => [kind, placed])
  return { ...document, paths, webhooks, components: { ...document.components, ...Object.fromEntries(shared) } }
}

/** A served document in which all references, except those to schemas, are resolved. Every reader begins with it. */
export const withoutReferences = (served: unknown): ApiDocument => {
  const { components } = served as { components: Record<string, Record<string, unknown>> }
  const whole = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(whole)
    if (typeof value !== 'object' || value === null) return value
    const [, kind = '', name = ''] = REFERENCE.exec('$ref' in value ? String(value.$ref) : '') ?? []
    return kind === '' ? mapped({ ...value }, whole) : whole(components[kind]?.[name])
  }
  return whole(served) as ApiDocument
}

/** Schemas stay named: generators and readers know them by their names. */
const REFERENCE = /^#\/components\/(?!schemas)(\w+)\/(.+)$/

/** Responses by status, for generators of clients. */
const NAMES: Readonly<Record<string, string>> = {
  '2XX': 'Received',
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  410: 'Gone',
  415: 'UnsupportedMediaType',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
}

type Operations = Record<string, Record<string, DocumentedOperation>>

const operationsIn = (operations: Operations): DocumentedOperation[] =>
  Object.values(operations).flatMap((methods) => Object.values(methods))

const examplesIn = ({ content = {} }: DocumentedResponse): object[] =>
  Object.values(content).flatMap(({ examples = {} }) => Object.values(examples))

const mapped = <Value, Result>(
  record: Record<string, Value>,
  map: (value: Value, name: string) => Result,
): Record<string, Result> => Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]))

/** The parts of one kind. Those that occur twice get a name, and a number where the name is taken. */
class Parts<Part extends object> {
  readonly placed: Record<string, object> = {}
  readonly #byText: ReadonlyMap<string, Part[]>
  readonly #references = new Map<string, object>()

  constructor(
    readonly kind: string,
    parts: readonly Part[],
  ) {
    this.#byText = Map.groupBy(parts, (part) => JSON.stringify(part))
  }

  get distinct(): Part[] {
    return [...this.#byText.values()].flatMap(([part]) => part ?? [])
  }

  /** @param write how it is written, where that is not as it is */
  place(name: string, part: Part, write: (part: Part) => object = (same) => same): object {
    const text = JSON.stringify(part)
    const known = this.#references.get(text)
    if (known) return known
    if ((this.#byText.get(text)?.length ?? 0) < 2) return write(part)
    let free = name
    for (let number = 2; free in this.placed; number++) free = `${name}${number}`
    this.placed[free] = write(part)
    const reference = { $ref: `#/components/${this.kind}/${free}` }
    this.#references.set(text, reference)
    return reference
  }
}
