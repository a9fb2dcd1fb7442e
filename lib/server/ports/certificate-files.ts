// Certificate and key for TLS: files of the operator, which are read again when they have changed, or a pair that the server has made
// itself and keeps in the node's folder.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { isMissingFile } from '../../system/system-errors';
import { writePrivate } from '../../system/private-file';
import { messageOf } from '../../system/error-text';
import { makeOwnCertificate, type PemPair } from './own-certificate';

const OWN_CERTIFICATE = 'electrum-certificate.pem';
const OWN_KEY = 'electrum-key.pem';
const LOOK_MS = 10_000;

export interface CertificatePaths {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateFilesParts {
  /** The operator's files; undefined: the server makes its own pair. */
  readonly files: CertificatePaths | undefined;
  /** Where the server keeps its own pair; undefined: nowhere. */
  readonly folder: string | undefined;
  /** Where the server listens. */
  readonly host: string;
  readonly logger: { info(message: string): void; error(message: string): void };
  /** Milliseconds between two looks at the files. */
  readonly lookMs?: number;
}

export class CertificateFiles {
  readonly #parts: CertificateFilesParts;
  /** The files that are watched; `#seen` describes them as they were when they were read last. */
  readonly #paths: CertificatePaths | undefined;
  #seen: string;
  #pair: PemPair;
  #looking: NodeJS.Timeout | undefined;
  #changed: ((pair: PemPair) => void) | undefined;

  /** Only called by `open`, which has read the files. */
  constructor(parts: CertificateFilesParts, paths: CertificatePaths | undefined, seen: string, pair: PemPair) {
    this.#parts = parts;
    this.#paths = paths;
    this.#seen = seen;
    this.#pair = pair;
  }

  /** Reads the files, or makes them. @throws Error naming what is wrong with them */
  static async open(parts: CertificateFilesParts): Promise<CertificateFiles> {
    const { files, folder, host, logger } = parts;
    const paths = files ?? (folder === undefined ? undefined : { certificate: join(folder, OWN_CERTIFICATE), key: join(folder, OWN_KEY) });
    if (files === undefined && (paths === undefined || !(await isThere(paths)))) {
      const made = await makeOwnCertificate(host);
      if (folder !== undefined && paths !== undefined) await keep(folder, paths, made);
      if (paths === undefined) {
        logger.info(`${fingerprintText(made)}.`);
        return new CertificateFiles(parts, undefined, '', made);
      }
    }
    // Without paths this returned above.
    const known = paths as CertificatePaths;
    const seen = await look(known);
    const pair = await readPair(known);
    logger.info(`${fingerprintText(pair)}.`);
    return new CertificateFiles(parts, known, seen, pair);
  }

  get pair(): PemPair {
    return this.#pair;
  }

  /** Calls back with every new pair. */
  watch(changed: (pair: PemPair) => void): void {
    this.#changed = changed;
    if (this.#paths === undefined) return;
    this.#looking = setInterval(() => void this.#look(), this.#parts.lookMs ?? LOOK_MS).unref();
  }

  /** Reads the files at once, whether or not they seem to have changed. */
  readAgain(): void {
    this.#seen = '';
    void this.#look();
  }

  close(): void {
    clearInterval(this.#looking);
  }

  /** If changed files cannot be used, this is logged and the previous pair stays. */
  async #look(): Promise<void> {
    const { logger } = this.#parts;
    const paths = this.#paths;
    if (paths === undefined) return;
    try {
      const seen = await look(paths);
      if (seen === this.#seen) return;
      // A change after this `look` is noticed the next time.
      this.#seen = seen;
      this.#pair = await readPair(paths);
      logger.info(`${fingerprintText(this.#pair)} from now on.`);
      this.#changed?.(this.#pair);
    } catch (error) {
      logger.error(`Electrum over TLS continues with the previous certificate: ${messageOf(error)}`);
    }
  }
}

/** Whether both files exist. */
async function isThere({ certificate, key }: CertificatePaths): Promise<boolean> {
  const found = await Promise.all([certificate, key].map((file) => stat(file).catch(ifMissing)));
  return found.every((file) => file !== undefined);
}

async function keep(folder: string, paths: CertificatePaths, pair: PemPair): Promise<void> {
  await mkdir(folder, { recursive: true });
  // The certificate is written last: if it is missing, both are made again.
  await writePrivate(paths.key, pair.key);
  await writePrivate(paths.certificate, pair.certificate);
}

/** @throws Error naming the files when they cannot be read, or do not belong together */
async function readPair(paths: CertificatePaths): Promise<PemPair> {
  const [certificate, key] = await Promise.all([readFile(paths.certificate, 'utf8'), readFile(paths.key, 'utf8')]);
  try {
    createSecureContext({ cert: certificate, key });
    // TLS takes an empty key file for no key, without an error.
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) throw new Error('the key belongs to another certificate');
  } catch (error) {
    throw new Error(`${paths.certificate} and ${paths.key} are not a certificate and its key: ${messageOf(error)}`, { cause: error });
  }
  return { certificate, key };
}

/** Inode, size and times of the files; their contents are not read. */
async function look({ certificate, key }: CertificatePaths): Promise<string> {
  const looks = await Promise.all([certificate, key].map((file) => stat(file, { bigint: true }).catch(ifMissing)));
  return looks.map((found) => found && `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`).join(', ');
}

function ifMissing(error: unknown): undefined {
  if (!isMissingFile(error)) throw error;
}

/** SHA-256 of the certificate, as wallets and `openssl x509 -fingerprint -sha256` show it. */
function fingerprintOf(certificate: string): string {
  return new X509Certificate(certificate).fingerprint256;
}

const fingerprintText = ({ certificate }: PemPair): string =>
  `Electrum over TLS has the certificate with SHA-256 ${fingerprintOf(certificate)}`;
