import { PROJECT } from './compile.ts'
import { NPM_NAME, type Target } from './targets.ts'
import type { Starts } from './trial.ts'

/** RELEASE-NOTES.md. */

export type Made =
  | {
      target: Target
      archive: string
      archiveBytes: number
      executableBytes: number
      /** A program that does nothing, on the same runtime. */
      bareBytes: number
      /** Undefined where it could not run. */
      starts?: Starts
    }
  | { target: Target; failure: string }

const BYTES_PER_MB = 1_000_000
const mb = (bytes: number): string => (bytes / BYTES_PER_MB).toFixed(1)
const ms = (milliseconds: number): string => `${milliseconds.toFixed(0)} ms`

const rowOf = (made: Made): string => {
  if ('failure' in made) return `| ${made.target.name} | | | | | | | | not made |`
  const { target, archive, archiveBytes, executableBytes, bareBytes, starts } = made
  const started = starts ? [starts.programMs, starts.bareMs, starts.programMs - starts.bareMs].map(ms) : ['', '', '']
  return `| ${[
    `\`${archive}\`${target.note ? `, ${target.note}` : ''}`,
    mb(archiveBytes),
    mb(executableBytes),
    mb(bareBytes),
    mb(executableBytes - bareBytes),
    ...started,
    starts ? 'run' : `${target.form}, not run`,
  ].join(' | ')} |`
}

/** How to install the packages that were made. */
const npmLine = (made: readonly Made[]): string => {
  const tarball = (name: string): string => `./${name}-${PROJECT.version}.tgz`
  const platforms = made.flatMap((each) => ('failure' in each || !each.target.npm ? [] : [each.target.npm.name]))
  if (platforms.length === 0)
    return '- `npm/`: for JavaScript projects, without an executable: none of its packages was made'
  const installs = platforms.map((name) => `  - \`npm install --save-dev ${tarball(NPM_NAME)} ${tarball(name)}\``)
  return ['- `npm/`: for JavaScript projects; one of', ...installs].join('\n')
}

export const notesOf = (made: readonly Made[], runtime: string): string => {
  const { name, version } = PROJECT
  return `# ${name} ${version}

Sizes are in MB. Beside the executable stands a bare server that only answers \`/status\`, compiled the same way for the same
runtime, ${runtime}: the difference is ours. A start is the median time from starting the program to its first response,
measured where the release was made.

| archive | to download | executable | bare | ours | start | bare | ours | tried |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${made.map(rowOf).join('\n')}

Unpack it and run \`${name} --help\`. \`sha256sum --check --ignore-missing SHA256SUMS\` says whether a download is whole.

- \`sbom.cdx.json\`: what is inside, as CycloneDX 1.6
- \`THIRD-PARTY-NOTICES.txt\`: the licences of it; also in each archive
${npmLine(made)}

Everything but this page was made twice and is the same to the bit.
`
}
