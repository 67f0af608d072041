import { messageOf } from '../http/error-message.ts'
import { shellWord } from '../kernel/visible.ts'
import { type Picture, pictureView } from '../pages/drawing.ts'
import { codeBlock, type Html, html, jsonBlock, methodBadge, prose } from '../pages/html.ts'
import { adviceAbout } from './advice.ts'
import {
  type ApiDocument,
  bodyExampleOf,
  type Content,
  type DocumentedError,
  type DocumentedOperation,
  type Entry,
  errorsIn,
  exampleValues,
  type Parameter,
  successOf,
  targetOf,
} from './document.ts'
import { sectionLinks } from './page.ts'
import { memberLine, membersView, typeOf } from './schema-view.ts'

/**
 * The page of an operation, or of an event, whose path is its type: its inputs and responses on the left, examples on the
 * right. The console sends operations of the API, and none of the sandbox itself.
 */
export const operationView = (
  document: ApiDocument,
  entry: Entry,
  console: string | undefined,
  picture?: Picture | undefined,
): Html => {
  const { method, path, operation } = entry
  const isServed = path.startsWith('/')
  const isTried = console !== undefined && path.startsWith('/api/')
  const sections = html`${requestView(document, operation)}
${responseView(document, operation)}
${errorsView(errorsIn(operation))}
${picture && html`<h2 id="picture">${picture.heading}</h2>${pictureView(picture)}`}`
  return html`<article>
<header><h1>${operation.summary}</h1>
<p class="line box endpoint">${methodBadge(method)} <code>${path}</code>${
    isTried && html` <a href="${console}#send?operation=${operation.operationId}">Try it</a>`
  }</p>${sectionLinks(sections)}</header>
<div class="columns">
<div>
<p class="lead">${prose(operation.description)}</p>
${
  isServed &&
  html`<p class="soft">${
    operation.security.length > 0
      ? html`Needs an access token: <code>Authorization: Bearer …</code>. `
      : html`Needs no access token. `
  }Operation <code>${operation.operationId}</code>.</p>`
}
${sections}
</div>
<aside aria-label="Examples">
<section aria-label="Request"><h2>Request</h2>${
    isServed
      ? codeBlock(curlOf(document, entry), 'Request with curl')
      : jsonBlock(bodyExampleOf(operation), 'Example of the body')
  }</section>
${exampleResponse(operation)}
</aside>
</div>
</article>`
}

const PLACES = { path: 'Path parameters', query: 'Query parameters', header: 'Headers' } as const

const requestView = (document: ApiDocument, operation: DocumentedOperation): Html => {
  const byPlace = Map.groupBy(operation.parameters, ({ in: place }) => place)
  const body = operation.requestBody?.content['application/json']?.schema
  return html`${Object.entries(PLACES).map(([place, title]) => {
    const parameters = byPlace.get(place as Parameter['in'])
    return (
      parameters &&
      html`<h2 id="${place}">${title}</h2><ul class="members">${parameters.map((one) => html`<li>${memberLine(document, one)}</li>`)}</ul>`
    )
  })}${body && html`<h2 id="body">Body</h2>${membersView(document, body, true)}`}`
}

const responseView = (document: ApiDocument, operation: DocumentedOperation): Html => {
  const [status, response] = successOf(operation) ?? []
  if (!response) return html``
  const [[type, { schema }] = ['', {}]] = Object.entries<Partial<Content>>(response.content ?? {})
  const headers = Object.entries(response.headers ?? {})
  return html`<h2 id="response">Response ${status}</h2><p>${prose(response.description)}${type !== '' && html` <span class="soft">${type}</span>`}</p>
${schema && html`<p><span class="soft">${typeOf(document, schema)}</span></p>${membersView(document, schema, false)}`}
${
  headers.length > 0 &&
  html`<details><summary>Headers</summary><ul class="members">${headers.map(
    ([name, { description, schema }]) => html`<li>${memberLine(document, { name, description, schema })}</li>`,
  )}</ul></details>`
}`
}

const errorsView = (errors: readonly DocumentedError[]): Html =>
  html`${
    errors.length > 0 &&
    html`<h2 id="errors">Errors</h2><ul class="errors">${errors.map(({ name, status, body }) => {
      const advice = adviceAbout(name)
      return html`<li id="${name}"><details><summary><span class="status s${status[0]}">${status}</span> <code>${name}</code> <span class="soft">${messageOf(body)}</span></summary>${
        advice !== undefined && html`<p class="advice">What to do: ${prose(advice)}.</p>`
      }${jsonBlock(body, `Body of ${name}`)}</details></li>`
    })}</ul>`
  }`

/** The documented request for a shell. It runs as it stands, with a token in the variable TOKEN. */
const curlOf = (document: ApiDocument, entry: Entry): string => {
  const { method, operation } = entry
  const url = document.servers[0].url + targetOf(entry, exampleValues(entry))
  const body = bodyExampleOf(operation)
  const isImplied = method === 'GET' || (method === 'POST' && body !== undefined)
  return [
    `curl${isImplied ? '' : ` -X ${method}`} ${shellWord(url)}`,
    ...(operation.security.length > 0 ? [`-H "Authorization: Bearer $TOKEN"`] : []),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${shellWord(JSON.stringify(body, null, 2))}`]),
  ].join(' \\\n  ')
}

const exampleResponse = (operation: DocumentedOperation): Html => {
  const [status, response] = successOf(operation) ?? []
  const example = response?.content?.['application/json']?.example
  return html`${example !== undefined && html`<section aria-label="Response"><h2>Response <span class="status s${status?.[0]}">${status}</span></h2>${jsonBlock(example, 'Example of the response')}</section>`}`
}
