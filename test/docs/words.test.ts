import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

/** Words that are out, because a native technical writer would not use them. */

const ROOT = join(import.meta.dir, '../..')
const THIS = 'test/docs/words.test.ts'

/** The words, each with a replacement. */
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
  [/\b(?:is|are|was|were|be|been) \w+(?:ed|en) already\b/, 'is already ...'],
  [
    /\b(?:is|are) (?:not )?of (?:a (?:newer|failed|sandbox)|the other|another|one unit|--mode)\b/,
    'belongs to, was made by',
  ],
  [/\bso many (?!of them|that)[a-z.]/, 'this many'],
  [/\bgo(?:es)? together\b/, 'can be used together'],
  [/\bheld against\b/, 'compared with, checked against'],
  [/\b(?:afresh|seldom)\b/, 'again, rarely'],
  [/\b(?:can|cannot) be had\b/, 'is (not) available'],
  [/\b(?:thus|hence|thereby|thereof|wherein|whereby|upon)\b/, 'a plain word'],
]

/** The column `instead of` of the glossary lists words that are out. */
const GLOSSARY = 'docs/architecture.md'
const withoutGlossary = (text: string): string => text.replace(/^\|.*\|$/gm, '')

interface Text {
  path: string
  text: string
}

const read = (patterns: readonly string[]): Text[] =>
  patterns
    .flatMap((pattern) => [...new Glob(pattern).scanSync(ROOT)])
    .sort()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))

const linesWith = (word: RegExp, texts: readonly Text[]): string[] =>
  texts.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (word.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  )

const texts = read([
  'src/**/*.{ts,tsx,txt,js}',
  'docs/*.md',
  'docs/{start,use,operate,internals,decisions}/*.md',
  '{README,CHANGELOG}.md',
  'release/{*.ts,npm/*}',
  'test/**/*.ts',
])
  .filter(({ path }) => path !== THIS)
  .map(({ path, text }) => ({ path, text: path === GLOSSARY ? withoutGlossary(text) : text }))

test.each(OUT)('nothing says %p', (out, instead) => {
  expect({ instead, found: linesWith(out, texts) }).toEqual({ instead, found: [] })
})

/** Words that names and comments of code do without; the flag `--journal` and the SQL tables keep theirs. */
const OUT_OF_CODE: readonly [RegExp, instead: string][] = [
  [
    /\b(?:const|let|function\*?|class|interface|type|readonly|async) #?\w*(?<!Un)(?:[Aa]nswer|[Dd]raft)/,
    'response, input',
  ],
  [/\b(?:an|the|each|every|first|last|these|same|all|its|their) answers?\b/i, 'response'],
  [/\.answer(?:s|ed)?\b|\bDRAFTS?\b/, 'response, input'],
  [/(?<!')rehears/i, 'dry run'],
  [/\b(?:putBack|seeAnew|goOnDelivering|worldMeant|setAside)\b/, 'restoreInto, invalidateDerived, worldNamedIn, ...'],
  [/\b(?:Submission|Joined|Taken)\b/, 'a name that says what it is'],
  [/\bRecord(?:Away|Refusal|Server)\b|\b(?:make|join|open|with|explain)Record\b/, 'PostgreSQL, installation'],
  [/\b(?:findMark|standingOf|WriterTurn|(?:sandbox|world|host)Gate)\b/, 'position, preparation, lock, access'],
  [/\b(?:SealSource|closeText|openText|placeIn(?:Stock|Order))\b/, 'CipherSource, encrypt, decrypt, associated data'],
]

const code = read(['{src,test,release}/**/*.{ts,tsx,js}']).filter(({ path }) => path !== THIS)

test.each(OUT_OF_CODE)('no code says %p', (out, instead) => {
  expect({ instead, found: linesWith(out, code) }).toEqual({ instead, found: [] })
})

/** Names that hide what they hold. A member that is on the wire or in a table keeps its name, such as `held` of a delivery. */
const HIDING = '(?:own|asked|given|wanted|isOf|isOfUnit|Made)'

test('no declaration has a name that hides what it holds', () => {
  const named = new RegExp(`\\b(?:const|let|function|class|interface|type) (?:${HIDING}|held)\\b`)
  const listed = new RegExp(`(?:[({[,] ?(?:\\.\\.\\.)?|^ +(?:readonly |#)?)${HIDING}(?=\\??:|[,)}\\]]| =)`)
  const declarations = code.map(({ path, text }) => ({ path, text: text.replace(/^ *(?:\/?\*|\/\/).*$/gm, '') }))
  expect([...linesWith(named, declarations), ...linesWith(listed, declarations)]).toEqual([])
})

const FRAGMENT = '(?:What|Whether|Who|Whose|Where|Which|How|Why) '

test('every comment and every name of a test has a subject', () => {
  const comment = new RegExp(`(?:/\\*\\*|//|^\\s*\\*) ${FRAGMENT}`)
  const testName = new RegExp(`(?:\\b(?:test|describe)\\w*|\\))\\(['"\`]${FRAGMENT}`, 'i')
  const program = read(['{src,test,release,docs}/**/*.{ts,tsx,js,mjs}'])
  expect(linesWith(comment, program)).toEqual([])
  expect(linesWith(testName, code)).toEqual([])
})

test('the words are looked for where they are read', () => {
  for (const path of ['src/kernel/exit.ts', 'docs/use/webhooks.md', 'README.md', 'src/commands/help/examples.txt'])
    expect(texts.map((text) => text.path)).toContain(path)
})
