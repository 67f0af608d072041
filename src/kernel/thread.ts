type Message<Answer> = { answer: Answer } | { message: string; code?: string }

/**
 * Asks a program one question in a thread of its own, which ends with the answer. The program is carried as text, posts
 * `{answer}` or `{message, code}`, and may take so many milliseconds.
 * @throws what the program reports, with its code, or an error with the code ETIMEDOUT
 */
export const askThread = <Answer>(program: string, question: object, msMax?: number): Promise<Answer> => {
  const url = URL.createObjectURL(new Blob([program], { type: 'text/javascript' }))
  const thread = new Worker(url)
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const fail = (message: string, code?: string): void => reject(Object.assign(new Error(message), code && { code }))
  thread.onerror = ({ message }) => fail(message)
  thread.onmessage = ({ data }: MessageEvent<Message<Answer>>) => {
    if ('answer' in data) resolve(data.answer)
    else fail(data.message, data.code)
  }
  thread.postMessage(question)
  const timer = msMax !== undefined && setTimeout(fail, msMax, 'it takes too long', 'ETIMEDOUT')
  return promise.finally(() => {
    clearTimeout(timer || undefined)
    thread.terminate()
    URL.revokeObjectURL(url)
  })
}
