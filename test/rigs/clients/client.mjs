/** Sends the steps with one library of JavaScript, in Node or Bun. */

const [library, ...steps] = process.argv.slice(2)
const isOff = process.env.SWITCH === 'on'

const senders = {
  fetch:
    async () =>
    async (url, { method, headers, body }) => {
      const response = await fetch(url, { method, headers, body, ...(isOff && { keepalive: false }) })
      return [response.status, (await response.text()).length]
    },
  undici: async () => {
    const { request } = await import('undici')
    return async (url, { method, headers, body }) => {
      const { statusCode, body: content } = await request(url, { method, headers, body })
      return [statusCode, (await content.text()).length]
    }
  },
  'undici-retry': async () => {
    const { request, Agent, RetryAgent } = await import('undici')
    const dispatcher = new RetryAgent(new Agent())
    return async (url, { method, headers, body }) => {
      const { statusCode, body: content } = await request(url, { method, headers, body, dispatcher })
      return [statusCode, (await content.text()).length]
    }
  },
  axios: async () => {
    const { default: axios } = await import('axios')
    return async (url, { method, headers, body }) => {
      const { status, data } = await axios({
        url,
        method,
        headers,
        data: body,
        responseType: 'text',
        transformResponse: (text) => text,
        validateStatus: () => true,
      })
      return [status, data.length]
    }
  },
  got: async () => {
    const { default: got } = await import('got')
    return async (url, { method, headers, body }) => {
      const options = { method, headers, body, ...(isOff && { retry: { limit: 0 } }) }
      const response = await got(url, options)
      return [response.statusCode, response.body.length]
    }
  },
  ky: async () => {
    const { default: ky } = await import('ky')
    return async (url, { method, headers, body }) => {
      const options = { method, headers, body, ...(isOff && { retry: 0 }) }
      const response = await ky(url, options)
      return [response.status, (await response.text()).length]
    }
  },
}

const send = await senders[library]()
for (const step of steps) {
  const [method, url, key, expect] = step.split(' ')
  if (method === 'WAIT') {
    await new Promise((resolve) => setTimeout(resolve, Number(url) * 1_000))
    continue
  }
  const headers = { authorization: `Bearer ${process.env.TOKEN}`, 'content-type': 'application/json' }
  if (key !== '-') headers['idempotency-key'] = key
  if (expect !== '-') headers.expect = '100-continue'
  const body = method === 'POST' || method === 'PATCH' ? process.env.BODY : undefined
  try {
    console.log((await send(url, { method, headers, body })).join(' '))
  } catch (error) {
    // got and ky throw a response that is an error.
    if (error.name === 'HTTPError') console.log(error.response.status ?? error.response.statusCode, 0)
    else console.log('error', error.code ?? error.cause?.code ?? error.name, error.cause?.message ?? error.message)
  }
}
process.exit()
