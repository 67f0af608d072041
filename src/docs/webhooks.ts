import type { TObject } from '@sinclair/typebox'
import type { ApiDocument, Parameter } from './document.ts'
import type { Components } from './schemas.ts'

/** The requests that the program sends: the `webhooks` of the OpenAPI document. */

export interface DeliveredEvent {
  title: string
  schema: TObject
  example: object
}

const TAG = 'Webhooks'

const header = (name: string, description: string): Parameter => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})

const SIGNATURE_HEADERS = [
  header('webhook-id', 'Signing standard: the id of the event'),
  header('webhook-timestamp', 'Signing standard: Unix time of the attempt in seconds'),
  header('webhook-signature', 'Signing standard: v1, and base64 HMAC-SHA256 of id, timestamp and body, joined by dots'),
  header('X-Timestamp', 'Signing timestamped and body: Unix time of the attempt in seconds'),
  header('X-Signature', 'Signing timestamped: hex HMAC-SHA256 of timestamp, dot and body; signing body: of the body'),
  header('X-Webhook-ID', 'Signing body'),
  header('X-Event-ID', 'Signing body'),
  header('X-Event-Type', 'Signing body'),
]

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
          parameters: SIGNATURE_HEADERS,
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
