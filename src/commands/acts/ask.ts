import { rmSync } from 'node:fs'
import type { Command } from 'commander'
import type { Act, ActRequest, ActResult, Among } from '../../acts/act.ts'
import { type Row, textOf } from '../../acts/cells.ts'
import { fileOf, inputOf } from '../../acts/fields.ts'
import { type DataConfig, dataConfigOf } from '../../config/config.ts'
import { operatorName } from '../../config/environment.ts'
import type { DataOptions } from '../../config/option-table.ts'
import { hasDatabase, makeDataFolder } from '../../folder/files.ts'
import { isServed, lockForServing, WRITER_MS_MAX, WriterLock } from '../../folder/lock.ts'
import { SECOND_MS, sinceStartMs, systemClock } from '../../kernel/clock.ts'
import { EXIT, type ExitCode, errorText, misused, ProgramError, refused } from '../../kernel/exit.ts'
import { freshActId } from '../../kernel/ids.ts'
import { visibleLines } from '../../kernel/visible.ts'
import { createDatabase } from '../../start/folder.ts'
import { explainFaults, reasonOf, withInput } from '../advice.ts'
import { holdsNoDatabase, pathOf, reading, requireLiveFolder } from '../records/administration.ts'
import { isList, note, show } from '../terminal/output.ts'
import { type OnProgress, withProgress } from '../terminal/progress.ts'
import { perform } from './perform.ts'
import { withPerformer } from './performer.ts'
import { type ActMessage, isSocketThere, isTooLong, messageOf, socketPath } from './wire.ts'

/** The way of a command to its act: the server of the folder performs it, or the command holds the folder itself (contract C20). */

interface ActCall {
  config: DataConfig
  /** Undefined if only a refusal is to be recorded. */
  act?: Act
  request: ActRequest
  input?: string
  onProgress?: OnProgress
  /** The longest wait for the result; by default, as long as the act takes. */
  waitMsMax?: number
  /** Gets messages for people, besides the result. By default, they are printed. */
  onNote?: (text: string) => unknown
}

/** The action of a command: asks the server, or performs the act if none runs. */
export const acting = (act: Act) =>
  async function (this: Command, ...args: unknown[]): Promise<void> {
    const config = dataConfigOf(this.opts<DataOptions>())
    const request = actRequestOf(this, inputOf(act.takes, args))
    await explainFaults(config.dataDir, () =>
      withProgress(async (onProgress) => {
        const notes: string[] = []
        const call = { config, act, request, onProgress, onNote: (text: string) => notes.push(text) }
        const result = read(act.alone ? await askAlone(call, act.alone) : await askWithFile(call))
        await show(result, config.format, doneBy(request, result, act))
        for (const text of notes) note(text, config.format) // about what has been shown
      }),
    )
  }

/** The action of a command that acts on one record, or on each that a file names. A refusal does not stop it. */
export const actingOnEach = (act: Act, among: Among) =>
  async function (this: Command, ...args: unknown[]): Promise<void> {
    const { file } = this.opts<{ file?: string }>()
    const [{ id, ...input }, how] = [inputOf(act.takes, args), inputOf(among.takes, args.slice(-2))]
    const isHow = Object.values(how).some((value) => value !== undefined)
    if ((file === undefined) === (id === undefined) || (isHow && file === undefined)) throw misused(WHICH)
    if (file === undefined) return await acting(act).call(this, ...args)
    const config = dataConfigOf(this.opts<DataOptions>())
    const read = (text: string) => reading(config, async (data) => among.read(data, text, { ...input, ...how }))
    const { ids, sentences, left, isWhole } = await explainFaults(config.dataDir, () => {
      requireLiveFolder(config.dataDir, pathOf(this), act.inSandbox)
      return recordingRefusal({ config, request: actRequestOf(this) }, () => withInput(file, read))
    })
    for (const text of sentences) process.stderr.write(`${visibleLines(text)}\n`)
    const requests = ids.map((one) => ({ ...actRequestOf(this, { ...input, id: one }), subject: one }))
    const refuse = (message: string, exitCode: ExitCode = EXIT.failed): void => {
      process.stderr.write(errorText(message))
      process.exitCode = exitCode
    }
    for (const line of left) refuse(line)
    if (!isWhole) process.exitCode = EXIT.failed
    const rows: Row[] = []
    for (const request of requests) {
      const done = await resultOrRefusal(config, act, request)
      if (done instanceof ProgramError) refuse(done.message, done.exitCode)
      else rows.push(done as Row)
    }
    const result = { columns: Object.keys(rows[0] ?? {}), rows }
    await show(result, config.format, doneBy(actRequestOf(this), result))
  }

