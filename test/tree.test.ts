import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'

/** The shape of the tree (docs/decisions): the direction of imports, and calls that only one place may make. */

const root = join(import.meta.dir, '..')

interface Source {
  path: string
  text: string
  /** The files of the project that it imports, with the imported names. */
  imports: { path: string; names: string[] }[]
}

const readSource = (path: string): Source => {
  const text = readFileSync(join(root, path), 'utf8')
  const imports = [...text.matchAll(/^(?:import|export)\s(?:[^'";]*\sfrom\s)?'(\.[^']+)'/gm)].map(
    ([statement, target = '']) => ({ path: join(dirname(path), target), names: namesIn(statement) }),
  )
  return { path, text, imports: [...imports, ...importsWhenNeeded(path, text)] }
}

/** `const { name } = await import('./file.ts')` and `(await import('./file.ts')).name` */
const importsWhenNeeded = (path: string, text: string): Source['imports'] =>
  [...text.matchAll(/(?:const (\{[^}]*\}) = )?await import\('(\.[^']+)'\)(?:\)\.(\w+))?/g)].map(
    ([, taken = '', target = '', name]) => ({
      path: join(dirname(path), target),
      names: name === undefined ? namesIn(taken) : [name],
    }),
  )

const namesIn = (statement: string): string[] =>
  (/\{([^}]*)\}/.exec(statement)?.[1] ?? '')
    .split(',')
    .map(
      (name) =>
        name
          .trim()
          .replace(/^type /, '')
          .split(' as ')[0] ?? '',
    )
    .filter((name) => name !== '')

const pathsBelow = (pattern: string): string[] => [...new Glob(pattern).scanSync(root)].sort()

/** The pages of console, desk and reference run in browsers: programs of their own, which `bundle.ts` builds. */
const PAGES = ['src/sandbox/console/page/', 'src/desk/page/', 'src/pages/ui/']
const isOfPage = (path: string): boolean => PAGES.some((folder) => path.startsWith(folder))
const PROGRAMS = ['src/main.ts']

const sources = pathsBelow('src/**/*.ts')
  .filter((path) => !path.endsWith('.d.ts') && !isOfPage(path))
  .map(readSource)
const tests = [...pathsBelow('test/**/*.ts'), ...pathsBelow('docs/*.ts')].map(readSource)

/** The part of the tree that a file belongs to: its folder below src, or the file itself. */
const placeOf = (path: string): string => (/^src\/([^/]+?)(?:\.ts)?(?:\/|$)/.exec(path)?.[1] ?? path) as string

/** Modules, each with the other modules that it may import, because the domain requires it. */
const MODULES: Record<string, readonly string[]> = {
  audit: [],
  sessions: [],
  reference: ['sessions'],
  catalog: ['reference', 'sessions', 'audit'],
  events: ['reference', 'sessions'],
  webhooks: ['events', 'reference', 'idempotency', 'sessions'],
  wallets: ['events', 'reference', 'sessions'],
  charges: ['catalog', 'wallets', 'reference', 'sessions'],
  idempotency: ['sessions'],
  beneficiaries: ['reference', 'wallets', 'idempotency', 'sessions'],
  orders: ['webhooks', 'events', 'charges', 'catalog', 'wallets', 'reference', 'idempotency', 'sessions', 'audit'],
  payouts: ['events', 'beneficiaries', 'charges', 'wallets', 'reference', 'idempotency', 'sessions'],
  reconciliation: ['reference', 'wallets', 'orders', 'payouts'],
  erasure: ['beneficiaries', 'payouts', 'orders', 'wallets', 'events', 'webhooks', 'idempotency'],
  docs: [],
  sandbox: [
    'webhooks',
    'events',
    'sessions',
    'reference',
    'catalog',
    'wallets',
    'charges',
    'beneficiaries',
    'orders',
    'payouts',
    'reconciliation',
  ],
}
const BELOW_MODULES = ['pages', 'work', 'http', 'db', 'folder', 'kernel']
/** Replication knows no modules. */
const REPLICATION = ['config', 'http', 'db', 'folder', 'kernel']
const BELOW_APP = ['replication', 'config', 'observability', ...Object.keys(MODULES), ...BELOW_MODULES]

/** The imports that each folder may have, besides its own files. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  kernel: [],
  http: ['kernel'],
  pages: ['http', 'kernel'],
  folder: ['kernel'],
  db: ['folder', 'kernel'],
  work: ['db', 'kernel'],
  ...Object.fromEntries(Object.entries(MODULES).map(([module, others]) => [module, [...others, ...BELOW_MODULES]])),
  config: ['http', 'folder', 'kernel'],
  replication: REPLICATION,
  observability: ['config', ...BELOW_MODULES],
  acts: BELOW_APP.filter((place) => place !== 'sandbox'),
  sandbox: ['acts', 'app', ...BELOW_APP],
  // Live mode runs and can be read without the sandbox (decision 47).
  app: BELOW_APP.filter((place) => place !== 'sandbox'),
  start: ['app', ...BELOW_APP],
  desk: ['pages', 'kernel'],
  commands: ['desk', 'start', 'app', 'acts', ...BELOW_APP],
  main: ['commands', 'config', 'kernel', 'start'],
}

describe('imports', () => {
  test('point one way: main, commands, start, app, modules, http and db and work, folder, kernel', () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .map((imported) => imported.path)
        .filter((target) => target.startsWith('src/') && placeOf(target) !== placeOf(path))
        .filter((target) => !MAY_IMPORT[placeOf(path)]?.includes(placeOf(target)))
        .map((target) => `${path} imports ${target}: ${placeOf(path)} may not know ${placeOf(target)}`),
    )
    expect(wrong).toEqual([])
  })

  test('use functions, types and schemas of another module, never its routes or tables', () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .map((imported) => imported.path)
        .filter((target) => placeOf(target) !== placeOf(path))
        .filter(
          (target) =>
            /\/tables\.ts$/.test(target) || (/(?:^|[/-])routes\.ts$/.test(target) && path !== 'src/app/app.ts'),
        )
        .map((target) => `${path} imports ${target}: ask the module for a function, a type or a schema instead`),
    )
    expect(wrong).toEqual([])
  })

  test('have no cycles', () => {
    const byPath = new Map(sources.map((source) => [source.path, source]))
    const settled = new Set<string>()
    const circleFrom = (path: string, trail: string[]): string[] | undefined => {
      if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
      if (settled.has(path)) return undefined
      for (const { path: target } of byPath.get(path)?.imports ?? []) {
        const circle = circleFrom(target, [...trail, path])
        if (circle) return circle
      }
      settled.add(path)
      return undefined
    }
    for (const { path } of sources) expect(circleFrom(path, [])).toBeUndefined()
  })

  test('reach every file of src', () => {
    const reached = new Set<string>()
    const reach = (path: string): void => {
      if (reached.has(path)) return
      reached.add(path)
      for (const { path: target } of sources.find((source) => source.path === path)?.imports ?? []) reach(target)
    }
    for (const program of PROGRAMS) reach(program)
    const carried = pathsBelow('src/**/*').filter((path) => !path.endsWith('.d.ts') && !isOfPage(path))
    expect(carried.filter((path) => !reached.has(path))).toEqual([])
  })
})

