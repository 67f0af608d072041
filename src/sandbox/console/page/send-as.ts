import { errorMessageIn } from '../../../http/error-message.ts'
import { ask, get } from './api.ts'
import type { SandboxClient, Sent } from './types.ts'

interface Asked {
  method: string
  path: string
  body?: unknown
  client?: string | undefined
}

/** Sends a request as a client of a world, and returns the record. @throws Error with the message of the API */
export const sendAs = async <Record>(world: string, { method, path, body, client }: Asked): Promise<Record> => {
  const headers = { 'content-type': 'application/json' }
  const sent = { method, path, headers, ...(body !== undefined && { body: JSON.stringify(body) }), client }
  const response = await ask<Sent>('POST', '/requests', { world, body: sent })
  if (response.status < 400) return (response.body === '' ? undefined : JSON.parse(response.body)) as Record
  throw new Error(errorMessageIn(response.body) ?? `${response.status} for ${method} ${path}`)
}

export const readClients = (world: string): Promise<SandboxClient[]> => get<SandboxClient[]>('/clients', { world })