const resultOrRefusal = async (
  config: DataConfig,
  act: Act,
  request: ActRequest,
): Promise<ActResult | ProgramError> => {
  try {
    return await explainFaults(config.dataDir, () => ask({ config, act, request }))
  } catch (error) {
    if (error instanceof ProgramError) return error
    throw error
  }
}

/** A result that can be read twice. */
const read = (result: ActResult): ActResult => (isList(result) ? { ...result, rows: [...result.rows] } : result)

/** The most records that an error lists. The audit has them all. */
const NAMED_MAX = 10

/** The one line of an output that cannot be written: it says what an act did, and no secret (contract C1). */
export const doneBy = ({ command, isDryRun }: ActRequest, result: ActResult, { secret }: Partial<Act> = {}): string => {
  const rows = isList(result) ? [...result.rows] : [result]
  const named = rows.slice(0, NAMED_MAX).map((row) =>
    Object.entries(row)
      .filter(([column]) => column !== secret?.column)
      .map(([column, cell]) => `${column} ${textOf(cell)}`)
      .join(', '),
  )
  const rest = rows.length > NAMED_MAX ? [`and ${rows.length - NAMED_MAX} more`] : []
  const outcome = [...named, ...rest].join('; ') || 'nothing to do'
  const lost = secret && rows[0] ? `. The ${secret.column} is lost: ${secret.remedyOf(rows[0])}` : ''
  return `scrip ${command} ${isDryRun ? 'would do this' : 'was done'}: ${outcome}${lost}`
}

const WHICH = 'an id or a file is needed, and not both\nGive either an id or --file.'

const askWithFile = async (call: ActCall & { act: Act }): Promise<ActResult> => {
  const { takes, readFile = (text) => text } = call.act
  const file = fileOf(takes, call.request.input)
  const input = file === undefined ? '' : await recordingRefusal(call, () => withInput(file, readFile))
  return await ask({ ...call, input })
}

const askAlone = async (call: ActCall, needs: 'write' | 'folder'): Promise<ActResult> => {
  const { dataDir, postgres } = call.config
  if (postgres && needs === 'write') makeDataFolder(dataDir)
  else if (!hasDatabase(dataDir))
    throw needs === 'folder' ? refused(`${dataDir} contains no data\n${EMPTY}`) : holdsNoDatabase(dataDir)
  requireLiveFolder(dataDir, call.request.command)
  using _lock = await recordingRefusal(call, () => lockForServing(dataDir))
  return await performHere(call, needs)
}

const EMPTY = 'scrip serve creates an empty record itself.'

export const actRequestOf = (command: Command, input: ActRequest['input'] = {}): ActRequest => ({
  id: freshActId(),
  command: pathOf(command),
  subject: command.args.join(' '),
  user: operatorName(),
  input,
  isDryRun: command.opts<{ dryRun?: boolean }>().dryRun === true,
})

/** A command that has done its work waits this long for its row in the audit (contract C20). */
export const ROW_MS_MAX = 5 * SECOND_MS

/** Does the work of a command before it asks. The audit records a refusal of that work, too. */
export const recordingRefusal = async <T>(
  call: Pick<ActCall, 'config' | 'request'>,
  work: () => T,
): Promise<Awaited<T>> => {
  try {
    return await work()
  } catch (error) {
    const request = { ...call.request, refusal: reasonOf(error) }
    await ask({ config: call.config, request, waitMsMax: ROW_MS_MAX }).catch(() => undefined)
    throw error
  }
}

const LOOK_MS = 20
/** A command that waits longer says so. */
const QUIET_MS = 2 * SECOND_MS

