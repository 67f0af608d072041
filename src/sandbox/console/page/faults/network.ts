/** A fault that no operation documents: of the network, of a gateway, or of deliveries of events. */
export interface NetworkFault {
  title: string
  /** The effect that a client sees. */
  about: string
  body: { webhook: string } | Record<string, unknown>
}

const GATEWAY = 'The client gets a gateway’s HTML page instead of JSON.'

export const NETWORK_FAULTS: readonly NetworkFault[] = [
  {
    title: 'Lose the response',
    about: 'The work is done and saved, but the connection closes. A retry without an Idempotency-Key does it twice.',
    body: { drop: true, when: 'after' },
  },
  {
    title: 'Lose the request',
    about: 'The connection closes before anything is done. The client cannot tell this from a lost response.',
    body: { drop: true, when: 'before' },
  },
  {
    title: 'Cut the response',
    about: 'The work is done. The client gets the headers and 20 bytes of the body, then the connection closes.',
    body: { cut_after_bytes: 20, when: 'after' },
  },
  {
    title: 'Send the response slowly',
    about: 'The work is done. The body arrives at 100 bytes a second, and a timeout of the client may end it.',
    body: { bytes_per_second: 100, when: 'after' },
  },
  { title: 'Wait before the work', about: 'Delays the response by 5 seconds.', body: { delay_ms: 5_000 } },
  { title: '502 after the work', about: `The work is done. ${GATEWAY}`, body: { status: 502, when: 'after' } },
  { title: '503 before the work', about: `Nothing is done. ${GATEWAY}`, body: { status: 503, when: 'before' } },
  { title: '504 after the work', about: `The work is done. ${GATEWAY}`, body: { status: 504, when: 'after' } },
  { title: 'Lose a delivery', about: 'It counts as delivered, but does not arrive.', body: { webhook: 'lose' } },
  { title: 'Deliver twice', about: 'The event comes again after the first response.', body: { webhook: 'duplicate' } },
  { title: 'Deliver out of order', about: 'An event waits for the next of its record.', body: { webhook: 'reorder' } },
  { title: 'Sign wrongly', about: 'The receiver has to refuse the signature.', body: { webhook: 'bad_signature' } },
]
