import { errorMessageIn } from '../../../http/error-message.ts'
import type { SandboxClient, Sent } from './types.ts'

/** The control API. If the sandbox has a token, it is typed once and kept for this tab. */

const TOKEN = 'scrip-sandbox-token'

let onTokenMissing: () => void = () => undefined
export const whenTokenIsMissing = (callback: () => void): void => {
  onTokenMissing = callback
}

export const keepToken = (token: string): void => sessionStorage.setItem(TOKEN, token)

export const tokenHeaders = (): Record<string, string> => {
  const token = sessionStorage.getItem(TOKEN)
  return token === null ? {} : { 'x-sandbox-token': token }
}

interface CallOptions {
  world?: string
  query?: Record<string, string>
  body?: unknown
  /** A text that is sent instead of a JSON body. */
  text?: string
  headers?: Record<string, string>
}

export const addressOf = (path: string, { world, query = {} }: CallOptions = {}): string => {
  const search = new URLSearchParams({ ...query, ...(world !== undefined && { world }) }).toString()
  return path + (search === '' ? '' : `?${search}`)
}

const send = async (method: string, path: string, asked: CallOptions): Promise<string> => {
  const body = asked.text ?? (asked.body === undefined ? undefined : JSON.stringify(asked.body))
  const response = await fetch(addressOf(path, asked), {
    method,
    headers: { accept: 'application/json', ...tokenHeaders(), ...asked.headers },
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  if (response.ok) return text
  if (response.status === 401) onTokenMissing()
  throw new Error(errorMessageIn(text) ?? `${response.status} for ${method} ${path}`)
}

export const askText = (method: string, path: string, asked: CallOptions = {}): Promise<string> =>
  send(method, `/_sandbox${path}`, asked)

export const ask = async <Body>(method: string, path: string, asked: CallOptions = {}): Promise<Body> => {
  const text = await askText(method, path, asked)
  return (text === '' ? undefined : JSON.parse(text)) as Body
}

export const get = <Body>(path: string, asked: CallOptions = {}): Promise<Body> => ask<Body>('GET', path, asked)

interface SentAs {
  method: string
  path: string
  body?: unknown
  client?: string | undefined
}

/** Sends a request as a client of a world, and returns the record. @throws Error with the message of the API */
export const sendAs = async <Record>(world: string, { method, path, body, client }: SentAs): Promise<Record> => {
  const headers = { 'content-type': 'application/json' }
  const sent = { method, path, headers, ...(body !== undefined && { body: JSON.stringify(body) }), client }
  const response = await ask<Sent>('POST', '/requests', { world, body: sent })
  if (response.status < 400) return (response.body === '' ? undefined : JSON.parse(response.body)) as Record
  throw new Error(errorMessageIn(response.body) ?? `${response.status} for ${method} ${path}`)
}

export const readClients = (world: string): Promise<SandboxClient[]> => get<SandboxClient[]>('/clients', { world })
