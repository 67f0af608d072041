import { type ApiDocument, entriesOf, resolved, type Schema, targetOf } from '../../../docs/document.ts'
import { messageOf } from '../../../http/error-message.ts'
import { refused } from '../../../kernel/exit.ts'
import { notAmong } from '../../../kernel/failure.ts'
import type { Reply } from '../http-client.ts'
import type { SandboxClient } from '../sandbox-client.ts'

/** Makes tools of operations of the control API: their schemas, words and paths (contract C19). */

/** The result of a tool: our words, and other people's data. */
export interface ToolResult {
  words: string
  data?: unknown
}

type Arguments = Readonly<Record<string, unknown>>
type Input = Readonly<Record<string, Schema>>

/** A tool of operations, or one with a `call` of its own. */
export interface ToolOf {
  /** The id of its operation, or those of several by the values of the argument `action`. */
  operation?: string | Readonly<Record<string, string>>
  /** The operation if no member of the body is sent. */
  withoutBody?: string
  /** When and how to use it; that of a single operation comes after the words of the operation. */
  hint: string
  /** Changes the arguments that the operations take. */
  input?: (input: Input) => Input
  /** The arguments that a `call` needs. */
  required?: string[]
  /** The arguments of the operation for those of the tool. @throws WrongArguments */
  argumentsOf?: (sent: Arguments, client: SandboxClient) => Arguments | Promise<Arguments>
  /** The result for the body of a success. */
  resultOf?: (body: unknown, client: SandboxClient) => ToolResult | Promise<ToolResult>
  call?: (client: SandboxClient, sent: Arguments) => Promise<ToolResult>
}

/** Arguments that do not fit a tool. */
export class WrongArguments extends Error {}

const ROOT = '/_sandbox'

/** An operation as the sandbox documents it. @throws ProgramError if it has none of that id */
const operationIn = (document: ApiDocument, id: string) => {
  const entry = entriesOf(document).find(({ operation }) => operation.operationId === id)
  if (!entry) throw refused(`the sandbox has no operation ${id}\nAnother version of the program serves it.`)
  const { method, operation } = entry
  const whole = (schema: unknown): Schema =>
    JSON.parse(JSON.stringify(schema), (_, each) => (each?.$ref ? whole(resolved(document, each)) : each))
  const parameters = operation.parameters.filter(({ in: place }) => place !== 'header')
  const { content, required = false } = operation.requestBody ?? {}
  const body = whole(content?.['application/json']?.schema ?? {})
  return {
    summary: operation.summary.charAt(0).toLowerCase() + operation.summary.slice(1),
    description: operation.description,
    input: {
      ...Object.fromEntries(
        parameters.map(({ name, description, schema }) => [name, { ...schema, ...(description && { description }) }]),
      ),
      ...body.properties,
    } as Input,
    required: required ? (body.required ?? []) : [],
    hasBodyIn: (values: Arguments) => Object.keys(values).some((name) => body.properties?.[name]),
    send: (client: SandboxClient, values: Arguments): Promise<Reply> => {
      const texts = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]))
      const sent = Object.entries(values).filter(([name]) => !parameters.some((one) => one.name === name))
      const path = targetOf({ ...entry, operation: { ...operation, parameters } }, Object.fromEntries(texts))
      return client.control(method, path.slice(ROOT.length), content && { body: Object.fromEntries(sent) })
    },
  }
}

/** A tool as agents see and call it. */
export interface Tool {
  description: string
  inputSchema: { type: 'object'; properties: Input; required: string[] }
  /** @throws WrongArguments, or ProgramError if the sandbox is away */
  call: (client: SandboxClient, sent: Arguments) => Promise<ToolResult>
}

/** @throws ProgramError if the sandbox lacks an operation of the tool */
export const toolOf = (document: ApiDocument, { operation = {}, withoutBody, hint, ...tool }: ToolOf): Tool => {
  const { input = (all) => all, argumentsOf = (sent) => sent, resultOf, call } = tool
  const byAction = Object.entries(typeof operation === 'string' ? { '': operation } : operation).map(
    ([action, id]) => [action, operationIn(document, id)] as const,
  )
  const isChosen = byAction.length > 1
  const [[, only] = []] = byAction
  const properties = input({
    ...(isChosen && {
      action: {
        enum: byAction.map(([action]) => action),
        description: byAction.map(([action, { summary }]) => `${action}: ${summary}`).join('; '),
      },
    }),
    ...Object.assign({}, ...byAction.map(([, each]) => each.input).reverse()), // the first one's words count
  })
  const required = isChosen
    ? ['action']
    : ((withoutBody === undefined ? only?.required : undefined) ?? tool.required ?? [])
  const chosen = (action: unknown) => {
    const [, found] = byAction.find(([each]) => !isChosen || each === action) ?? []
    if (found) return found
    throw new WrongArguments(`action: ${notAmong(byAction.map(([each]) => each)).problem}`)
  }
  return {
    description: only && !isChosen ? `Use this to ${only.summary}. ${only.description} ${hint}` : hint,
    inputSchema: { type: 'object', properties, required },
    call: async (client, sent) => {
      const unknown = Object.keys(sent).find((name) => !Object.hasOwn(properties, name))
      if (unknown !== undefined) throw new WrongArguments(`there is no argument ${unknown}`)
      const missing = tool.required?.find((name) => sent[name] === undefined)
      if (missing !== undefined) throw new WrongArguments(`${missing}: is required`)
      if (call) return call(client, sent)
      const taken = chosen(sent.action)
      const { action: _, ...values } = await argumentsOf(sent, client)
      const done = withoutBody !== undefined && !taken.hasBodyIn(values) ? operationIn(document, withoutBody) : taken
      const { status, body } = await done.send(client, values)
      if (status < 300)
        return (
          (await resultOf?.(body, client)) ?? { words: `Done: ${done.summary}.`, ...(body !== '' && { data: body }) }
        )
      const wrong = status === 400 ? problemIn(body) : undefined
      if (wrong !== undefined) throw new WrongArguments(wrong)
      return { words: `The sandbox refused this with ${status}.`, data: body }
    },
  }
}

/** The first argument that breaks a rule, as the operation says it of a member of its body. */
const problemIn = (body: unknown): string | undefined =>
  'messages' in ((body as { error?: object }).error ?? {})
    ? messageOf(body)?.replace(/^The (\S+) field /, '$1: ')
    : undefined
