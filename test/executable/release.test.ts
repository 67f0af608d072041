import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Ajv from 'ajv'
import addFormats from 'ajv-formats'
import { unzipSync } from 'fflate'
import { unpackTar } from 'modern-tar'
import { tarGz, zip } from '../../release/archives.ts'
import { compile, PROJECT, ROOT } from '../../release/compile.ts'
import { type Content, contentsOf, releaseFiles } from '../../release/contents.ts'
import { locked } from '../../release/lock.ts'
import { notesOf, noticesOf } from '../../release/notices.ts'
import { mainPackage, packageFile, withoutPackage } from '../../release/packages.ts'
import { sbomOf } from '../../release/sbom.ts'
import { runsHere, TARGETS } from '../../release/targets.ts'
import { folderOfFile, run, temporaryFolder } from '../program.ts'

/** The parts of `bun run release`. */

const FILES = [
  { path: 'scrip', bytes: new TextEncoder().encode('executable '.repeat(1_000)), isExecutable: true },
  { path: 'LICENSE', bytes: new TextEncoder().encode('a licence') },
]

describe('archives', () => {
  test('contain the README, the changelog, and files that pipelines copy and operators install: units, rules, a manual page', async () => {
    const files = await releaseFiles()
    expect(files.map(({ path }) => path)).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'ci/ScripContainer.java',
      'ci/action.yml',
      'ci/scrip-container.mjs',
      'ci/scrip.gitlab-ci.yml',
      'live/alerts.yml',
      'live/compose.yaml',
      'live/dashboard.json',
      'live/restore-drill.sh',
      'live/running-live.md',
      'live/scrip-backup.service',
      'live/scrip.service',
      'live/scrip.1',
    ])
    const manual = await run(['docs', 'man'])
    expect(new TextDecoder().decode(files.at(-1)?.bytes)).toBe(manual.stdout)
  })

  test('contain files in order, without time and owner, with an executable', async () => {
    const entries = await unpackTar(Bun.gunzipSync(Buffer.from(await tarGz('scrip-1', FILES))))
    expect(entries.map(({ header: { name, mode, uid, mtime } }) => [name, mode, uid, mtime?.toISOString()])).toEqual([
      ['scrip-1/LICENSE', 0o644, 0, '1985-10-26T08:15:00.000Z'],
      ['scrip-1/scrip', 0o755, 0, '1985-10-26T08:15:00.000Z'],
    ])
    expect(entries.map(({ data }) => data?.length)).toEqual([9, 11_000])
    const unzipped = unzipSync(zip('scrip-1', FILES))
    expect(Object.entries(unzipped).map(([name, { length }]) => [name, length])).toEqual([
      ['scrip-1/LICENSE', 9],
      ['scrip-1/scrip', 11_000],
    ])
  })
})

describe('the contents of a release', () => {
  let contents: Content[] = []
  beforeAll(async () => {
    using folder = temporaryFolder()
    const here = TARGETS.find(runsHere) ?? TARGETS[0]
    if (!here) return
    const outfile = join(folder.path, 'scrip')
    contents = contentsOf(
      await compile({ entry: 'src/main.ts', target: here.runtime, runtime: process.execPath, outfile }),
    )
  })

  test('are all dependencies, data sources and the runtime, without test dependencies', () => {
    const names = contents.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining([...Object.keys(PROJECT.dependencies), 'zod', 'cldr-core', 'bun']))
    for (const name of ['axe-core', 'fast-check', 'typescript', 'openapi-fetch', '@types/validator']) {
      expect(names).not.toContain(name)
    }
  })

  test('include the text of each licence', () => {
    const notices = noticesOf(contents)
    for (const { name, version, license, texts } of contents) {
      expect(notices).toContain(`  ${name} ${version} (${license}): `)
      expect(notices).toContain(`\n${name} ${version}\n=====`)
      expect(texts.join('').length).toBeGreaterThan(500)
    }
    for (const text of ['GNU LIBRARY GENERAL PUBLIC LICENSE', 'UNICODE LICENSE V3', 'Jason Miller']) {
      expect(notices).toContain(text)
    }
  })

  test('include licence and holder of each library in the runtime', () => {
    const [page = '', ...texts] = contents.find(({ as }) => as === 'runtime')?.texts ?? []
    const linked = page.split('## Linked libraries\n\n')[1]?.split('\n\n')[0] ?? ''
    const libraries = linked.split(/\n(?=- )/)
    expect(libraries.length).toBeGreaterThan(25)
    for (const library of libraries) {
      expect(library).toMatch(/\([\w.-]+\.txt\b/)
      expect(library).toMatch(/Copyright (?:\([cC]\)\s)?[\w]|without a\s+copyright line/)
      expect(library).toContain('https://')
    }
    const named = [...page.matchAll(/[\w.-]+\.txt\b/g)].map(([file]) => file)
    expect(texts.map((text) => text.split('\n')[1] ?? '')).toEqual([...new Set(named)].sort())
    expect(page).toMatch(/only\s+the\s+standard\s+texts\s+of\s+these\s+licences/)
    const notices = noticesOf(contents)
    for (const text of [
      'based in part on the work of the Independent JPEG Group',
      'LLVM Exceptions to the Apache 2.0 License',
      'Copyright (c) 2013-2022, Alfred Klomp',
      'libarchive distribution as a whole is Copyright by Tim Kientzle',
      '\nMIT.txt\n-------\n\nThe MIT License',
    ]) {
      expect(notices.replace(/\n {2}(?=\w)/g, ' ')).toContain(text)
    }
  })

  test('are described by a valid CycloneDX 1.6 bill of materials', () => {
    const schemas = join(ROOT, 'node_modules/@cyclonedx/cyclonedx-library/res/schema')
    const read = (file: string): object => JSON.parse(readFileSync(join(schemas, file), 'utf8')) as object
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true })
    addFormats(ajv)
    ajv.addFormat('iri-reference', (text: string) => URL.canParse(text, 'http://localhost'))
    ajv.addFormat('idn-email', /@/)
    for (const file of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json']) {
      ajv.addSchema(read(file), `http://cyclonedx.org/schema/${file}`)
    }
    const validate = ajv.compile(read('bom-1.6.SNAPSHOT.schema.json'))
    const text = sbomOf(contents)
    const bom = JSON.parse(text) as { specVersion: string; components: object[]; dependencies: { ref: string }[] }
    expect(validate(bom) ? [] : validate.errors).toEqual([])
    expect(bom).toMatchObject({ specVersion: '1.6', metadata: { component: { version: PROJECT.version } } })
    expect(bom.components).toHaveLength(contents.length)
    expect(bom.components).toContainEqual(
      expect.objectContaining({ purl: `pkg:npm/elysia@${PROJECT.dependencies.elysia}`, type: 'library' }),
    )
    expect(bom.dependencies.map(({ ref }) => ref)).toContain('pkg:npm/%40elysiajs/jwt@1.4.2')
    expect(sbomOf(contents.toReversed())).toBe(text)
  })
})