/** The packages that the dependencies of package.json need, as bun.lock names them, without peers. */
const packagesForServing = (): Set<string> => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Needs
  const { packages } = Bun.JSONC.parse(readFileSync(join(root, 'bun.lock'), 'utf8')) as Lock
  const found = new Set<string>()
  const follow = (needs: Needs, by: string): void => {
    for (const name of Object.keys(needs.dependencies ?? {})) {
      const key = packages[`${by}/${name}`] ? `${by}/${name}` : name
      if (found.has(key)) continue
      found.add(key)
      follow(packages[key]?.[2] ?? {}, key)
    }
  }
  follow({ dependencies }, '')
  return found
}

interface Needs {
  dependencies?: Record<string, string> | undefined
}

interface Lock {
  packages: Record<string, [resolved: string, registry: string, needs: Needs, integrity: string]>
}

test('npm start installs at most 140 packages, the build of Bun for the machine among them', () => {
  expect(packagesForServing().size + 1).toBeLessThanOrEqual(140)
})

test('src imports no packages but dependencies: npm start installs no others', () => {
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Needs
  const imports = /(?:^(?:import|export) (?!type )[^'";]*?from |import\()'([a-z@][^:']*)'/gm
  const imported = pathsBelow('src/**/*.{ts,tsx}').flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(imports)].map(([, name = '']) =>
      name.split('/', name.startsWith('@') ? 2 : 1).join('/'),
    ),
  )
  expect(imported).toContain('drizzle-orm')
  expect([...new Set(imported)].filter((name) => !(name in dependencies))).toEqual([])
})

test('every export is imported somewhere', () => {
  const taken = new Set<string>()
  const inBrowsers = PAGES.flatMap((folder) => pathsBelow(`${folder}**/*.{ts,tsx}`)).map(readSource)
  for (const { imports, text } of [...sources, ...tests, ...inBrowsers]) {
    for (const { path, names } of imports) {
      for (const name of names) taken.add(`${path} ${name}`)
      if (!path.endsWith('operations.ts')) continue
      for (const [, name] of text.matchAll(/\boperations\.(\w+)/g)) taken.add(`${path} ${name}`)
    }
  }
  const unused = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:abstract )?(?:const|class|interface|type|function\*?|async function) (\w+)/gm)]
      .map((match) => `${path} ${match[1]}`)
      .filter((name) => !taken.has(name)),
  )
  expect(unused).toEqual([])
})

