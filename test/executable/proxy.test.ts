import { expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { COMMAND, run, start, startReady } from '../program.ts'

/** Commands that ask a server on this machine, where the environment names a proxy. */

/** A proxy that answers everything itself, and keeps every request. */
const openProxy = () => {
  const requested: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ method, url }) => {
      requested.push(`${method} ${url}`)
      return new Response('the proxy', { status: 418 })
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  const env = { HTTP_PROXY: url, http_proxy: url, HTTPS_PROXY: url, ALL_PROXY: url, SCRIP_SANDBOX_TOKEN: 'a secret' }
  return { requested, env, [Symbol.asyncDispose]: () => server.stop(true) }
}

test.each(['127.0.0.1', 'localhost', '127.0.0.2'])('a server at %s is requested without the proxy', async (name) => {
  await using proxy = openProxy()
  await using server = await start(['--host', name === '127.0.0.2' ? name : '127.0.0.1', '--sandbox-token', 'a secret'])
  const url = `http://${name}:${server.port}`
  const received: string[] = []
  await using receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ method }) => {
      received.push(method)
      return new Response()
    },
  })
  const { env } = proxy
  await using listening = await startReady(
    ['listen', '--url', url, '--forward', `http://localhost:${receiver.port}/`],
    { env },
  )
  expect(listening.ready).toStartWith('secret whsec_')
  const triggered = await run(['trigger', 'payout.failed', '--url', url], { env })
  expect(triggered).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^evt_\w+\n$/), stderr: '' })
  await listening.printed('200\n')
  expect(received).toEqual(['POST'])
  const compared = await run(['compare', url], { env })
  expect({ exitCode: compared.exitCode, stdout: compared.stdout }).toEqual({ exitCode: 0, stdout: '' })
  for (const command of ['health', 'wait'])
    expect(await run([command, '--url', url], { env })).toMatchObject({ exitCode: 0, stdout: 'ready\n' })
  const client = new Client({ name: 'test', version: '1' })
  const [command = '', ...args] = COMMAND
  await client.connect(new StdioClientTransport({ command, args: [...args, 'mcp', '--url', url], env }))
  expect(await client.callTool({ name: 'world', arguments: { action: 'list' } })).not.toMatchObject({ isError: true })
  await client.close()
  expect(proxy.requested).toEqual([])
})

test('another host is requested through the proxy', async () => {
  await using proxy = openProxy()
  const { exitCode } = await run(['trigger', 'payout.failed', '--url', 'http://scrip.test:4747'], { env: proxy.env })
  expect({ exitCode, requested: proxy.requested }).toEqual({
    exitCode: 1,
    requested: ['POST http://scrip.test:4747/_sandbox/events'],
  })
})
