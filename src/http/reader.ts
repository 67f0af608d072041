/** A schema that the framework runs: Standard Schema, version 1. */
interface Reader<Value> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'scrip'
    readonly validate: (sent: never) => { value: Value } | Promise<{ value: Value }>
    readonly types?: { readonly input: unknown; readonly output: Value }
  }
}

/**
 * Makes a schema of a function that reads what was sent. The function throws a DomainError with everything that is wrong,
 * so that the framework never makes an error of its own.
 */
export const reader = <Sent, Value>(read: (sent: Sent) => Value | Promise<Value>): Reader<Value> => ({
  '~standard': {
    version: 1,
    vendor: 'scrip',
    validate: (sent: Sent) => {
      const value = read(sent)
      return value instanceof Promise ? value.then((value) => ({ value })) : { value }
    },
  },
})
