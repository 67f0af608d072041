const HEX = /^[0-9a-f]+$/i
const BASE64 = /^[\w+/-]+={0,2}$/

/** Reads hex, base64 or base64url. Undefined if the text is not a key of `byteCount` bytes. */
export const parseKey = (text: string, byteCount: number): Uint8Array | undefined => {
  const trimmed = text.trim()
  if (HEX.test(trimmed) && trimmed.length === byteCount * 2) return Buffer.from(trimmed, 'hex')
  const bytes = BASE64.test(trimmed) ? Buffer.from(trimmed, 'base64') : undefined
  return bytes?.length === byteCount ? bytes : undefined
}