/** Calls that only some files may make, and what the others use instead. */
const BANS: readonly { what: string; pattern: RegExp; allowed: readonly string[]; instead: string }[] = [
  {
    what: 'reads the time',
    pattern: /\bDate\.now\b|\bnew Date\(\)|\bperformance\.|\bBun\.nanoseconds\b|\bprocess\.(?:hrtime|uptime)\b/,
    allowed: ['src/kernel/clock.ts'],
    instead: 'the clock of the world or of Deps; sinceStartMs() of kernel/clock.ts for durations',
  },
  {
    what: 'draws randomness',
    pattern: /\bMath\.random\b|\brandom(?:Bytes|UUID|Int|FillSync)\b|\bgetRandomValues\b/,
    allowed: ['src/kernel/ids.ts'],
    instead: 'the ids or the randomness of the world; freshSecret() of kernel/ids.ts for keys',
  },
  {
    what: 'touches the environment',
    pattern: /\bprocess\.env\b|\bBun\.env\b/,
    allowed: ['src/config/environment.ts', 'src/start/production.ts'],
    instead: 'the Config that configOf() makes',
  },
  {
    what: 'writes to the console',
    pattern: /\bconsole\./,
    allowed: [],
    instead: 'the log of Deps, or process.stdout where the output is what was asked for',
  },
  {
    what: 'gives up on types',
    pattern: /\bas any\b|: any\b|<any>|@ts-(?:ignore|expect-error|nocheck)/,
    allowed: [],
    instead: 'unknown, and a check that narrows it',
  },
]

test('statements are in the queries of a module, and in db', () => {
  const outside = sources.filter(({ path }) => !/^src\/db\/|(?:^|[/-])(?:queries|tables)\.ts$/.test(path))
  const asking = outside.filter(
    ({ text }) => /from 'drizzle-orm/.test(text) || /\b(?:tx|query)\s*\.(?:select|insert|update|delete)\(/.test(text),
  )
  expect(asking.map(({ path }) => path)).toEqual([])
})

test('images of the Dockerfile are pinned by digest', () => {
  const images = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
  expect(images).toHaveLength(2)
  for (const image of images) expect(image).toMatch(/^[a-z0-9./-]+:[a-z0-9.-]+@sha256:[0-9a-f]{64}$/)
})

describe('the image of the Dockerfile', () => {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8')
  const stages = text.split(/^(?=FROM )/m).slice(1)
  const image = stages.at(-1) ?? ''

  test('runs as a user without rights', () => {
    expect(/^FROM \S+:nonroot@/.test(image)).toBe(true)
    expect(image).not.toMatch(/^USER /m)
  })

  test('installs packages before it copies what changes more often', () => {
    const steps = [...(stages[0] ?? '').matchAll(/^(?:COPY|RUN) .*/gm)].map(([step]) => step)
    expect(steps.slice(0, -2)).toEqual([
      'COPY package.json bun.lock .npmrc ./',
      'COPY .ci .ci',
      'RUN sh .ci/setup serving',
    ])
    expect(steps.at(-2)).toBe('COPY . .')
  })

  test('contains only what is copied, and no shell is needed to start and check it', () => {
    expect(image).not.toMatch(/^(?:RUN|ADD|CMD|MAINTAINER) /m)
    expect(image.match(/^COPY (?!--from=build )/gm)).toBeNull()
    expect(image.match(/^HEALTHCHECK .*\bCMD \["/gm)).toHaveLength(1)
    expect(image.match(/^ENTRYPOINT \["/gm)).toHaveLength(1)
  })
})

const SHELL = /^#!.*\b(?:ba)?sh$/
const scripts = ['.ci/*', 'docs/**/*.sh', 'findings/*.sh', 'release/**/*']
  .flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: root, dot: true })])
  .filter((path) => SHELL.test(readFileSync(join(root, path), 'utf8').split('\n', 1)[0] ?? ''))

test('every script of the shell says in its first line which shell it is for', () => {
  expect(scripts).toContain('.ci/run')
  const named = ['docs', 'findings', 'release', 'seed', 'src'].flatMap((folder) => pathsBelow(`${folder}/**/*.sh`))
  expect(named.filter((path) => !scripts.includes(path))).toEqual([])
})

test.skipIf(!Bun.which('shellcheck'))('shellcheck finds nothing wrong with the scripts of the shell', () => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['shellcheck', '--severity=warning', ...scripts], { cwd: root })
  expect({ exitCode, said: `${stdout}${stderr}` }).toEqual({ exitCode: 0, said: '' })
})

describe.each(BANS.map((ban) => [ban.what, ban] as const))('nothing else %s', (_, { pattern, allowed, instead }) => {
  test(`use ${instead}`, () => {
    const wrong = sources
      .filter(({ path }) => !allowed.includes(path))
      .flatMap(({ path, text }) =>
        text
          .split('\n')
          .flatMap((line, index) =>
            pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}: use ${instead}`] : [],
          ),
      )
    expect(wrong).toEqual([])
  })
})
