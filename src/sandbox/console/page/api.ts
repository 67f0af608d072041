import { errorMessageIn } from '../../../http/error-message.ts'
import type { SandboxClient } from './types.ts'

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
}

export const addressOf = (path: string, { world, query = {} }: CallOptions = {}): string => {
  const search = new URLSearchParams({ ...query, ...(world !== undefined && { world }) }).toString()
  return `/_sandbox${path}${search === '' ? '' : `?${search}`}`
}

/** @throws Error with the message of the control API */
export const askText = async (method: string, path: string, options: CallOptions = {}): Promise<string> => {
  const response = await fetch(addressOf(path, options), {
    method,
    headers: { accept: 'application/json', ...tokenHeaders() },
    ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
  })
  const text = await response.text()
  if (response.ok) return text
  if (response.status === 401) onTokenMissing()
  throw new Error(errorMessageIn(text) ?? `${response.status} for ${method} ${path}`)
}

export const ask = async <Body>(method: string, path: string, options: CallOptions = {}): Promise<Body> => {
  const text = await askText(method, path, options)
  return (text === '' ? undefined : JSON.parse(text)) as Body
}

export const get = <Body>(path: string, options: CallOptions = {}): Promise<Body> => ask<Body>('GET', path, options)

export const readClients = (world: string): Promise<SandboxClient[]> => get<SandboxClient[]>('/clients', { world })
