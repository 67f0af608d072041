import { type Command, InvalidArgumentError } from 'commander'
import { agreeDiscounts, findProduct } from '../catalog/queries.ts'
import { dataConfigOf } from '../config/config.ts'
import type { DataOptions } from '../config/option-table.ts'
import { parseDiscount } from '../config/values.ts'
import { hasDatabase, makeDataFolder } from '../db/data-folder.ts'
import type { Query } from '../db/database.ts'
import { lockForReplacing } from '../db/folder-lock.ts'
import { systemClock, toTimestamp } from '../kernel/clock.ts'
import { toPercent } from '../kernel/money.ts'
import { LIMITED_USERNAME, SANDBOX_USERNAME } from '../sandbox/seed/accounts.ts'
import type { Feature } from '../sessions/clients.ts'
import { passwordDigest } from '../sessions/credentials.ts'
import { addClient, allClients, type ClientRecord, updateClient } from '../sessions/queries.ts'
import { createDatabase } from '../start/folder.ts'
import type { World } from '../worlds/world.ts'
import { type Administration, administer, dataCommand, explainFaults, otherMode, refused } from './administration.ts'
import { oneOf, onOrOff, wholeNumber } from './arguments.ts'
import { note, type Row } from './output.ts'

/** `scrip client`: who may use the API, and what each may do (contract C1, C3, C8). */

const FEATURES: readonly Feature[] = ['vouchers']
/** 32 letters of 36 kinds: 165 random bits (contract C3). */
const PASSWORD_LENGTH = 32
const NAME = /^[A-Za-z0-9][\w.@-]{0,63}$/
/** Names that mean something to the sandbox, and would mislead in live mode (contract C2). */
const RESERVED = new RegExp(`^(?:${SANDBOX_USERNAME}|${LIMITED_USERNAME}|sbx_.*)$`, 'i')

export const clientCommands = (client: Command): void => {
  dataCommand(client, 'add', 'add a client and print its password once; creates live data in a new folder')
    .argument('<name>', 'its username', newName)
    .action(add)
  dataCommand(client, 'list', 'list the clients').action(
    administer(({ database }) => allClients(database.query).map(clientRow)),
  )
  dataCommand(client, 'rotate', 'give a client a new password and revoke its tokens')
    .argument('<name>')
    .action(administer(rotate))
  dataCommand(client, 'disable', 'lock a client out and revoke its tokens')
    .argument('<name>')
    .action(update(() => ({ disabled: true })))
  dataCommand(client, 'enable', 'let a disabled client log in again')
    .argument('<name>')
    .action(update(() => ({ disabled: false })))
  dataCommand(client, 'feature', `turn a feature on or off: ${FEATURES.join(', ')}`)
    .argument('<name>')
    .argument('<feature>', 'the feature', oneOf(FEATURES))
    .argument('<on|off>', 'on or off', onOrOff)
    .action(update((feature: Feature, isOn: boolean) => ({ [feature]: isOn })))
  dataCommand(client, 'limit', 'set the largest quantity that a client may buy at once')
    .argument('<name>')
    .argument('<max_quantity|off>', 'a number, or off', (text) => (text === 'off' ? null : wholeNumber(text)))
    .action(update((quantityMax: number | null) => ({ quantityMax })))
  dataCommand(client, 'discount', "set a client's own discount on a product; the better of the two discounts applies")
    .argument('<name>')
    .argument('<product_id>', 'the product', wholeNumber)
    .argument('<percent>', 'for example 7.5; 0 removes it', parseDiscount)
    .action(administer(setDiscount))
}

const setDiscount = ({ write }: Administration, name: string, productId: number, discountBasisPoints: number) =>
  write((tx): Row => {
    const { id: clientId, username } = getClient(tx, name)
    const product = findProduct(tx, productId)
    if (product === undefined) throw refused(`No product has the id ${productId}: see scrip catalog export.`)
    agreeDiscounts(tx, [{ clientId, productId, discountBasisPoints }])
    return { username, product_id: productId, product: product.name, discount: toPercent(discountBasisPoints) }
  })

const rotate = async ({ config, world, write }: Administration, name: string): Promise<Row> => {
  const password = newPassword(world)
  const id = await write((tx) => {
    const { id } = getClient(tx, name)
    updateClient(tx, id, { passwordSha256: passwordDigest(password) })
    return id
  })
  note(SHOWN_ONCE, config.json)
  return { client_id: id, username: name, password }
}

const SHOWN_ONCE = 'Keep the password: it is shown only once.'

const newName = (text: string): string => {
  if (!NAME.test(text)) throw new InvalidArgumentError('A name is 1 to 64 letters, digits and . _ @ -')
  if (RESERVED.test(text)) throw new InvalidArgumentError('That name belongs to the sandbox.')
  return text
}

const newPassword = ({ ids }: World): string => ids.letters(PASSWORD_LENGTH)

async function add(this: Command, name: string): Promise<void> {
  const { dataDir } = dataConfigOf(this.opts<DataOptions>())
  await explainFaults(dataDir, () => hasDatabase(dataDir) || createLiveData(dataDir))
  await administer(addTo).call(this, name)
}

const addTo = async ({ config, world, isSandbox, write }: Administration, name: string): Promise<Row> => {
  if (isSandbox) {
    throw otherMode(
      `${config.dataDir} is a sandbox's: log in as sbx_NAME there, or keep live data in a folder of its own.`,
    )
  }
  const password = newPassword(world)
  const id = await write((tx) => {
    const taken = allClients(tx).some(({ username }) => username === name)
    if (taken) throw refused(`There is a client ${name} already: scrip client rotate gives it a new password.`)
    return addClient(tx, name, passwordDigest(password), world.clock.nowMs())
  })
  note(`${SHOWN_ONCE} Next: scrip wallet add ${name} CURRENCY.`, config.json)
  return { client_id: id, username: name, password }
}

/** Creates what `scrip serve --mode live` creates at its first start, except for the keys. */
const createLiveData = (dataDir: string): void => {
  makeDataFolder(dataDir)
  using _lock = lockForReplacing(dataDir)
  if (!hasDatabase(dataDir)) createDatabase(dataDir, 'live', systemClock)
}

const update = <Args extends unknown[]>(valuesOf: (...args: Args) => Parameters<typeof updateClient>[2]) =>
  administer(({ write }, name: string, ...args: Args) =>
    write((tx) => {
      updateClient(tx, getClient(tx, name).id, valuesOf(...args))
      return clientRow(getClient(tx, name))
    }),
  )

/** @throws ProgramError */
export const getClient = (query: Query, name: string): ClientRecord => {
  const client = allClients(query).find(({ username }) => username === name)
  if (!client) throw refused(`There is no client ${name}: see scrip client list.`)
  return client
}

export const clientNamesById = (query: Query): ReadonlyMap<number, string> =>
  new Map(allClients(query).map(({ id, username }) => [id, username]))

const clientRow = ({ id, username, disabled, vouchers, quantityMax, createdAtMs }: ClientRecord): Row => ({
  client_id: id,
  username,
  status: disabled ? 'disabled' : 'enabled',
  vouchers,
  max_quantity: quantityMax,
  created_at: toTimestamp(createdAtMs),
})
