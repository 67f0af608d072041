import { cpSync } from 'node:fs'
import { join } from 'node:path'

/** The HTTP clients that the rig runs, each as a small program that sends the steps it is given and prints what it sees. */

/** A request of a step, or a pause. */
export type Step = { method: string; url: string; key?: string; expect?: boolean } | { waitSeconds: number }

export interface Client {
  /** As the guide names it. */
  name: string
  slug: string
  /** Prints its version. */
  version: readonly string[]
  command: (steps: readonly Step[], isOff: boolean) => readonly string[]
  /** The switch that keeps it from repeating, as its users write it; the rig runs the client with it, too. */
  ends?: string
  /** The methods that it cannot send. */
  cannot?: readonly string[]
}

/** Libraries for Node 20, in the newest releases that run there. */
const PACKAGES = { undici: '7.30.2', axios: '1.21.1', got: '14.6.6', ky: '1.14.3' }

const words = (steps: readonly Step[]): string[] =>
  steps.map((step) =>
    'waitSeconds' in step
      ? `WAIT ${step.waitSeconds} - -`
      : `${step.method} ${step.url} ${step.key ?? '-'} ${step.expect ? 'expect' : '-'}`,
  )

const HAS_BODY = ['POST', 'PATCH']

/** TOKEN and BODY are in the environment. */
const curlOf =
  (...flags: string[]) =>
  (steps: readonly Step[], isOff: boolean): string[] => {
    const requests = steps.flatMap((step) => {
      if ('waitSeconds' in step) return []
      const headers = ['Authorization: Bearer $TOKEN', 'Content-Type: application/json']
      if (step.key) headers.push(`Idempotency-Key: ${step.key}`)
      if (step.expect) headers.push('Expect: 100-continue')
      if (isOff) headers.push('Connection: close')
      const data = HAS_BODY.includes(step.method) ? '--data-raw "$BODY"' : ''
      const shown = `-w '%{http_code} %{size_download} %{exitcode}\\n'`
      return [
        // With --retry, curl must be able to truncate its output: /dev/null ends it.
        `-sS ${flags.join(' ')} -o "$(mktemp -p .)" ${shown} -X ${step.method} ${headers.map((header) => `-H "${header}"`).join(' ')} ${data} ${step.url}`,
      ]
    })
    const isWaiting = steps.some((step) => 'waitSeconds' in step)
    return ['sh', '-c', `curl ${isWaiting ? '--rate 45/h' : ''} ${requests.join(' --next ')}`]
  }

const wgetOf =
  (...flags: string[]) =>
  (steps: readonly Step[], isOff: boolean): string[] => {
    const requests = steps.flatMap((step) => ('waitSeconds' in step ? [] : [step]))
    const last = requests.at(-1)
    if (!last) throw new Error('wget needs a request')
    const wait = steps.flatMap((step) => ('waitSeconds' in step ? [`--wait=${step.waitSeconds}`] : []))
    return [
      'sh',
      '-c',
      // All requests of a call have its method.
      [
        'wget -nv -S -O - --content-on-error --header="Authorization: Bearer $TOKEN" --header="Content-Type: application/json"',
        ...flags,
        ...wait,
        ...(isOff ? ['--tries=1'] : []),
        ...(last.key ? [`--header="Idempotency-Key: ${last.key}"`] : []),
        ...(last.expect ? ['--header="Expect: 100-continue"'] : []),
        last.method === 'POST' ? '--post-data="$BODY"' : `--method=${last.method}`,
        ...(last.method === 'PATCH' ? ['--body-data="$BODY"'] : []),
        ...requests.map(({ url }) => url),
      ].join(' '),
    ]
  }

const JS_VERSION = (name: string) => ['sh', '-c', `grep -m1 '"version"' node_modules/${name}/package.json`]

const inNode = (name: string, slug = name): Pick<Client, 'slug' | 'version' | 'command'> => ({
  slug,
  version: name === 'fetch' ? ['node', '--version'] : JS_VERSION(name),
  command: (steps) => ['node', 'client.mjs', slug === 'node-fetch' ? 'fetch' : slug, ...words(steps)],
})

const inPython = (name: string, slug = name): Pick<Client, 'slug' | 'version' | 'command'> => ({
  slug,
  version: ['/usr/bin/python3', '-c', `import ${name}; print(${name}.__version__)`],
  command: (steps) => ['/usr/bin/python3', 'client.py', slug, ...words(steps)],
})

