import { SECOND_MS } from '../../kernel/clock.ts'
import type { Credentials } from '../../sessions/credentials.ts'
import { EXIT, ProgramError } from '../exit.ts'

export interface Question {
  method: string
  /** Path and query. */
  path: string
  /** Text is sent as it is. */
  body?: object | string
  /** Without an access token. */
  isPublic?: true
}

export interface Answer {
  status: number
  headers: Headers
  /** Undefined if it is not JSON. */
  body: unknown
}

/** A host that speaks the API, with a client that is logged in. */
export interface Host {
  login: Answer
  ask: (question: Question) => Promise<Answer>
}

export type Send = (request: Request) => Promise<{ status: number; headers: Headers; text: string }>

/** @throws ProgramError if the host refuses the credentials */
export const logInTo = async (url: string, send: Send, credentials: Credentials): Promise<Host> => {
  const ask = async ({ method, path, body }: Question, token?: string): Promise<Answer> => {
    const headers = {
      accept: 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const text = typeof body === 'object' ? JSON.stringify(body) : body
    const sent = await send(new Request(url + path, { method, headers, ...(text !== undefined && { body: text }) }))
    return { status: sent.status, headers: sent.headers, body: jsonIn(sent.text) }
  }
  const login = await ask({ method: 'POST', path: '/auth/login', body: credentials })
  const token = memberOf(login.body, 'access_token')
  if (login.status !== 200 || typeof token !== 'string') {
    throw new ProgramError(
      EXIT.failed,
      `${url} refuses the credentials of ${credentials.username}: ${login.status}\nSet --username and SCRIP_PASSWORD.`,
    )
  }
  return { login, ask: (question) => ask(question, question.isPublic ? undefined : token) }
}

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

const ANSWER_MS_MAX = 30 * SECOND_MS

/** Over the network. @throws ProgramError if the host does not answer */
export const sendTo =
  (url: string): Send =>
  async (request) => {
    try {
      const signal = AbortSignal.timeout(ANSWER_MS_MAX)
      const response = await fetch(request, { redirect: 'manual', signal })
      return { status: response.status, headers: response.headers, text: await response.text() }
    } catch (error) {
      throw new ProgramError(
        EXIT.failed,
        `${url} does not respond: ${error instanceof Error ? error.message : error}\nCheck the URL.`,
      )
    }
  }
