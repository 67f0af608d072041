import { createHash } from 'node:crypto'

export const sha256BytesOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** In hexadecimal digits. */
export const sha256Of = (text: string): string => sha256BytesOf(text).toString('hex')
