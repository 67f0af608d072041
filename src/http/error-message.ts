import { jsonIn } from '../kernel/json.ts'

/** The longest body that is parsed for its message: errors are short. */
const BODY_LENGTH_MAX = 65_536

/** The message of an error, from the text of its body; null if it has none. */
export const errorMessageIn = (body: string | undefined): string | null => {
  if (body === undefined || body.length > BODY_LENGTH_MAX) return null
  return messageOf(jsonIn(body)) ?? null
}

interface ErrorBody {
  error?: string | { message?: string; details?: string; messages?: Record<string, { message?: string }[]> }
  message?: string
}

/** The message of an error in any format (contract C4), with the first member that breaks a rule. */
export const messageOf = (body: unknown): string | undefined => {
  if (typeof body !== 'object' || body === null) return undefined
  const { error, message }: ErrorBody = body
  if (message !== undefined || typeof error !== 'object') return message ?? (error as string | undefined)
  const [first] = Object.values(error.messages ?? {}).flat()
  return first?.message ?? error.details ?? error.message
}
