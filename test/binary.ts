/** The executable that `npm test` has built. */
export const BINARY = process.env.TEST_BINARY ?? `${import.meta.dir}/../dist/scrip`

/** Starts the executable with flags of `scrip serve`, on a free port. */
export const startBinary = async (flags: string[]) => {
  const child = Bun.spawn([BINARY, 'serve', '--port', '0', '--log-level', 'error', ...flags], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const url = await readyUrl(child.stdout)
  return {
    url,
    request: (path: string, init?: BunFetchRequestInit) => fetch(url + path, init),
    stop: async () => {
      child.kill('SIGTERM')
      await child.exited
    },
    kill: async () => {
      child.kill('SIGKILL')
      await child.exited
    },
    database: () => undefined,
  }
}

/** The address in the one line that the program says when it is ready (contract C1). */
export const readyUrl = async (stdout: ReadableStream<Uint8Array>): Promise<string> => {
  const { value } = await stdout.getReader().read()
  const line = new TextDecoder().decode(value)
  const url = /^ready url=(\S+)/.exec(line)?.[1]
  if (!url) throw new Error(`not ready: ${line}`)
  return url
}
