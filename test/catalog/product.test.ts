import { describe, expect, test } from 'bun:test'
import { cardOf } from '../../src/catalog/card.ts'
import { notFound } from '../errors.ts'
import { expectResponse, openProgram, sharedServer } from '../harness.ts'
import { temporaryFolder } from '../program.ts'
import { UNKNOWN_ID } from '../reference/path-ids.ts'

const server = await sharedServer()
const world = await server.world()

const INACTIVE_ID = 7

describe('GET /api/v1/products/{id}', () => {
  test('200 returns the product with terms, details and how_to_use', async () => {
    await expectResponse(world.get('/api/v1/products/1'), 200, {
      id: 1,
      name: 'Kettle & Crumb India',
      category: 'Food & Dining',
      sub_category: 'Cafes & Bakeries',
      country_code: 'IND',
      currency_code: 'INR',
      image_url: `${server.url}/cards/1`,
      delivery_mode: 'digital',
      delivery_time: 'instant',
      validity: '12 months',
      terms:
        'Not valid for alcohol, tips or private events. Valid for 12 months from the day of purchase; not redeemable for cash.',
      details:
        'A meal at Kettle & Crumb, from a quick bite to a long evening. Any balance left stays on the card for the next visit.',
      how_to_use:
        'The code comes by e-mail. Enter the code at checkout in the Kettle & Crumb app, or read it out at the till.',
      available_denominations: [
        { min_value: 100, max_value: 100, discount: 2.5 },
        { min_value: 250, max_value: 250, discount: 2.5 },
        { min_value: 500, max_value: 500, discount: 2.5 },
        { min_value: 1000, max_value: 1000, discount: 2.5 },
      ],
    })
  })

  test('returns the same as the list, and three long texts', async () => {
    const listed = await world.read<{ id: number }[]>('/api/v1/products?limit=12&sort={"direction":"ASC"}')
    for (const product of listed) {
      expect(await (await world.get(`/api/v1/products/${product.id}`)).json()).toEqual({
        ...product,
        terms: expect.stringMatching(/\S/),
        details: expect.stringMatching(/\S/),
        how_to_use: expect.stringMatching(/\S/),
      })
    }
  })

  test.each([
    ['an inactive product', INACTIVE_ID],
    ['an unknown one', UNKNOWN_ID],
  ])('404 for %s', async (_, id) => {
    await expectResponse(world.get(`/api/v1/products/${id}`), 404, notFound('Product not found'))
  })

  test('404 for a product that another process has just removed', async () => {
    using temporary = temporaryFolder()
    const dataDir = temporary.path
    const program = openProgram({ flags: ['--data-dir', dataDir] })
    const { client } = await program.open()
    expect((await client.get('/api/v1/products')).status).toBe(200)
    const { sqlite } = program.defaultWorld.db
    for (const [table, key] of [
      ['product_bands', 'product_id'],
      ['products', 'id'],
    ]) {
      sqlite.run(`DELETE FROM ${table} WHERE ${key} = 1`)
    }
    await expectResponse(client.get('/api/v1/products/1'), 404, notFound('Product not found'))
    await program.stop()
  })
})

/** The contrast of two colours (WCAG 2.2). */
const contrast = (one: string, other: string): number => {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}
const luminance = (color: string): number =>
  [0.2126, 0.7152, 0.0722].reduce((sum, weight, index) => {
    const part = Number.parseInt(color.slice(1 + 2 * index, 3 + 2 * index), 16) / 255
    return sum + weight * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  }, 0)

describe('image_url', () => {
  const pathOf = async (id: number) => {
    const { image_url } = await world.read<{ image_url: string }>(`/api/v1/products/${id}`)
    expect(image_url).toStartWith(`${server.url}/`)
    return image_url.slice(server.url.length)
  }

  test('is a public image that browsers keep and ask for again', async () => {
    const response = await server.request(await pathOf(1))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('image/svg+xml')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(response.headers.get('etag')).toMatch(/^"[\w-]+"$/)
    const svg = await response.text()
    expect(svg).toStartWith('<svg xmlns="http://www.w3.org/2000/svg"')
    expect(svg).toEndWith('</svg>')
    expect(svg).toContain('aria-label="Kettle &amp; Crumb India"')
    expect(svg).toContain('INR')
  })

  test('loads nothing external', async () => {
    for (const id of [1, 2, 12, 471]) {
      const svg = await (await server.request(await pathOf(id))).text()
      expect(svg.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
        /https?:|\/\/|href|@import|url\((?!#)|<script|<image|<foreignObject| on\w+=/i,
      )
    }
  })

  test('keeps every line within the card, with enough contrast', async () => {
    const ids = (await world.read<{ id: number }[]>('/api/v1/products?limit=10000')).map(({ id }) => id)
    const drawings = new Set<string>()
    for (const id of ids) {
      const svg = await (await server.request(`/cards/${id}`)).text()
      const [from = '', to = ''] = [...svg.matchAll(/stop-color="(#\w{6})"/g)].map(([, color]) => color ?? '')
      const tint = /<rect x="44"[^>]* fill="(#\w{6})"/.exec(svg)?.[1] ?? ''
      for (const behind of [from, to]) {
        expect(contrast('#ffffff', behind)).toBeGreaterThan(4.5)
        expect(contrast(tint, behind)).toBeGreaterThan(4.5)
      }
      const size = Number(/font-size="(\d+)" font-weight="700"><text/.exec(svg)?.[1])
      const lines = [...svg.matchAll(/<text x="44" y="\d+">([^<]*)/g)].slice(0, -1).map(([, line = '']) => line)
      expect(lines.length).toBeWithin(1, 3)
      for (const line of lines) expect(line.replace(/&\w+;/g, '&').length * size * 0.64).toBeLessThanOrEqual(596)
      drawings.add(/<g transform="[^"]+scale[^>]+>(.+?)<\/g>/.exec(svg)?.[1] ?? '')
    }
    expect(drawings.size).toBeGreaterThan(60)
  })

  // The widths of these letters in DejaVu Sans Bold, one of the widest fonts.
  test.each([
    ['W', 1.103],
    ['M', 0.995],
    ['m', 1.042],
    ['Æ', 1.085],
    ['Щ', 1.326],
    ['O', 0.85],
    ['n', 0.712],
    ['t', 0.478],
  ])('can draw a name of only %s', (letter, width) => {
    for (const name of [letter.repeat(80), `${letter.repeat(14)} ${letter.repeat(20)}`]) {
      const svg = cardOf({ name, category: 'Gaming', subCategory: 'Other', currency: { currency: 'USD' } })
      const [, size, lines = ''] = /font-size="(\d+)" font-weight="700">(.*?)<\/g>/.exec(svg) ?? []
      for (const [, line = ''] of lines.matchAll(/>([^<]+)</g)) {
        expect(line.length * Number(size) * width).toBeLessThanOrEqual(640 - 44)
      }
      const [, initialsSize, initials = ''] =
        /font-size="(\d+)" font-weight="700" text-anchor[^>]*>([^<]+)</.exec(svg) ?? []
      expect(initials.length * Number(initialsSize) * width).toBeLessThanOrEqual(88)
    }
  })

  test('404 for the image of an inactive product', async () => {
    for (const id of [INACTIVE_ID, UNKNOWN_ID]) {
      const response = await server.request(`/cards/${id}`)
      expect(response.status).toBe(404)
      expect(response.headers.get('content-type')).toStartWith('application/json')
      expect(await response.json()).toEqual(notFound('Product not found'))
    }
  })
})