test('the notes are the section of the version in the changelog, or the unreleased section', () => {
  const [target] = TARGETS.filter(({ name }) => name === 'darwin-x64')
  if (!target) throw new Error('there are targets')
  const changelog = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- One.\n'
  const notes = notesOf(changelog, [target])
  expect(notes).toStartWith(
    `# scrip ${PROJECT.version}\n\n### Added\n\n- One.\n\n- \`scrip-${PROJECT.version}-darwin-x64.tar.gz\`: `,
  )
  expect(notesOf(`${changelog}\n## [${PROJECT.version}] - 2030-01-01\n\n- Two.\n`, [])).toBe(
    `# scrip ${PROJECT.version}\n\n- Two.\n`,
  )
})

test('a target without an npm package says which target makes the one of its machines', () => {
  const without = TARGETS.filter(({ npm }) => !npm)
  expect(without.map((target) => target.name + withoutPackage(target))).toEqual([
    'linux-x64, without an npm package: that of linux-x64-baseline serves the same machines',
  ])
})

test('--help of a release is its usage, and makes nothing', async () => {
  const { exitCode, stdout, stderr } = await Bun.$`bun release/release.ts --help`.cwd(ROOT).nothrow().quiet()
  expect([exitCode, `${stdout}${stderr}`]).toEqual([0, expect.stringMatching(/^release: \[--target NAME\]/)])
})

test('the version is defined in one place', async () => {
  const { files } = await mainPackage()
  const text = new TextDecoder().decode(files.find(({ path }) => path === 'package.json')?.bytes)
  expect(JSON.parse(text)).toMatchObject({ name: 'scrip-sandbox', version: PROJECT.version })
  expect(packageFile({ name: 'scrip-sandbox-linux-x64', files })).toBe(`scrip-sandbox-linux-x64-${PROJECT.version}.tgz`)
  const sources = readdirSync(join(ROOT, 'release'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  for (const file of sources) expect(readFileSync(join(ROOT, 'release', file), 'utf8')).not.toContain(PROJECT.version)
})

describe.skipIf(!Bun.which('npm'))('the runtime of a release', () => {
  const [target] = TARGETS
  const folder = folderOfFile()

  /** A registry with one package, which reports a matching checksum as a malicious registry would. */
  const startRegistry = async (name: string, version: string) => {
    const manifest = Buffer.from(JSON.stringify({ name, version }))
    const tarball = await tarGz('package', [
      { path: 'package.json', bytes: manifest },
      { path: 'bin/bun', bytes: Buffer.from('#!/bin/sh\necho changed\n'), isExecutable: true },
    ])
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
    const server: Bun.Server<undefined> = Bun.serve({
      port: 0,
      fetch: ({ url }) => {
        if (url.endsWith('.tgz')) return new Response(tarball)
        const dist = { tarball: `${server.url}changed.tgz`, integrity }
        return Response.json({
          name,
          'dist-tags': { latest: version },
          versions: { [version]: { name, version, dist } },
        })
      },
    })
    return server
  }

  test('is refused if it does not match bun.lock, and the release fails', async () => {
    const { resolved } = locked(`@oven/${target?.runtime}`)
    const at = resolved.lastIndexOf('@')
    const registry = await startRegistry(resolved.slice(0, at), resolved.slice(at + 1))
    const script = `
      import { fetchRuntime } from '${ROOT}/release/lock.ts'
      import { TARGETS } from '${ROOT}/release/targets.ts'
      await fetchRuntime(TARGETS[0], '${folder}')`
    const child = Bun.spawn([process.execPath, '-e', script], {
      env: { ...process.env, npm_config_registry: registry.url.href, npm_config_cache: join(folder, 'cache') },
      stderr: 'pipe',
    })
    expect([await child.exited, await child.stderr.text()]).toEqual([
      1,
      expect.stringContaining(`${resolved} is not the package that bun.lock names: its SHA-512 is another`),
    ])
    expect(existsSync(join(folder, target?.runtime ?? ''))).toBe(false)
    await registry.stop(true)
  })

  test('is in bun.lock for each target, in the version that the tests run on', () => {
    for (const { runtime } of TARGETS) {
      expect(locked(`@oven/${runtime}`).resolved).toBe(`@oven/${runtime}@${Bun.version}`)
    }
  })
})
