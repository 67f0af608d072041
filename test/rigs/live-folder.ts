import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogEntry } from '../catalog/entry.ts'
import { type Running, run } from '../program.ts'
import { serve } from './server.ts'

/** A data folder of live mode with clients, money, a product and its codes. */

const PRODUCT = catalogEntry({ name: 'Tea', denominations: [{ min_value: 10, max_value: 10, discount: 2.5 }] })

export interface Client {
  username: string
  password: string
}

/** Codes as a file for `scrip vouchers import`; the prefix distinguishes the files. */
export const codesOf = (prefix: string, count: number): string =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify({ product_id: 1, denomination: 10, card_number: `${prefix}${index}`, pin_code: '1' }),
  ).join('\n')

/** A folder, made once and copied as often as it is needed. */
export class LiveFolder {
  private constructor(
    readonly dataDir: string,
    /** Buys and pays. */
    readonly payer: Client,
    /** Logs in and out. */
    readonly guest: Client,
  ) {}

  static async make(folder: string, codeCount: number): Promise<LiveFolder> {
    const dataDir = join(folder, 'data')
    const response = async (...args: string[]): Promise<string> => {
      const { exitCode, stdout, stderr } = await run([...args, '--data-dir', dataDir, '--json'])
      if (exitCode !== 0) throw new Error(`scrip ${args.join(' ')}: ${exitCode} ${stderr}`)
      return stdout
    }
    mkdirSync(folder, { recursive: true })
    const payer = JSON.parse(await response('client', 'add', 'payer')) as Client
    const guest = JSON.parse(await response('client', 'add', 'guest')) as Client
    await response('wallet', 'add', 'payer', 'USD')
    await response('wallet', 'fund', '1', '10000000')
    const catalog = join(folder, 'catalog.json')
    writeFileSync(catalog, JSON.stringify({ products: [PRODUCT] }))
    await response('catalog', 'import', catalog)
    const codes = join(folder, 'codes.jsonl')
    writeFileSync(codes, codesOf('TEA', codeCount))
    await response('vouchers', 'import', codes)
    await response('rates', 'set', 'USD/EUR=0.8')
    return new LiveFolder(dataDir, payer, guest)
  }

  copyTo(dataDir: string): LiveFolder {
    cpSync(this.dataDir, dataDir, { recursive: true })
    return new LiveFolder(dataDir, this.payer, this.guest)
  }

  serve(...flags: string[]): Promise<Running> {
    return this.serveBy(undefined, ...flags)
  }

  /** Serves with another release. */
  serveBy(command: string[] | undefined, ...flags: string[]): Promise<Running> {
    return serve(['--mode', 'live', '--data-dir', this.dataDir, '--rate-limit', 'off', ...flags], { command })
  }

  command(...args: string[]) {
    return run([...args, '--data-dir', this.dataDir])
  }
}
