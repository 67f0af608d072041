import { bodyExampleOf, type Entry, errorsIn, messageOf, type Parameter } from './document.ts'
import { type Html, html } from './html.ts'
import { choicesIn } from './schema-view.ts'

/** The form that sends a request from the page. */

/** Fields whose text nobody should read over a shoulder, and which the page remembers until it is closed. */
const SECRET_HEADER = /-Token$/
/** The parameter for which the page offers the errors of the operation; live mode has none. */
const FAULT_HEADER = 'X-Sandbox-Fault'
const REHEARSAL_HEADER = 'X-Dry-Run'

export const tryForm = (entry: Entry): Html => {
  const { method, path, operation } = entry
  const isProtected = operation.security.length > 0
  const body = bodyExampleOf(operation)
  const parameters = operation.parameters
  const isLive = !parameters.some(({ name }) => name === FAULT_HEADER)
  return html`<section class="try" id="try" aria-label="Try it"><h2>Try it</h2>
<form data-method="${method}" data-path="${path}"${isProtected && html` data-protected`} hidden>
${isProtected && html`<p class="hint" data-login-hint>Log in first. <button type="button" class="quiet" data-login>Log in</button></p>`}
${parameters.map((parameter) => fieldOf(entry, parameter, isLive))}
${
  body !== undefined &&
  html`<label><span>Body</span><textarea name="body" rows="${Math.min(16, JSON.stringify(body, null, 2).split('\n').length)}" spellcheck="false">${JSON.stringify(body, null, 2)}</textarea></label>`
}
<div class="actions"><button type="submit">Send</button></div>
</form>
<div class="result" role="status" aria-live="polite"></div>
<noscript><p class="soft">Sending from this page needs JavaScript.</p></noscript>
</section>`
}

const fieldOf = (entry: Entry, parameter: Parameter, isLive: boolean): Html => {
  const { name, in: place, required, schema, example } = parameter
  if (name === FAULT_HEADER) return faultPicker(entry)
  const choices = choicesIn(schema.enum ?? (schema.type === 'boolean' ? [true, false] : []))
  const label = html`<span>${name}${required && html` <span class="required">required</span>`}</span>`
  // What is tried in live mode moves no money, unless the reader wants it to.
  const chosen = isLive && name === REHEARSAL_HEADER ? 'true' : undefined
  const attributes = html`name="${place}:${name}" ${required && html`required`}`
  // A key that was already used would repeat the first response: it is shown as a hint, and not sent.
  const value = place === 'path' ? (example ?? '') : ''
  return html`<label>${label}${
    choices.length > 0
      ? html`<select ${attributes}>${!required && html`<option value="">(left out)</option>`}${choices.map((choice) => html`<option${String(choice) === chosen && html` selected`}>${String(choice)}</option>`)}</select>`
      : html`<input ${attributes} value="${String(value)}" placeholder="${placeholderOf(parameter)}" autocomplete="off" spellcheck="false"${SECRET_HEADER.test(name) && html` type="password" data-secret`}>`
  }</label>`
}

const placeholderOf = ({ in: place, example, schema }: Parameter): string =>
  String((place === 'path' ? undefined : example) ?? schema.default ?? '')

/** Every error that this operation documents, by status. */
const faultPicker = ({ operation }: Entry): Html => {
  const byStatus = Map.groupBy(errorsIn(operation), ({ status }) => status)
  return html`<fieldset><legend>Ask for a fault</legend>
<label><span>Error</span><select name="header:${FAULT_HEADER}"><option value="">none: the real response</option>${[
    ...byStatus,
  ].map(
    ([status, errors]) =>
      html`<optgroup label="${status}">${errors.map(
        ({ name, body }) => html`<option value="${name}">${name} – ${messageOf(body)}</option>`,
      )}</optgroup>`,
  )}</select></label>
<label class="check"><input type="checkbox" value="; when=after" data-after="header:${FAULT_HEADER}"> <span>Do the work, and lose only its response</span></label>
</fieldset>`
}
