import { type TObject, Type } from '@sinclair/typebox'
import type { ApiDocument } from './document.ts'
import { parametersOf } from './headers.ts'
import type { Components } from './schemas.ts'

/** The requests that the program sends: the `webhooks` of the OpenAPI document. */

export interface DeliveredEvent {
  title: string
  schema: TObject
  example: object
}

const TAG = 'Webhooks'

const header = (description: string) => Type.Optional(Type.String({ description }))

const SIGNATURE_HEADERS = Type.Object({
  'webhook-id': header('Signing standard: the id of the event'),
  'webhook-timestamp': header('Signing standard: Unix time of the attempt in seconds'),
  'webhook-signature': header('Signing standard: v1, and base64 HMAC-SHA256 of id, timestamp and body, joined by dots'),
  'X-Timestamp': header('Signing timestamped and body: Unix time of the attempt in seconds'),
  'X-Signature': header('Signing timestamped: hex HMAC-SHA256 of timestamp, dot and body; signing body: of the body'),
  'X-Webhook-ID': header('Signing body'),
  'X-Event-ID': header('Signing body'),
  'X-Event-Type': header('Signing body'),
})

export const webhookObjects = (
  components: Components,
  events: Readonly<Record<string, DeliveredEvent>>,
): ApiDocument['webhooks'] =>
  Object.fromEntries(
    Object.entries(events).map(([type, { title, schema, example }]) => [
      type,
      {
        post: {
          operationId: `on${title}`,
          tags: [TAG],
          summary: `Receive ${type}`,
          description:
            'Each webhook whose filter fits gets it. Respond with a 2xx status within 15 seconds: deliveries with any other status are tried again.',
          security: [],
          parameters: parametersOf('header', SIGNATURE_HEADERS),
          requestBody: {
            required: true,
            content: { 'application/json': { schema: components.place(schema), example } },
          },
          responses: {
            '2XX': { description: 'Received' },
            410: { description: 'No longer wanted: the webhook is switched off' },
          },
        },
      },
    ]),
  )
