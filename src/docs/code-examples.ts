import { type ApiDocument, bodyExampleOf, type Entry } from './document.ts'

/** A request in the languages of clients. Each example runs as it stands, with a token in the variable TOKEN. */

interface Call {
  method: string
  url: string
  /** A token is needed. */
  isProtected: boolean
  body: unknown
}

const callOf = (document: ApiDocument, { method, path, operation }: Entry): Call => {
  const needed = operation.parameters.filter(({ required }) => required)
  const query = new URLSearchParams()
  let filled = path
  for (const { name, in: place, example = name } of needed) {
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(String(example)))
    else if (place === 'query') query.set(name, String(example))
  }
  const search = query.size > 0 ? `?${query}` : ''
  return {
    method,
    url: document.servers[0].url + filled + search,
    isProtected: operation.security.length > 0,
    body: bodyExampleOf(operation),
  }
}

const json = (body: unknown): string => JSON.stringify(body, null, 2)
/** For a shell: nothing in it is expanded. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`)

const curl = ({ method, url, isProtected, body }: Call): string =>
  [
    `curl${method === 'GET' || (method === 'POST' && body !== undefined) ? '' : ` -X ${method}`} ${quoted(url)}`,
    ...(isProtected ? [`-H "Authorization: Bearer $TOKEN"`] : []),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(json(body))}`]),
  ].join(' \\\n  ')

const javaScript = ({ method, url, isProtected, body }: Call): string => {
  const headers = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a template of the example
    ...(isProtected ? ['Authorization: `Bearer ${process.env.TOKEN}`'] : []),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json'"]),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length === 0 ? [] : [`headers: {\n    ${headers.join(',\n    ')},\n  }`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${indented(json(body), '  ')})`]),
  ]
  const given = options.length === 0 ? '' : `, {\n  ${options.join(',\n  ')},\n}`
  return `const response = await fetch('${url}'${given})\nconsole.log(response.status, await response.text())`
}

const PYTHON_WORDS: Record<string, string> = { true: 'True', false: 'False', null: 'None' }
/** JSON as a literal of Python: strings are the same, three words are not. */
const pythonLiteral = (body: unknown): string =>
  json(body).replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (word) => PYTHON_WORDS[word] ?? word)

const python = ({ method, url, isProtected, body }: Call): string =>
  [
    ...(isProtected ? ['import os', ''] : []),
    'import requests',
    '',
    'response = requests.request(',
    `    "${method}",`,
    `    "${url}",`,
    ...(isProtected ? [`    headers={"Authorization": f"Bearer {os.environ['TOKEN']}"},`] : []),
    ...(body === undefined ? [] : [`    json=${indented(pythonLiteral(body), '    ')},`]),
    ')',
    'print(response.status_code, response.text)',
  ].join('\n')

const go = ({ method, url, isProtected, body }: Call): string => {
  const imports = ['fmt', 'io', 'net/http', ...(isProtected ? ['os'] : []), ...(body === undefined ? [] : ['strings'])]
  const reader = body === undefined ? 'nil' : `strings.NewReader(\`${json(body).replaceAll('`', '\\u0060')}\`)`
  return `package main

import (
${imports.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
	request, err := http.NewRequest("${method}", "${url}", ${reader})
	if err != nil {
		panic(err)
	}
${[
  ...(isProtected ? ['\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))\n'] : []),
  ...(body === undefined ? [] : ['\trequest.Header.Set("Content-Type", "application/json")\n']),
].join('')}	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(response.StatusCode, string(text))
}`
}

const LANGUAGES = { curl, JavaScript: javaScript, Python: python, Go: go } as const

export const codeExamples = (document: ApiDocument, entry: Entry): { language: string; code: string }[] => {
  const call = callOf(document, entry)
  return Object.entries(LANGUAGES).map(([language, write]) => ({ language, code: write(call) }))
}
