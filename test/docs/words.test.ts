import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

/** Words that are out: what people read says it as a native technical writer would. */

const ROOT = join(import.meta.dir, '../..')

/** Each with what stands instead. */
const OUT: readonly [RegExp, instead: string][] = [
  [/(?<!\b[Tt]here )\b(?:is|are) no (?!longer|more\b|room|matter|other|one\b|need|way|reason)[a-z`]/, 'is not a ...'],
  [/\bno (?:amount|rate|copy|database|sandbox) of\b/, 'is not a ...'],
  [/\b(?:URLs?|files?|list|names?) of yours\b/, 'your ...'],
  [/\bfor want of\b/, 'because ... is missing'],
  [/\bno end of\b/, 'unlimited'],
  [/\b(?:falls?|fell) due\b/, 'is due'],
  [/\bNone is on\b/, 'No active ...'],
  [/\bbesides[.,:;]/, 'as well, also'],
  [/\bholds? good\b|\bgood any more\b|\bstays? good\b/, 'is valid'],
  [/\bany more\b/, 'no longer'],
  [/\bas ever\b/, 'as usual'],
  [/\banew\b/, 'again'],
  [/\bto who asks\b|\bfor who has\b|\bbecause who\b/, 'to a client that ...'],
  [/\bis told to\b|\bcannot be told\b|\bwhat no answer tells\b/, 'is reported to, is not known'],
  [/\b(?:he|him|his|she|hers)\b/, 'they'],
  [/\bexists? already\b|\bholds (?:\w+ )?data already\b/, 'already exists'],
  [/\bha(?:s|ve) not (?:the|a)\b/, 'does not have'],
  [/\b[Rr]ejects never\b|\bTo the next\b|\bLook at it\b/, 'never rejects, Skip, Open'],
  [/\bhas no meaning in\b/, 'is not available in'],
  [/\bno help about\b/, 'unknown topic'],
  [/\bthe data of before\b|\btokens? of before\b/, 'the previous ...'],
  [/\b(?:thus|hence|thereby|thereof|wherein|whereby|upon)\b/, 'a plain word'],
]

/** The column `instead of` of the glossary lists words that are out. */
const GLOSSARY = 'docs/architecture.md'
const withoutGlossary = (text: string): string => text.replace(/^\|.*\|$/gm, '')

const texts = ['src/**/*.{ts,tsx,txt,js}', 'docs/*.md', '{README,CHANGELOG}.md', 'release/{*.ts,npm/*}']
  .flatMap((pattern) => [...new Glob(pattern).scanSync(ROOT)])
  .sort()
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
  .map(({ path, text }) => ({ path, text: path === GLOSSARY ? withoutGlossary(text) : text }))

test.each(OUT)('nothing says %p', (out, instead) => {
  const found = texts.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (out.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  )
  expect({ instead, found }).toEqual({ instead, found: [] })
})

test('the words are looked for where they are read', () => {
  for (const path of ['src/commands/exit.ts', 'docs/webhooks.md', 'README.md', 'src/commands/help/topics/money.txt'])
    expect(texts.map((text) => text.path)).toContain(path)
})
