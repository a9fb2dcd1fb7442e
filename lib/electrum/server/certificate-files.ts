// Certificate and key of the server over TLS: files of the operator, which are read again when they have changed, or a pair that the
// server made for itself once and keeps in the node's folder.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { makeOwnCertificate, type PemPair } from './own-certificate';

const OWN_CERTIFICATE = 'electrum-certificate.pem';
const OWN_KEY = 'electrum-key.pem';
const OWNER_ONLY = 0o600;
const LOOK_MS = 10_000;

export interface CertificatePaths {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateFilesParts {
  /** The operator's; undefined: the server has a pair of its own. */
  readonly files: CertificatePaths | undefined;
  /** For a pair of the server's own; undefined: it is not kept. */
  readonly folder: string | undefined;
  /** Where the server listens. */
  readonly host: string;
  readonly logger: { info(message: string): void; error(message: string): void };
  /** Milliseconds between two looks at the files. */
  readonly lookMs?: number;
}

export class CertificateFiles {
  readonly #parts: CertificateFilesParts;
  /** Of files that are looked at; the files as they were when they were read last. */
  readonly #paths: CertificatePaths | undefined;
  #seen: string;
  #pair: PemPair;
  #looking: NodeJS.Timeout | undefined;

  /** Of files that `open` has read. */
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
    // Above, there are paths without a pair that was made just now.
    const known = paths as CertificatePaths;
    const seen = await look(known);
    const pair = await readPair(known);
    logger.info(`${fingerprintText(pair)}.`);
    return new CertificateFiles(parts, known, seen, pair);
  }

  get pair(): PemPair {
    return this.#pair;
  }

  /** Calls back with every pair that takes the place of the one before. */
  watch(changed: (pair: PemPair) => void): void {
    const paths = this.#paths;
    if (paths === undefined) return;
    this.#looking = setInterval(() => {
      void this.#readAgain(paths, changed);
    }, this.#parts.lookMs ?? LOOK_MS).unref();
  }

  close(): void {
    clearInterval(this.#looking);
  }

  /** A change that cannot be used is logged, and the pair from before stays. */
  async #readAgain(paths: CertificatePaths, changed: (pair: PemPair) => void): Promise<void> {
    const { logger } = this.#parts;
    try {
      const seen = await look(paths);
      if (seen === this.#seen) return;
      // A change from here on is seen the next time.
      this.#seen = seen;
      this.#pair = await readPair(paths);
      logger.info(`${fingerprintText(this.#pair)} from now on.`);
      changed(this.#pair);
    } catch (error) {
      logger.error(`Electrum over TLS goes on with the certificate from before: ${messageOf(error)}`);
    }
  }
}

/** Names of both files, and neither of them alone. */
async function isThere({ certificate, key }: CertificatePaths): Promise<boolean> {
  const found = await Promise.all([certificate, key].map((file) => stat(file).catch(ifMissing)));
  return found.every((file) => file !== undefined);
}

async function keep(folder: string, paths: CertificatePaths, pair: PemPair): Promise<void> {
  await mkdir(folder, { recursive: true });
  // The certificate last: without it both are made anew.
  await write(paths.key, pair.key);
  await write(paths.certificate, pair.certificate);
}

async function write(path: string, text: string): Promise<void> {
  const unfinished = `${path}.tmp`;
  // What is there may be open to others.
  await rm(unfinished, { force: true });
  const file = await open(unfinished, 'wx', OWNER_ONLY);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}

/** @throws Error naming the files when they cannot be read, or are no pair */
async function readPair(paths: CertificatePaths): Promise<PemPair> {
  const [certificate, key] = await Promise.all([readFile(paths.certificate, 'utf8'), readFile(paths.key, 'utf8')]);
  try {
    createSecureContext({ cert: certificate, key });
    // A key file that is still empty is none for TLS, and no error.
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) throw new Error('the key is that of another certificate');
  } catch (error) {
    throw new Error(`${paths.certificate} and ${paths.key} are no certificate and its key: ${messageOf(error)}`, { cause: error });
  }
  return { certificate, key };
}

/** Inode, size and times of the files, which are not read. */
async function look({ certificate, key }: CertificatePaths): Promise<string> {
  const looks = await Promise.all([certificate, key].map((file) => stat(file, { bigint: true }).catch(ifMissing)));
  return looks.map((found) => found && `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`).join(', ');
}

function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

/** SHA-256 of the certificate, as wallets and `openssl x509 -fingerprint -sha256` show it. */
function fingerprintOf(certificate: string): string {
  return new X509Certificate(certificate).fingerprint256;
}

const fingerprintText = ({ certificate }: PemPair): string =>
  `Electrum over TLS has the certificate with SHA-256 ${fingerprintOf(certificate)}`;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