const JAVA_VERSION = ['sh', '-c', 'java -version 2>&1']

export const CLIENTS: readonly Client[] = [
  {
    name: 'curl',
    slug: 'curl',
    version: ['curl', '--version'],
    command: curlOf(),
    ends: "one command for each write, or `-H 'Connection: close'` before each `--next`",
  },
  { name: 'curl `--retry 2`', slug: 'curl-retry', version: ['curl', '--version'], command: curlOf('--retry 2') },
  {
    name: 'wget',
    slug: 'wget',
    version: ['wget', '--version'],
    command: wgetOf(),
    ends: '`--tries=1`',
  },
  {
    name: 'wget `--retry-on-http-error`',
    slug: 'wget-retry',
    version: ['wget', '--version'],
    command: wgetOf('--retry-on-http-error=429,500,503'),
  },
  {
    name: 'PHP, a curl handle',
    slug: 'php',
    version: ['php', '--version'],
    command: (steps) => ['php', 'client.php', ...words(steps)],
    ends: '`CURLOPT_FRESH_CONNECT` for each write',
  },
  {
    name: 'Java `HttpURLConnection`',
    slug: 'java-url',
    version: JAVA_VERSION,
    command: (steps, isOff) => [
      'java',
      ...(isOff ? ['-Dsun.net.http.retryPost=false'] : []),
      'UrlConnection',
      ...words(steps),
    ],
    ends: '`-Dsun.net.http.retryPost=false`',
    cannot: ['PATCH'],
  },
  {
    name: 'Java `HttpClient`',
    slug: 'java-http',
    version: JAVA_VERSION,
    command: (steps) => ['java', 'NewClient', ...words(steps)],
  },
  {
    name: 'Go `net/http`',
    slug: 'go',
    version: ['go', 'version'],
    command: (steps) => ['./client', ...words(steps)],
    ends: '`Transport.DisableKeepAlives`',
  },
  { name: 'Python requests', ...inPython('requests') },
  {
    name: 'Python requests, `Retry(total=3)`',
    ...inPython('requests', 'requests-retry'),
  },
  { name: 'Python httpx', ...inPython('httpx') },
  { name: 'Python aiohttp', ...inPython('aiohttp') },
  {
    name: 'Ruby `Net::HTTP`',
    slug: 'ruby',
    version: ['ruby', '--version'],
    command: (steps) => ['ruby', 'client.rb', ...words(steps)],
    ends: '`http.max_retries = 0`',
  },
  {
    name: 'Perl LWP',
    slug: 'perl',
    version: ['perl', '-MLWP', '-e', 'print $LWP::VERSION'],
    command: (steps) => ['perl', 'client.pl', ...words(steps)],
  },
  { name: 'Node `fetch`', ...inNode('fetch', 'node-fetch') },
  { name: 'undici `request`', ...inNode('undici') },
  { name: 'undici `RetryAgent`', ...inNode('undici', 'undici-retry') },
  { name: 'axios', ...inNode('axios') },
  { name: 'got', ...inNode('got'), ends: '`retry: { limit: 0 }`' },
  { name: 'ky', ...inNode('ky'), ends: '`retry: 0`' },
  {
    name: 'Bun `fetch`',
    slug: 'bun',
    version: [process.execPath, '--version'],
    command: (steps) => [process.execPath, 'client.mjs', 'fetch', ...words(steps)],
    ends: '`keepalive: false`',
  },
]

/** Needs nothing but what the tests need. */
export const SHORT = ['bun']

const run = (command: readonly string[], cwd: string): void => {
  const { success, stderr } = Bun.spawnSync([...command], {
    cwd,
    stdout: 'ignore',
    stderr: 'pipe',
    env: { ...process.env, GOCACHE: join(cwd, '.go'), GO111MODULE: 'off' },
  })
  if (!success) throw new Error(`${command.join(' ')}: ${stderr}`)
}

/** Copies the programs to a folder, compiles them and installs their libraries there. */
export const prepare = (folder: string, isShort: boolean): void => {
  cpSync(import.meta.dir, folder, { recursive: true })
  if (isShort) return
  const packages = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`)
  run(['npm', 'install', '--no-audit', '--no-fund', '--save-exact', ...packages], folder)
  run(['javac', 'UrlConnection.java', 'NewClient.java'], folder)
  run(['go', 'build', '-o', 'client', 'client.go'], folder)
}
