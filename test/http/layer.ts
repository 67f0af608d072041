import { asFailure } from '../../src/db/storage.ts'
import { httpLayer } from '../../src/http/http-layer.ts'

/** The HTTP layer of a program without data, which keeps its unexpected errors. */
export const bareLayer = (errors: unknown[] = []) =>
  httpLayer({
    basePath: '',
    admit: () => undefined,
    nextRequestId: () => 'one',
    isClosing: () => false,
    observer: undefined,
    asFailure,
    onUnexpectedError: ({ error }) => errors.push(error),
  })
