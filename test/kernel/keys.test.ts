import { expect, test } from 'bun:test'
import { freshSecret } from '../../src/kernel/ids.ts'
import { parseKey } from '../../src/kernel/keys.ts'

const KEY = Buffer.from(Array.from({ length: 32 }, (_, index) => 224 + index))
const HEX = KEY.toString('hex')

test.each([
  ['hex', HEX],
  ['upper-case hex', HEX.toUpperCase()],
  ['base64', KEY.toString('base64')],
  ['base64 without padding', KEY.toString('base64').replace('=', '')],
  ['base64url', KEY.toString('base64url')],
  ['hex in a line of a file', ` ${HEX}\n`],
])('a key can be %s', (_, text) => {
  expect(parseKey(text, 32)).toEqual(KEY)
})

test.each([
  ['nothing', ''],
  ['a byte too few', HEX.slice(2)],
  ['a byte too many', `${HEX}ff`],
  ['half a byte too many', `${HEX}f`],
  ['base64 of a byte too few', KEY.subarray(1).toString('base64')],
  ['hex with another character at the end', `${HEX.slice(1)}g`],
  ['hex with another character at the start', `g${HEX.slice(1)}`],
  ['base64 with a space in it', ` ${KEY.toString('base64').slice(0, 20)} ${KEY.toString('base64').slice(20)}`],
  ['base64 with text behind it', `${KEY.toString('base64')}, a key`],
])('a key cannot be %s', (_, text) => {
  expect(parseKey(text, 32)).toBeUndefined()
})

test('a fresh secret has the length that is asked for, and does not repeat', () => {
  expect(freshSecret(32)).toHaveLength(32)
  expect(freshSecret(32)).not.toEqual(freshSecret(32))
})
