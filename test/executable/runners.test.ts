import { beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { mainPackage, platformPackage } from '../../release/packages.ts'
import type { Ended } from '../program.ts'
import { BINARY, folderOfFile, isBinary } from '../program.ts'
import { blocksOf, documentText } from './documents.ts'
import { done, EXECUTABLE, hasNode, packIn, run, target } from './packages.ts'

/** The examples of docs/start/test-runners.md, each in an empty project. Runners that cannot be installed are skipped. */

const PAGE = 'docs/start/test-runners.md'
const FIXTURES = join(import.meta.dir, '../../docs/start/fixtures')
const INSTALL_MS_MAX = 90_000

const root = folderOfFile()
const BUN = process.execPath
const bin = join(root, 'bin')
mkdirSync(bin)
symlinkSync(BINARY, join(bin, 'scrip'))
/** With the executable in the PATH. */
const withExecutable = { PATH: `${bin}:${process.env.PATH}` }

/** Writes the files of the page that are in a folder of this name, and returns the project. */
const project = (name: string): string => {
  const folder = join(root, name)
  for (const { file, text } of blocksOf(documentText(PAGE))) {
    if (file === undefined || dirname(file) !== name) continue
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, basename(file)), text)
  }
  return folder
}

/** Installs a test runner from the registry; returns why it cannot. */
const problemWith = async (name: string, version: string): Promise<string | undefined> => {
  const folder = join(root, `installed-${basename(name)}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const install = ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0']
  const { exitCode, stderr } = await run(
    ['timeout', String(INSTALL_MS_MAX / 1_000), ...install, `${name}@${version}`],
    folder,
  )
  return exitCode === 0 ? undefined : (stderr.trim().split('\n').at(-1) ?? `npm install ends with ${exitCode}`)
}

const canTry = isBinary && target !== undefined && hasNode && Bun.which('timeout') !== null
/** The last versions that were tested. */
const RUNNERS = { vitest: '4.1.12', jest: '30.5.2', '@playwright/test': '1.65.1' } as const
const problems: Record<keyof typeof RUNNERS, string | undefined> = { vitest: '', jest: '', '@playwright/test': '' }
if (canTry) {
  for (const [name, version] of Object.entries(RUNNERS) as [keyof typeof RUNNERS, string][]) {
    problems[name] = await problemWith(name, version)
  }
}
const titled = (title: string, problem: string | undefined): string =>
  problem ? `${title} (skipped: ${problem})` : title

describe.skipIf(!canTry)('the examples of docs/start/test-runners.md', () => {
  let files: string[] = []
  beforeAll(async () => {
    const carried = target && platformPackage(target, EXECUTABLE, 'The notices of the release.')
    if (!carried) throw new Error('no package for this machine')
    files = await Promise.all([await mainPackage(), carried].map((one) => packIn(root, one)))
  })

  /** Installs the package of Scrip beside a test runner. */
  const install = async (folder: string): Promise<void> => {
    if (!readdirSync(folder).includes('package.json')) writeFileSync(join(folder, 'package.json'), '{"private":true}')
    await done(['npm', 'install', '--no-audit', '--no-fund', '--offline', ...files], folder)
  }

  test('the tour of the library', async () => {
    const folder = project('.')
    await install(folder)
    expect(await done(['node', 'session.mjs'], folder)).toBe(
      'failed\nWallet not found\n100250\n100300\ntrue\ntrue\nauto\n',
    )
  })

  test('node:test', async () => {
    const folder = project('node')
    await install(folder)
    expect(await done(['node', '--test'], folder)).toMatch(/^# pass 1$|ℹ pass 1$/m)
  })

  test('bun test', async () => {
    const folder = project('bun')
    await install(folder)
    expect(succeeded(await run([BUN, 'test'], folder)).stderr).toContain('1 pass')
  })

  test.skipIf(problems.vitest !== undefined)(titled('Vitest', problems.vitest), async () => {
    const folder = join(root, 'installed-vitest')
    copyProject('vitest', folder)
    await install(folder)
    const { stdout } = succeeded(await run(['node_modules/.bin/vitest', 'run'], folder))
    expect(Bun.stripANSI(stdout)).toMatch(/Tests\s+1 passed/)
  })

  test.skipIf(problems.jest !== undefined)(titled('Jest, with CommonJS', problems.jest), async () => {
    const folder = join(root, 'installed-jest')
    copyProject('jest', folder)
    await install(folder)
    expect(succeeded(await run(['node_modules/.bin/jest'], folder)).stderr).toMatch(/Tests:\s+1 passed/)
  })

  test.skipIf(problems['@playwright/test'] !== undefined)(
    titled('Playwright', problems['@playwright/test']),
    async () => {
      const folder = join(root, 'installed-test')
      copyProject('playwright', folder)
      await install(folder)
      expect(succeeded(await run(['node_modules/.bin/playwright', 'test'], folder)).stdout).toContain('1 passed')
    },
  )

  const copyProject = (name: string, into: string): void => {
    const from = project(name)
    for (const file of readdirSync(from)) copyFileSync(join(from, file), join(into, file))
  }
})

const succeeded = (ended: Ended): Ended => {
  if (ended.exitCode !== 0) throw new Error(`${ended.exitCode}: ${ended.stdout}${ended.stderr}`)
  return ended
}

const python = async (): Promise<string | undefined> => {
  if (!isBinary) return 'needs the executable'
  if (!Bun.which('python3')) return 'no python3'
  const { exitCode } = await run(['python3', '-c', 'import pytest'], tmpdir())
  return exitCode === 0 ? undefined : 'no pytest'
}
const pythonProblem = await python()

describe.skipIf(pythonProblem !== undefined)(titled('the pytest fixture', pythonProblem), () => {
  const prepared = (): string => {
    const folder = project('pytest')
    copyFileSync(join(FIXTURES, 'scrip_sandbox.py'), join(folder, 'scrip_sandbox.py'))
    return folder
  }
  const PYTEST = ['python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider']

  test('starts a sandbox, gives each test a world, and stops it', async () => {
    expect(await done(PYTEST, prepared(), withExecutable)).toContain('3 passed')
  })

  test('uses the sandbox of scrip run', async () => {
    const folder = prepared()
    writeFileSync(
      join(folder, 'test_shared.py'),
      'import os\n\ndef test_shared(scrip_world):\n    assert scrip_world.url == os.environ["SCRIP_URL"]\n',
    )
    expect(await done([BINARY, 'run', '--', ...PYTEST, 'test_shared.py'], folder)).toContain('1 passed')
  })

  test('has every control, and reports what the sandbox refuses', async () => {
    const folder = prepared()
    writeFileSync(
      join(folder, 'test_controls.py'),
      `
import pytest
from scrip_sandbox import ScripError


def test_controls(scrip_world):
    scrip_world.set_clock("2040-01-01T00:00:00Z")
    scrip_world.login()
    scrip_world.fund(250)
    scrip_world.snapshot("funded")
    scrip_world.reset()
    amount = lambda: scrip_world.request("GET", "/api/v1/wallets/1").json()["amount"]
    assert amount() == 100000
    scrip_world.restore("funded")
    scrip_world.login()
    assert amount() == 100250
    assert "/api/v1/wallets/1" in [each["path"] for each in scrip_world.requests()]
    assert scrip_world.control("GET", "/pace") == {"payouts": "auto", "orders": "auto"}
    with pytest.raises(ScripError) as refused:
        scrip_world.fail_payout("pyt_none")
    assert refused.value.status == 404
`,
    )
    expect(await done([...PYTEST, 'test_controls.py'], folder, withExecutable)).toContain('1 passed')
  })
})

/** The jars of JUnit 5 that a Maven on this machine has fetched before; nothing is fetched here. */
const findJunit = (): string[] | undefined => {
  const repository = join(homedir(), '.m2/repository')
  const version = (path: string): string => basename(dirname(path))
  const jars = (artifact: string, range: string): string[] =>
    existsSync(repository)
      ? [...new Bun.Glob(`${artifact}/${range}/*.jar`).scanSync({ cwd: repository, absolute: true })]
          .filter((jar) => jar.endsWith(`-${version(jar)}.jar`))
          .sort((a, b) => Bun.semver.order(version(b), version(a)))
      : []
  for (const api of jars('org/junit/jupiter/junit-jupiter-api', '5.*')) {
    const platform = version(api).replace(/^5/, '1')
    const others = [
      jars('org/junit/jupiter/junit-jupiter-engine', version(api)),
      ...['commons', 'engine', 'launcher'].map((part) => jars(`org/junit/platform/junit-platform-${part}`, platform)),
      jars('org/opentest4j/opentest4j', '*'),
      jars('org/apiguardian/apiguardian-api', '*'),
    ].map(([newest]) => newest)
    if (others.every((jar) => jar !== undefined)) return [api, ...others]
  }
  return undefined
}

const LAUNCH = `
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import java.io.PrintWriter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

public class Launch {
  public static void main(String[] names) throws Exception {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(
        LauncherDiscoveryRequestBuilder.request().selectors(selectClass(Class.forName(names[0]))).build(), listener);
    listener.getSummary().printFailuresTo(new PrintWriter(System.err));
    System.out.println(listener.getSummary().getTestsSucceededCount() + " of "
        + listener.getSummary().getTestsFoundCount() + " passed");
  }
}
`
const CONTROLS = `
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(ScripExtension.class)
class ControlsTest {
  @Test
  void controls(ScripExtension.World world, ScripExtension.World same) {
    assertEquals(world, same);
    world.fund(1, "250");
    world.snapshot("funded-by-junit");
    world.reset();
    assertTrue(world.request("GET", "/api/v1/wallets/1", null).body().contains("\\"amount\\":100000,"));
    world.restore("funded-by-junit");
    world.login();
    assertTrue(world.request("GET", "/api/v1/wallets/1", null).body().contains("\\"amount\\":100250,"));
    assertTrue(world.requests().contains("/api/v1/wallets/1"));
    assertEquals(404, assertThrows(ScripExtension.ScripException.class, () -> world.failPayout("pyt_none")).status);
  }
}
`
const jars = findJunit()
const javaProblem = !isBinary
  ? 'needs the executable'
  : !(Bun.which('java') && Bun.which('javac'))
    ? 'no Java'
    : jars === undefined
      ? 'no JUnit 5 in ~/.m2'
      : undefined

describe.skipIf(javaProblem !== undefined)(titled('the JUnit 5 extension', javaProblem), () => {
  const classpath = [...(jars ?? []), '.'].join(':')
  let folder = ''
  beforeAll(async () => {
    folder = project('junit')
    copyFileSync(join(FIXTURES, 'ScripExtension.java'), join(folder, 'ScripExtension.java'))
    for (const [name, text] of Object.entries({ Launch: LAUNCH, ControlsTest: CONTROLS })) {
      writeFileSync(join(folder, `${name}.java`), text)
    }
    const sources = readdirSync(folder).filter((file) => file.endsWith('.java'))
    await done(['javac', '--release', '11', '-Xlint:all,-options', '-cp', classpath, ...sources], folder)
  })

  test('starts a sandbox, gives each test a world, and stops it', async () => {
    expect(await done(['java', '-cp', classpath, 'Launch', 'CheckoutTest'], folder, withExecutable)).toBe(
      '3 of 3 passed\n',
    )
  })

  test('uses the sandbox of scrip run, and has every control', async () => {
    const command = [BINARY, 'run', '--rate-limit', 'off', '--', 'java', '-cp', classpath, 'Launch', 'ControlsTest']
    expect(await done(command, folder)).toBe('1 of 1 passed\n')
  })
})
