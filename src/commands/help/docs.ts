import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { FILES, GUIDES } from '../../docs/guides.ts'
import { choiceArgument } from '../arguments.ts'
import { print } from '../terminal/output.ts'
import { manualOf } from './manual.ts'

/** `scrip docs`: the guides and files of operators, from the executable (contract C17). */

interface Topic {
  about: string
  /** The path of a file in the executable, or a function that makes the text. */
  text: string | (() => string)
}

/** The short name of a guide with a longer one. */
const SHORT_NAMES: Readonly<Record<string, string>> = { 'testing-with-scrip': 'testing', 'running-live': 'live' }

export const docsCommand = (docs: Command, program: Command): void => {
  const topics: Readonly<Record<string, Topic>> = {
    ...Object.fromEntries(
      Object.entries(GUIDES).map(([name, { about, file }]) => [SHORT_NAMES[name] ?? name, { about, text: file }]),
    ),
    man: { about: 'the manual page: scrip docs man > scrip.1', text: () => manualOf(program) },
    ...Object.fromEntries(Object.values(FILES).map(({ topic, about, file }) => [topic, { about, text: file }])),
  }
  docs
    .description('print a guide, or a file for operators; without a topic, the list of topics')
    .addArgument(choiceArgument('[topic]', 'the guide or file', Object.keys(topics)))
    .action(async (name: string | undefined) => {
      const topic = name === undefined ? undefined : topics[name]
      await print(topic ? textOf(topic) : listOf(topics))
    })
}

const listOf = (topics: Readonly<Record<string, Topic>>): string => {
  const width = Math.max(...Object.keys(topics).map((name) => name.length))
  return Object.entries(topics)
    .map(([name, { about }]) => `${name.padEnd(width)}  ${about}\n`)
    .join('')
}

const textOf = ({ text }: Topic): string => (typeof text === 'string' ? readFileSync(text, 'utf8') : text())