/** Asks until the result of the act is known. @throws ProgramError */
export const ask = async (call: ActCall): Promise<ActResult> => {
  const { config, act, request, waitMsMax } = call
  const { dataDir, postgres, format } = config
  if (postgres || act?.inNewFolder) makeDataFolder(dataDir)
  else if (!hasDatabase(dataDir)) throw holdsNoDatabase(dataDir)
  requireLiveFolder(dataDir, request.command, act?.inSandbox)
  using writerLock = new WriterLock(dataDir)
  const beganMs = sinceStartMs()
  let endMs = beganMs + (waitMsMax ?? WRITER_MS_MAX)
  const { signal } = waitMsMax === undefined ? {} : { signal: AbortSignal.timeout(waitMsMax) }
  let [hasNoted, wasCut] = [false, false]
  for (; ; await Bun.sleep(LOOK_MS)) {
    if (writerLock.take()) {
      if (isSocketThere(dataDir)) rmSync(socketPath(dataDir)) // left by a server that was killed: none has the folder
      return await performHere(call, 'write')
    }
    if (isSocketThere(dataDir)) {
      const result = await askServer(call, signal)
      if (result) return result
      if (signal?.aborted) throw refused(NO_RESPONSE)
      if (!wasCut && !signal) endMs = sinceStartMs() + WRITER_MS_MAX
      wasCut = true
    } else if (isTooLong(socketPath(dataDir)) && isServed(dataDir)) throw refused(withoutSocket(dataDir))
    else if (!hasNoted && sinceStartMs() > beganMs + QUIET_MS) {
      hasNoted = true
      note('Another command is writing to this folder. Waiting for it to finish.', format)
    }
    if (sinceStartMs() > endMs)
      throw refused(wasCut ? unknown(request) : isServed(dataDir) ? withoutSocket(dataDir) : WRITES_TOO_LONG)
  }
}

const NO_RESPONSE = 'the server of the folder is not responding\nSee scrip health.'
const WRITES_TOO_LONG = 'another command has been writing to this folder for too long\nTry again.'

const withoutSocket = (dataDir: string): string =>
  `a server is using ${dataDir}, but cannot be asked: ${socketPath(dataDir)} is ${isTooLong(socketPath(dataDir)) ? 'longer than the system allows' : 'not there'}\nStop the server first.`

const unknown = ({ id, command }: ActRequest): string =>
  `scrip ${command} may or may not have been done: the server ended before it responded\nOnce a server is running, look for act ${id} in scrip audit list.`

const performHere = (
  { config, act, request, input = '', onProgress = () => undefined, onNote }: ActCall,
  needs: 'write' | 'folder',
) => {
  if (act?.inNewFolder && !config.postgres && !hasDatabase(config.dataDir))
    createDatabase(config.dataDir, 'live', systemClock)
  const asking = { input, onProgress, note: onNote ?? ((text: string) => note(text, config.format)) }
  return withPerformer(config, needs, (performer) => perform(performer, act, request, asking))
}

/** Undefined when the server has ended before, or does not know it yet. @throws ProgramError */
const askServer = async (
  { config, request, input = '', onProgress, onNote }: ActCall,
  signal: AbortSignal | undefined,
): Promise<ActResult | undefined> => {
  for await (const line of linesFrom(socketPath(config.dataDir), `${JSON.stringify(request)}\n${input}`, signal)) {
    if ('note' in line) (onNote ?? ((text) => note(text, config.format)))(line.note)
    else if ('progress' in line) onProgress?.(...line.progress)
    else if ('refusal' in line) throw new ProgramError(line.exitCode, line.refusal)
    else if ('result' in line) return line.result
  }
  return undefined
}

async function* linesFrom(unix: string, body: string, signal: AbortSignal | undefined): AsyncGenerator<ActMessage> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    const response = await fetch('http://scrip/acts', {
      unix,
      method: 'POST',
      body,
      ...(signal && { signal }),
      ...PATIENT,
    })
    for await (const chunk of response.body ?? []) {
      const lines = (text + decoder.decode(chunk, { stream: true })).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) yield messageOf(line)
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    // The server has ended: it is unknown whether the act is done.
  }
}

/** An import takes long. The runtime's types do not have this. */
const PATIENT: object = { timeout: false }
