import { PROJECT } from './compile.ts'
import type { Content } from './contents.ts'
import { archiveName, type Target } from './targets.ts'

/** THIRD-PARTY-NOTICES.txt. */

const RULE = '='.repeat(100)
const WHAT = { code: 'code', data: 'data made from it', runtime: 'the runtime' } as const

export const noticesOf = (contents: readonly Content[]): string => {
  const head = [
    `What is inside ${PROJECT.name} ${PROJECT.version} besides itself, under which licences.`,
    `${PROJECT.name} itself is under the licence ${PROJECT.license}; see LICENSE.`,
    '',
    ...contents.map(({ name, version, license, as }) => `  ${name} ${version} (${license}): ${WHAT[as]}`),
  ]
  const parts = contents.map(({ name, version, texts }) => [
    RULE,
    `${name} ${version}`,
    RULE,
    '',
    ...texts.join('\n\n').split('\n'),
  ])
  return `${[head, ...parts].map((lines) => lines.map((line) => line.trimEnd()).join('\n')).join('\n\n')}\n`
}

/** RELEASE-NOTES.md: the section of this version in the changelog, and notes on archives. */
export const notesOf = (changelog: string, made: readonly Target[]): string => {
  const sections = changelog.split(/^(?=## )/m)
  const named = (name: string) => sections.find((section) => section.startsWith(`## [${name}]`))
  const changes = (named(PROJECT.version) ?? named('Unreleased') ?? '').replace(/^## .*\n/, '').trim()
  const notes = made.flatMap((target) => (target.note ? [`- \`${archiveName(target)}\`: ${target.note}`] : []))
  return `${[`# ${PROJECT.name} ${PROJECT.version}`, changes, ...(notes.length > 0 ? [notes.join('\n')] : [])].join('\n\n')}\n`
}
