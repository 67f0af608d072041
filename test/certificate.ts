import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A self-signed certificate for 127.0.0.1 in a folder, with the options for a server. */
export const certificateIn = (folder: string): { path: string; tls: { cert: string; key: string } } => {
  const [path, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2']
  const subject = ['-subj', '/CN=receiver', '-addext', 'subjectAltName=IP:127.0.0.1']
  const made = Bun.spawnSync(['openssl', 'req', ...kind, ...subject, '-keyout', key, '-out', path])
  if (made.exitCode !== 0) throw new Error(`openssl: ${made.stderr}`)
  return { path, tls: { cert: readFileSync(path, 'utf8'), key: readFileSync(key, 'utf8') } }
}
